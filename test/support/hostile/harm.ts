import { anyCharacter, fc } from '../draw.ts';
import { oddFiles, oddJson, oddKeys } from './corpus.ts';

type Path = readonly (string | number)[];

function pathsIn(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [path];
  return [path, ...Object.entries(value).flatMap(([key, each]) => pathsIn(each, [...path, key]))];
}

/** One change of JSON text: a value replaced, taken away or doubled, a key renamed or added. */
type Change = { at: number; how: 'replace' | 'remove' | 'double' | 'rename' | 'add'; json: string; key: string };

const change: fc.Arbitrary<Change> = fc.record({
  at: fc.nat(),
  how: fc.constantFrom('replace', 'replace', 'replace', 'remove', 'double', 'rename', 'add'),
  json: fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...oddJson) }, fc.json({ maxDepth: 2 })),
  key: fc.constantFrom(...oddKeys),
});

/** Text with a mark where the change is; written as text, since JSON of every kind must come out: 1e999, a key twice. */
function changeText(text: string, { at, how, json, key }: Change): string {
  // What was made deep or long before, or is no JSON any more, stays as it is.
  if (text.length > 20_000 || text.includes('[[[[[[') || text.includes('{"a":{"a":{"a":')) return text;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return text;
  }
  const paths = pathsIn(value);
  const path = paths[at % paths.length] ?? [];
  const last = path.at(-1);
  if (last === undefined) return how === 'replace' ? json : text;
  const mark = '@@mark@@';
  const owner = path.slice(0, -1).reduce<unknown>((each, name) => (each as Record<string, unknown>)[name], value);
  const record = owner as Record<string, unknown>;
  const old = JSON.stringify(record[last]);
  const isList = Array.isArray(owner);
  if (how === 'remove') {
    if (isList) owner.splice(Number(last), 1);
    else delete record[last];
    return JSON.stringify(value);
  }
  if (how === 'replace' || isList) record[last] = mark;
  else record[mark] = mark;
  if (how === 'rename') delete record[last];
  const quoted = JSON.stringify(key);
  const doubled = how === 'double' ? `${JSON.stringify(last)}:${json}` : `${quoted}:${how === 'rename' ? old : json}`;
  const written = JSON.stringify(value);
  return written.replace(`"${mark}":"${mark}"`, () => doubled).replace(`"${mark}"`, () => json);
}

const bytesChange = fc.record({
  how: fc.constantFrom('cut', 'flip', 'insert', 'fill'),
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  bytes: fc.oneof(
    fc.uint8Array({ minLength: 1, maxLength: 8 }),
    fc.constantFrom(
      [0],
      [0xff],
      [0xc3],
      [0xed, 0xa0, 0x80],
      [0xef, 0xbb, 0xbf],
      [0x0d],
      [0x0a],
      [0x1b],
      [0x22],
      [0x5c],
    ),
  ),
});

function changeBytes(
  content: Buffer,
  { how, at, bytes }: { how: string; at: number; bytes: ArrayLike<number> },
): Buffer {
  const place = Math.floor(at * content.length);
  const [head, given] = [content.subarray(0, place), Buffer.from(Array.from(bytes))];
  if (how === 'cut') return head;
  if (how === 'insert') return Buffer.concat([head, given, content.subarray(place)]);
  if (how === 'flip') return Buffer.concat([head, given, content.subarray(place + given.length)]);
  return Buffer.concat([head, Buffer.alloc(content.length - place)]);
}

/** What else may befall a text file as a whole. */
const dress = fc.constantFrom<(content: Buffer) => Buffer>(
  (content) => content,
  (content) => content,
  (content) => content,
  (content) => Buffer.concat([Buffer.from('\ufeff'), content]),
  (content) => Buffer.from(content.toString('latin1').replaceAll('\n', '\r\n'), 'latin1'),
  (content) => Buffer.concat([content, Buffer.from('\u0000')]),
  (content) => Buffer.concat([content, content]),
  (content) => Buffer.from(content.toString('utf8'), 'utf16le'),
);

/** What a file may hold instead of what belongs there: nearly the same, in its words or its bytes, or something else altogether. */
export function harmed(content: Buffer): fc.Arbitrary<Buffer> {
  const text = content.toString('utf8');
  const lines = text.split('\n');
  const inWords = fc.array(fc.tuple(fc.nat(), change), { minLength: 1, maxLength: 3 }).map((changes) => {
    if (lines.length < 3) return Buffer.from(changes.reduce((now, [, each]) => changeText(now, each), text));
    const now = [...lines];
    for (const [line, each] of changes) {
      const index = line % (now.length - 1);
      now[index] = changeText(now[index] ?? '', each);
    }
    return Buffer.from(now.join('\n'));
  });
  const inBytes = fc.array(bytesChange, { minLength: 1, maxLength: 3 }).map((all) => all.reduce(changeBytes, content));
  const other = fc.oneof(
    fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
    fc.json().map((json) => Buffer.from(json)),
    fc.constantFrom(...oddFiles, ...oddJson).map((odd) => Buffer.from(odd)),
    fc.string({ unit: anyCharacter }).map((odd) => Buffer.from(odd)),
  );
  return fc
    .tuple(
      fc.oneof(
        { weight: 7, arbitrary: inWords },
        { weight: 2, arbitrary: inBytes },
        { weight: 2, arbitrary: other },
        { weight: 1, arbitrary: fc.constant(content) },
      ),
      dress,
    )
    .map(([harm, dressing]) => dressing(harm));
}
