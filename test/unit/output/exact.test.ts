import { expect, test } from 'vitest';
import { rowLines } from '../../../src/output/json.ts';
import { fc } from '../../support/draw.ts';
import { answering, run, stub } from '../../support/harness.ts';

const wallet = '0x1111111111111111111111111111111111111111';
const pages = ['[{"itemId":"a","n":9007199254740993}]', '[{"itemId":"b","n":1.0},{"itemId":"c","n":1E400}]', '[]'];

/** A service whose numbered pages hold one item at most, so that a walk of page size 1 goes on. */
const paged = () => stub((_, response, count) => response.end(pages[count - 1] ?? '[]'));

test('one object a line: numbers above 2^53, zeros behind the point and repeated keys stay as the service sent them', async () => {
  const service = await answering(
    '{"traders":[ {"profile":{"id": 9007199254740993}, "pnl":1.0,"pnl":2.50}, {"rank":-0} ]}',
  );
  const { out } = await run('leaderboard list --format ndjson', { env: service.env });
  expect(out).toBe('{"profile":{"id":9007199254740993},"pnl":1.0,"pnl":2.50}\n{"rank":-0}\n');
});

test('a walk of all pages as one JSON list keeps every number as it was sent, page after page', async () => {
  const { env } = await paged();
  const { out } = await run(`profile positions ${wallet} open --all --limit 1 --json`, { env });
  expect(out).toBe(
    `[
  {
    "itemId": "a",
    "n": 9007199254740993
  },
  {
    "itemId": "b",
    "n": 1.0
  },
  {
    "itemId": "c",
    "n": 1E400
  }
]
`,
  );
});

test('a walk that meets no item at all is an empty list', async () => {
  const { env } = await answering('[]');
  expect((await run(`profile positions ${wallet} open --all --json`, { env })).out).toBe('[]\n');
});

test('request --paginate keeps every number as it was sent, as a list and as lines', async () => {
  const list = await run('request GET /v1/things?page=1&limit=1 --paginate', { env: (await paged()).env });
  expect(list.out.replaceAll(/\s/g, '')).toBe(
    '[{"itemId":"a","n":9007199254740993},{"itemId":"b","n":1.0},{"itemId":"c","n":1E400}]',
  );
  const lines = await run('request GET /v1/things?page=1&limit=1 --paginate --format ndjson', {
    env: (await paged()).env,
  });
  expect(lines.out).toBe('{"itemId":"a","n":9007199254740993}\n{"itemId":"b","n":1.0}\n{"itemId":"c","n":1E400}\n');
});

test('request --paginate of an answer that holds no list gives it on one line, as it was sent', async () => {
  const { env } = await answering('{"id": 9007199254740993,\n "one": 1.0}');
  const { out } = await run('request GET /v1/thing --paginate --format ndjson', { env });
  expect(out).toBe('{"id":9007199254740993,"one":1.0}\n');
});

test('of a repeated key the last value is the row, whatever stood there before', () => {
  const text = '{"a":[{"x":[1]}],"b":{"a":[0]},"a":[{"x":9007199254740993},"[{",[2]]}';
  const value = JSON.parse(text);
  expect(rowLines(value.a, { value, text })).toEqual(['{"x":9007199254740993}', '"[{"', '[2]']);
});

test('rows that are no part of the answer are written as they are', () => {
  expect(rowLines([{ made: 1 }, null, undefined], { value: {}, text: '{}' })).toEqual(['{"made":1}', 'null', 'null']);
});

test('the rows of any answer, in any layout, are its own text without the layout', () => {
  const rows = fc.array(fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 4 }));
  fc.assert(
    fc.property(rows, fc.constantFrom(undefined, ' ', '\t', '\n'), (items, space) => {
      const text = JSON.stringify({ before: items, deep: { items }, after: 'x' }, null, space);
      const value = JSON.parse(text);
      expect(rowLines(value.deep.items, { value, text })).toEqual(items.map((item) => JSON.stringify(item)));
    }),
  );
});
