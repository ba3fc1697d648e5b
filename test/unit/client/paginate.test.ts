import { expect, test } from 'vitest';
import type { Paging } from '../../../src/api/endpoint.ts';
import { listKey, moreHint, type PageWalk, walkPages } from '../../../src/client/paginate.ts';

const limited: Paging = { kind: 'limit', size: 'limit', defaultSize: 2, maxSize: 5 };
const numbered: Paging = { kind: 'page', page: 'page', size: 'limit', defaultSize: 2, maxSize: 3 };
const cursored: Paging = { kind: 'cursor', cursor: 'cursor', size: 'limit', maxSize: 3, items: 'items', next: 'next' };
const linked: Paging = {
  kind: 'links',
  size: 'limit',
  items: 'items',
  older: 'cursor',
  newer: 'newerThan',
  atSec: 'at',
};

/** Walks pages that are given as JSON, in their order; returns the requests and the items. */
async function walk(
  paging: Paging,
  pages: readonly string[],
  more: Partial<Omit<PageWalk, 'paging' | 'fetchPage'>> = {},
) {
  const asked: unknown[] = [];
  let cuts = 0;
  const fetchPage: PageWalk['fetchPage'] = async (input, link) => {
    const text = pages[asked.push(link === undefined ? input : [input, link]) - 1];
    if (text === undefined) throw new Error('no such page');
    return { data: JSON.parse(text), text, status: 200, requestId: undefined, attempts: 1 };
  };
  const onMaxReached = () => {
    cuts += 1;
  };
  const batches: (readonly unknown[])[] = [];
  const walking = walkPages({ paging, input: {}, fetchPage, max: undefined, onMaxReached, ...more });
  const failure = await (async () => {
    for await (const batch of walking) batches.push(batch);
  })().catch((error: Error) => error);
  return { asked, cuts, batches, failure };
}

test.each([
  ['[{"itemId":"a","n":1}]', '[{"itemId":"a","n":2}]', true],
  ['[{"id":"a","n":1}]', '[{"id":"a","n":2}]', true],
  ['[{"n":1}]', '[{"n":1}]', true],
  ['[null]', '[null]', true],
  ['[{"n":1}]', '[{"n":2}]', false],
  ['[{"itemId":"a","id":"x"}]', '[{"itemId":"b","id":"x"}]', false],
  ['[]', '[]', false],
])('a page %s, then %s: that is the same page again: %s', async (first, second, isSame) => {
  const { failure } = await walk(numbered, [first, second, '[]', '[]'], { input: { limit: 1 } });
  if (!isSame) expect(failure).toBeUndefined();
  else
    expect(failure).toMatchObject({
      code: 'contract',
      message: 'the service returned page 2 twice; stopped to avoid a loop',
      hint: expect.stringContaining('incomplete'),
    });
});

test('a page that repeats a part of the one before is another page', async () => {
  const { failure, batches } = await walk(numbered, ['[1,2]', '[2]'], { input: { limit: 2 } });
  expect([failure, batches]).toEqual([undefined, [[1, 2], [2]]]);
  expect((await walk(numbered, ['[1,2]', '[1]'], { input: { limit: 2 } })).failure).toBeUndefined();
  expect((await walk(numbered, ['[1,2]', '[1,3]', '[]'], { input: { limit: 2 } })).failure).toBeUndefined();
});

const newYear = '2026-01-01T00:00:00Z';
/** Items that many seconds after the new year, newest first. */
const since = (pagination: object | null, ...seconds: (number | null)[]) =>
  JSON.stringify({ items: seconds.map((at) => (at === null ? null : { at: 1_767_225_600 + at })), pagination });
const secondsOf = (batches: readonly (readonly unknown[])[]) =>
  batches.map((batch) => batch.map((item) => Number((item as { at: number } | null)?.at) - 1_767_225_600));

test('items since a time that come newest first are walked down to it, and no further', async () => {
  const pages = [since({ olderItemsURL: '/o' }, 3, 2), since({ olderItemsURL: '/p' }, 1, 0, -1)];
  const { asked, batches, cuts, failure } = await walk(linked, pages, { input: { newerThan: newYear }, max: 3 });
  expect(asked).toStrictEqual([{ newerThan: newYear }, [{ newerThan: newYear }, '/o']]);
  expect([secondsOf(batches), cuts, failure]).toEqual([[[3, 2], [1]], 0, undefined]);
  const unknown = await walk(linked, [since(null, 5, null, -5)], { input: { newerThan: newYear } });
  expect(secondsOf(unknown.batches)).toEqual([[5, Number.NaN]]);
});

test('items since a time that lead on to newer ones, or since a cursor, are all shown', async () => {
  const up = [since({ newerItemsURL: '/n', olderItemsURL: '/o' }, 1, -1), since(null, 2)];
  const walked = await walk(linked, up, { input: { newerThan: newYear } });
  expect(walked.asked.slice(1)).toEqual([[{ newerThan: newYear }, '/n']]);
  expect(secondsOf(walked.batches)).toEqual([[1, -1], [2]]);
  const marked = await walk(linked, [since({ olderItemsURL: '/o' }, 1, -1)], { input: { newerThan: 'mark' } });
  expect([secondsOf(marked.batches), marked.failure]).toEqual([[[1, -1]], undefined]);
  const whole = await walk(linked, [since({ olderItemsURL: '/o' }, 1, -1), since(null, -2)]);
  expect(secondsOf(whole.batches)).toEqual([[1, -1], [-2]]);
});

test.each([
  [[1], undefined],
  [null, undefined],
  ['x', undefined],
  [{ a: 1 }, undefined],
  [{ a: 1, b: [], c: [1] }, 'b'],
])('the list of %j is under %s', (data, key) => {
  expect(listKey(data)).toBe(key);
});

const hints: readonly [paging: Paging, input: Record<string, unknown>, data: unknown, hint: string | undefined][] = [
  [limited, {}, [1], undefined],
  [limited, {}, [1, 2], 'Showing 2; more with --limit (max 5)'],
  [limited, { limit: 3 }, [1, 2], undefined],
  [limited, { limit: 3 }, { list: [1, 2, 3] }, 'Showing 3; more with --limit (max 5)'],
  [limited, { limit: 5 }, [1, 2, 3, 4, 5], undefined],
  [limited, { limit: 0 }, [], undefined],
  [{ ...limited, maxSize: Number.MAX_SAFE_INTEGER }, {}, [1, 2], 'Showing 2; more with --limit'],
  [numbered, {}, [1, 2], 'Showing 2; more with --page 2 or --all'],
  [numbered, { page: 4 }, [1, 2], 'Showing 2; more with --page 5 or --all'],
  [numbered, {}, [1], undefined],
  [cursored, {}, { items: [1], next: 'c' }, 'Showing 1; more with --cursor c or --all'],
  [cursored, {}, { items: [1], next: null }, undefined],
  [cursored, {}, null, undefined],
  [linked, {}, { items: [1, 2], pagination: { olderCursor: 'o' } }, 'Showing 2; more with --cursor o or --all'],
  [
    linked,
    {},
    { items: [1], pagination: { olderItemsURL: '/o', olderCursor: 'o' } },
    'Showing 1; more with --cursor o or --all',
  ],
  [linked, {}, { items: [1], pagination: { olderItemsURL: '/o' } }, 'Showing 1; more with --all'],
  [
    linked,
    { newerThan: 'x' },
    { items: [1], pagination: { newerCursor: 'n' } },
    'Showing 1; more with --newer-than n or --all',
  ],
  [linked, { newerThan: 'x' }, { pagination: { olderCursor: 'o' } }, undefined],
  [linked, {}, {}, undefined],
  [linked, {}, null, undefined],
];

test.each(hints)('after %j with %j, %j may not be all: %s', (paging, input, data, hint) => {
  expect(moreHint(paging, input, data)).toBe(hint);
});
