import { expect, test } from 'vitest';
import { linesOf as batchLines, itemLines, linedBatch, pageBatch, textsOf } from '../../../src/http/batch.ts';
import { fc } from '../../support/draw.ts';
import { answering, run } from '../../support/harness.ts';

const linesOf = (text: string, key?: string, count?: number) => {
  const answer = JSON.parse(text);
  const items = key === undefined ? answer : answer[key];
  return itemLines(text, key, count ?? items.length);
};

const listed = '[{"a":1.0},{"a":2.0},{"a":3.0}]';
const items = JSON.parse(listed);
const source = { text: listed, key: undefined };

test('the items that are wanted of a page have their text as it came', () => {
  const batch = pageBatch(items.slice(0, 2), { items, more: false, source });
  expect(batch).toEqual([{ a: 1 }, { a: 2 }]);
  expect(batchLines(batch)).toBe('{"a":1.0}\n{"a":2.0}\n');
  expect(textsOf(batch)).toEqual(['{"a":1.0}', '{"a":2.0}']);
});

test('items whose text is not known are written anew', () => {
  const wanted = [{ a: 1 }, undefined, 'x', 0];
  expect(pageBatch(wanted, { items: wanted, more: false })).toBe(wanted);
  expect(textsOf(wanted)).toEqual(['{"a":1}', 'null', '"x"', '0']);
  expect(batchLines(wanted)).toBe(undefined);
  const counted = linedBatch(wanted, (count) => '1.0\n'.repeat(count));
  expect(counted).toEqual(wanted);
  expect(batchLines(counted)).toBe('1.0\n1.0\n1.0\n1.0\n');
});

test.each([
  ['[{"a":1},{"a":2}]', '{"a":1}\n{"a":2}\n'],
  ['[{"a":9007199254740993,"b":1.0},{"a":-0}]', '{"a":9007199254740993,"b":1.0}\n{"a":-0}\n'],
  ['[{"a":[{"a":1},{"a":2}]},{"a":3}]', '{"a":[{"a":1},{"a":2}]}\n{"a":3}\n'],
  ['[{"a":"},{\\"a\\":"},{"a":"]\\\\"}]', '{"a":"},{\\"a\\":"}\n{"a":"]\\\\"}\n'],
  ['[{"a":1},{"b":{"a":1}},{"a":2}]', '{"a":1}\n{"b":{"a":1}}\n{"a":2}\n'],
  ['[{"b":[{"c":1},{"a":2}],"d":0},{"a":2}]', '{"b":[{"c":1},{"a":2}],"d":0}\n{"a":2}\n'],
  ['[{"a":1,"1":2},{"a":3}]', '{"a":1,"1":2}\n{"a":3}\n'],
  ['[{"a":1,"a":2},{"a":3}]', '{"a":1,"a":2}\n{"a":3}\n'],
  ['[{},{}]', '{}\n{}\n'],
  ['[[1],[2]]', '[1]\n[2]\n'],
  ['[{"a":1},{"a":2}]\n ', '{"a":1}\n{"a":2}\n'],
  ['[{"a":1},\r{"a":2,\r"b":3}]', '{"a":1}\n{"a":2, "b":3}\n'],
  ['[]', ''],
  ['\n[\r\n  {"a": 1,\n   "b": "x"} ,\n  {"a": 2}\n]\n', '{"a": 1,    "b": "x"}\n{"a": 2}\n'],
])('the items of %s stand one a line, as they came', (text, lines) => {
  expect(linesOf(text)).toBe(lines);
});

test('a list inside an answer is found by its key, whatever stands around it', () => {
  const text = '{"note":"\\"items\\":[", "more":[{"items":[1]}], "it\\u0065ms" : [ {"a":1}, {"a":2} ],"cursor":"c"}';
  expect(linesOf(text, 'items')).toBe('{"a":1}\n{"a":2}\n');
  expect(linesOf('{"items":[{"a":1},{"a":2},{"a":3}],"cursor":null}', 'items', 2)).toBe('{"a":1}\n{"a":2}\n');
});

test.each([
  ['{"n":12,"items":[{"a":1}]}'],
  ['{"n":-1.5e3 , "items":[{"a":1}]}'],
  ['{"n":true,"m":null,"items":[{"a":1}]}'],
  ['{"s":"x\\\\","items":[{"a":1}],"t":"]"}'],
  ['{"s":"\\"items\\":[{","items":[{"a":1}]}'],
  ['{"o":{"items":[{"z":1}],"p":[[]]},"items":[{"a":1}]}'],
  ['{"e":[],"f":{},"items":[{"a":1}],"n":12}'],
])('in %s the list is found behind values of every kind', (text) => {
  expect(linesOf(text, 'items')).toBe('{"a":1}\n');
});

test.each([['{"n":12}'], ['{"n":"items"}'], ['{"items":"[{}]"}'], ['{"items":{"a":{}}}'], ['{}'], ['[]']])(
  'in %s there is no list of that name',
  (text) => {
    expect(itemLines(text, 'items', 1)).toBe(undefined);
  },
);

test('the first items alone can be asked for', () => {
  expect(linesOf('[{"a":1},{"a":2},{"a":3}]', undefined, 2)).toBe('{"a":1}\n{"a":2}\n');
  expect(linesOf('[{"a":1},{"b":2},{"a":3}]', undefined, 1)).toBe('{"a":1}\n');
  expect(linesOf('[{"a":1}]', undefined, 0)).toBe('');
});

test('items that are not objects or lists are left to others', () => {
  expect(linesOf('[1,2]')).toBe(undefined);
  expect(itemLines('{"a":1}', 'items', 1)).toBe(undefined);
});

const object = fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 4 });
const alike = fc.array(fc.tuple(fc.jsonValue(), object).map(([first, rest]) => ({ first, ...rest })));

test('any list, in any layout, comes out as its items one a line', () => {
  fc.assert(
    fc.property(fc.oneof(fc.array(object), alike), fc.constantFrom(undefined, ' ', '\t', '\n'), (items, space) => {
      for (const key of [undefined, 'items']) {
        const text = JSON.stringify(key === undefined ? items : { first: items, items, cursor: 'x' }, null, space);
        const lines = linesOf(text, key) ?? '-';
        const read = lines.split('\n').slice(0, -1);
        expect(read.map((line) => JSON.parse(line))).toEqual(JSON.parse(JSON.stringify(items)));
      }
    }),
  );
});

test('a stream prints what the service sent, big numbers unrounded and controls escaped', async () => {
  const page = '[{"itemId":"a","n":9007199254740993,"t":"\u009b31m"},{"itemId":"b","n":1.0}]';
  const service = await answering(page);
  const { out } = await run('profile positions 0x1111111111111111111111111111111111111111 open --all --format ndjson', {
    env: service.env,
  });
  expect(out).toBe('{"itemId":"a","n":9007199254740993,"t":"\\u009b31m"}\n{"itemId":"b","n":1.0}\n');
});
