import { anyCharacter, fc } from '../draw.ts';
import { oddFiles, oddJson, oddKeys } from './corpus.ts';

/** A position in a text, as a fraction of its length. */
const place = fc.double({ min: 0, max: 1, noNaN: true });
const oddText = fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...oddJson) }, fc.json({ maxDepth: 2 }));
const oddName = fc.constantFrom(...oddKeys).map((key) => JSON.stringify(key));

/** The index of the first `sign` after a position. */
const after = (text: string, sign: string, at: number) => text.indexOf(sign, Math.floor(at * text.length));

/** Changes of JSON as text: objects could not have 1e999 or a key given twice. */
const inWords = {
  replace: (text: string, at: number, json: string) => {
    const colon = after(text, ':', at);
    const end = text.slice(colon).search(/[,}\]\n]/);
    return colon === -1 || end === -1 ? text : text.slice(0, colon + 1) + json + text.slice(colon + end);
  },
  remove: (text: string, at: number) => {
    const comma = after(text, ',', at);
    const end = text.slice(comma + 1).search(/[,}\]]/);
    return comma === -1 || end === -1 ? text : text.slice(0, comma) + text.slice(comma + 1 + end);
  },
  add: (text: string, at: number, json: string, name: string) => {
    const brace = after(text, '{', at);
    return brace === -1 ? text : `${text.slice(0, brace + 1)}${name}:${json},${text.slice(brace + 1)}`;
  },
  double: (text: string, at: number, json: string) =>
    text.slice(0, Math.floor(at * text.length)) +
    text.slice(Math.floor(at * text.length)).replace(/"[^"\n]*":/, (key) => `${key}${json},${key}`),
};

const changedWords = (text: string) =>
  fc
    .array(fc.tuple(fc.constantFrom(...Object.values(inWords)), place, oddText, oddName), {
      minLength: 1,
      maxLength: 3,
    })
    .map((changes) => changes.reduce((now, [change, at, json, name]) => change(now, at, json, name), text))
    .map((changed) => Buffer.from(changed));

const oddBytes = fc.oneof(
  fc.uint8Array({ minLength: 1, maxLength: 8 }).map((bytes) => Buffer.from(bytes)),
  fc
    .constantFrom('00', 'ff', 'c3', 'eda080', 'efbbbf', '0d', '0a', '1b', '22', '5c')
    .map((hex) => Buffer.from(hex, 'hex')),
);

const inBytes = {
  cut: (head: Buffer) => head,
  insert: (head: Buffer, tail: Buffer, bytes: Buffer) => Buffer.concat([head, bytes, tail]),
  flip: (head: Buffer, tail: Buffer, bytes: Buffer) => Buffer.concat([head, bytes, tail.subarray(bytes.length)]),
  fill: (head: Buffer, tail: Buffer) => Buffer.concat([head, Buffer.alloc(tail.length)]),
};

const changedBytes = (content: Buffer) =>
  fc.tuple(fc.constantFrom(...Object.values(inBytes)), place, oddBytes).map(([change, at, bytes]) => {
    const cut = Math.floor(at * content.length);
    return change(content.subarray(0, cut), content.subarray(cut), bytes);
  });

/** Changes of a whole text file. */
const dress = fc.constantFrom<(content: Buffer) => Buffer>(
  (content) => content,
  (content) => Buffer.concat([Buffer.from('\ufeff'), content]),
  (content) => Buffer.from(content.toString('latin1').replaceAll('\n', '\r\n'), 'latin1'),
  (content) => Buffer.concat([content, content]),
  (content) => Buffer.from(content.toString('utf8'), 'utf16le'),
);

/** Damaged versions of a file: changed in its JSON or its bytes, or replaced by something else. */
export function harmed(content: Buffer): fc.Arbitrary<Buffer> {
  const words = changedWords(content.toString('utf8'));
  const other = fc.oneof(
    fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
    fc.constantFrom(...oddFiles, ...oddJson).map((odd) => Buffer.from(odd)),
    fc.string({ unit: anyCharacter }).map((odd) => Buffer.from(odd)),
  );
  return fc.oneof(
    { weight: 7, arbitrary: words },
    { weight: 2, arbitrary: changedBytes(content) },
    { weight: 2, arbitrary: other },
    { weight: 2, arbitrary: fc.tuple(words, dress).map(([harm, dressing]) => dressing(harm)) },
    { weight: 1, arbitrary: fc.constant(content) },
  );
}
