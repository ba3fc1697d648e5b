import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { Paging } from '../../../src/api/endpoint.ts';
import {
  fetchNext,
  listKey,
  moreHint,
  type Next,
  nextInput,
  type PageWalk,
  walkPages,
} from '../../../src/client/paginate.ts';
import { SotraError } from '../../../src/errors.ts';

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

/** Walks pages that are given as JSON, in their order; says what was asked and what came. */
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

test('a list without pages is asked for once, as long as it may be', async () => {
  expect(await walk(limited, ['[1,2]'], { input: { a: 1 } })).toMatchObject({
    asked: [{ a: 1, limit: 5 }],
    batches: [[1, 2]],
    cuts: 0,
    failure: undefined,
  });
  expect(await walk(limited, ['{"x":1,"list":[1,2]}'], { input: { limit: 2 }, max: 2 })).toMatchObject({
    asked: [{ limit: 2 }],
    batches: [[1, 2]],
    cuts: 1,
  });
  expect(await walk(limited, ['[1,2]'], { input: { limit: 3 }, max: 2 })).toMatchObject({ cuts: 0 });
  expect(await walk(limited, ['[1,2,3]'], { input: { limit: 2 }, max: 5 })).toMatchObject({ cuts: 0 });
  expect(await walk(limited, ['{"x":1}'])).toMatchObject({ batches: [[]] });
});

test('numbered pages are asked for until one is short, one ahead', async () => {
  const { asked, batches, failure } = await walk(numbered, ['[1,2,3]', '[4,5,6]', '[7]', '[]'], { input: { a: 1 } });
  expect(asked).toEqual([
    { a: 1, limit: 3, page: 1 },
    { a: 1, limit: 3, page: 2 },
    { a: 1, limit: 3, page: 3 },
  ]);
  expect([batches, failure]).toEqual([[[1, 2, 3], [4, 5, 6], [7]], undefined]);
  const from = await walk(numbered, ['[1,2]', '[]'], { input: { page: 4, limit: 2 } });
  expect(from.asked).toEqual([
    { limit: 2, page: 4 },
    { limit: 2, page: 5 },
  ]);
  expect(from.batches).toEqual([[1, 2], []]);
});

test('a long list is asked for two pages ahead from its fourth page on', async () => {
  const pages = ['[1]', '[2]', '[3]', '[4]', '[5]', '[]', '[]', '[]'];
  const { asked, batches } = await walk(numbered, [...pages.slice(0, 6), '[9]'], { input: { limit: 1 } });
  expect(asked).toEqual([1, 2, 3, 4, 5, 6, 7].map((page) => ({ limit: 1, page })));
  expect(batches.flat()).toEqual([1, 2, 3, 4, 5]);
  const count = async (full: number) =>
    (await walk(numbered, [...pages.slice(0, full), '[]', '[]', '[]'], { input: { limit: 1 } })).asked.length;
  expect([await count(2), await count(3), await count(4)]).toEqual([3, 4, 6]);
});

test('a walk ends once nothing is on its way', async () => {
  let open = 0;
  const fetchPage: PageWalk['fetchPage'] = async ({ page }) => {
    open += 1;
    for (let turn = 0; turn < Number(page); turn += 1) await setImmediate();
    open -= 1;
    const text = Number(page) < 6 ? `[${page}]` : '[]';
    return { data: JSON.parse(text), text, body: Buffer.from(text), status: 200, requestId: undefined, attempts: 1 };
  };
  const shown: unknown[] = [];
  const walking = { paging: numbered, input: { limit: 1 }, fetchPage, max: undefined, onMaxReached: () => undefined };
  for await (const items of walkPages(walking)) shown.push(...items);
  expect([shown, open]).toEqual([[1, 2, 3, 4, 5], 0]);
});

test('no page is asked for beyond what is wanted', async () => {
  const ahead = await walk(numbered, ['[1,2]', '[3,4]', '[5,6]', '[7,8]', '[9,0]', '[1,2]'], {
    input: { limit: 2 },
    max: 12,
  });
  expect([ahead.asked.length, ahead.failure]).toEqual([6, undefined]);
  const pages = ['[1,2,3]', '[4,5,6]', '[7,8,9]', '[10]'];
  const cases = [1, 3, 4, 6, 7, 10].map(async (max) => {
    const { asked, batches, cuts } = await walk(numbered, pages, { max });
    return [max, asked.length, batches.flat().length, cuts];
  });
  expect(await Promise.all(cases)).toEqual([
    [1, 1, 1, 1],
    [3, 1, 3, 1],
    [4, 2, 4, 1],
    [6, 2, 6, 1],
    [7, 3, 7, 1],
    [10, 4, 10, 0],
  ]);
});

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

test('a page that cannot be had ends the walk, after what came before it', async () => {
  const { failure, batches } = await walk(numbered, ['[1,2,3]']);
  expect(batches).toEqual([[1, 2, 3]]);
  expect(failure).toMatchObject({ message: 'no such page' });
});

test('a cursor leads on until it is null, empty or absent', async () => {
  const last = ['{"items":[2],"next":null}', '{"items":[2],"next":""}', '{"items":[2]}', '{"items":[2],"next":7}'];
  for (const end of last)
    expect(await walk(cursored, ['{"items":[1],"next":"c"}', end], { input: { a: 1 } })).toMatchObject({
      asked: [
        { a: 1, limit: 3 },
        { a: 1, limit: 3, cursor: 'c' },
      ],
      batches: [[1], [2]],
      failure: undefined,
    });
  expect((await walk(cursored, ['null'], { input: { limit: 1 } })).asked).toEqual([{ limit: 1 }]);
});

test('a cursor that comes a second time ends the walk', async () => {
  const page = '{"items":[1],"next":"c"}';
  const { failure, batches, asked } = await walk(cursored, [page, page, page]);
  expect([batches.length, asked.length]).toEqual([2, 2]);
  expect(failure).toMatchObject({ code: 'contract', message: expect.stringContaining('returned cursor c twice') });
});

test('links lead on as they are, cursors where there is none, in the direction that was asked for', async () => {
  const page = (pagination: object | null) => JSON.stringify({ items: [1], pagination });
  const older = { olderItemsURL: '/o', olderCursor: 'oc', newerItemsURL: '/n', newerCursor: 'nc' };
  const cursors = { olderCursor: 'oc', newerCursor: 'nc' };
  const asked = async (first: object | null, input: Record<string, unknown>) =>
    (await walk(linked, [page(first), page(null)], { input })).asked.slice(1);
  expect(await asked(older, {})).toEqual([[{}, '/o']]);
  expect(await asked(older, { newerThan: 'x' })).toEqual([[{ newerThan: 'x' }, '/n']]);
  expect(await asked(cursors, { a: 1 })).toEqual([{ a: 1, cursor: 'oc' }]);
  expect(await asked(cursors, { newerThan: 'x' })).toEqual([{ newerThan: 'nc' }]);
  expect(await asked({ olderItemsURL: '', olderCursor: null }, {})).toEqual([]);
  expect(await asked(null, {})).toEqual([]);
  const again = await walk(linked, [page(older), page(older), page(older)]);
  expect(again.failure).toMatchObject({ message: expect.stringContaining('returned link /o twice') });
  const both = await walk(linked, [page({ olderItemsURL: 'oc' }), page({ olderCursor: 'oc' }), page(null)]);
  expect(both.failure).toBeUndefined();
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

test('what was asked for first ends a walk in the middle of a page, and says that it was cut', async () => {
  const pages = ['{"items":[1,2,3],"next":"c"}', '{"items":[4]}'];
  const outcome = async (max: number) => {
    const { batches, cuts, asked } = await walk(cursored, pages, { max });
    return [batches.flat(), cuts, asked.length];
  };
  expect(await outcome(2)).toEqual([[1, 2], 1, 1]);
  expect(await outcome(3)).toEqual([[1, 2, 3], 1, 1]);
  expect(await outcome(4)).toEqual([[1, 2, 3, 4], 0, 2]);
  expect(await outcome(5)).toEqual([[1, 2, 3, 4], 0, 2]);
});

test.each([
  [[1], undefined],
  [null, undefined],
  ['x', undefined],
  [{ a: 1 }, undefined],
  [{ a: 1, b: [], c: [1] }, 'b'],
])('the list of %j stands under %s', (data, key) => {
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

const rests: readonly [paging: Paging, input: Record<string, unknown>, data: unknown, next: object | undefined][] = [
  [limited, {}, [1], undefined],
  [limited, {}, [1, 2], { limit: 4 }],
  [limited, { limit: 3 }, [1, 2, 3], { limit: 5 }],
  [limited, { limit: 5 }, [1, 2, 3, 4, 5], undefined],
  [numbered, {}, [1, 2], { page: 2 }],
  [numbered, { page: 4 }, [1, 2], { page: 5 }],
  [numbered, {}, [1], undefined],
  [cursored, {}, { items: [1], next: 'c' }, { cursor: 'c' }],
  [cursored, {}, { items: [1], next: null }, undefined],
  [linked, {}, { pagination: { olderCursor: 'o' } }, { cursor: 'o' }],
  [linked, {}, { pagination: { olderItemsURL: '/o', olderCursor: 'o' } }, { cursor: 'o' }],
  [linked, {}, { pagination: { olderItemsURL: '/o' } }, {}],
  [linked, { newerThan: 'x' }, { pagination: { newerItemsURL: '/n', newerCursor: 'n' } }, { newerThan: 'n' }],
  [linked, {}, null, undefined],
];

test.each(rests)('after %j with %j, %j the next inputs are %j', (paging, input, data, next) => {
  expect(nextInput(paging, input, data)).toEqual(next);
});

/** Asks for the page of a link that fails so; what was asked, and what became of it. */
async function follow(error: Error, next: Partial<Next & { cursor: string }>, paging = linked) {
  const asked: unknown[] = [];
  const fetchPage = async (input: unknown, link?: string) => {
    asked.push(link ?? input);
    if (link !== undefined) throw error;
    return 'the page';
  };
  const step = { kind: 'link', direction: 'older', text: 'https://gate/?x', cursor: 'c', ...next } as Next;
  const input = { a: 1, newerThan: 'n', cursor: 'o' };
  const came = await fetchNext(paging as Paging & { kind: 'links' }, step, input, fetchPage).catch(
    (thrown: Error) => thrown,
  );
  return { asked, came };
}

const away = new SotraError('redirect', 'another origin', { outcome: 'unsent' });

test('a link that leads away is given up for its cursor, at the same place of the input', async () => {
  const link = 'https://gate/?x';
  expect(await follow(away, {})).toEqual({ asked: [link, { a: 1, cursor: 'c' }], came: 'the page' });
  expect(await follow(away, { direction: 'newer' })).toEqual({
    asked: [link, { a: 1, newerThan: 'c' }],
    came: 'the page',
  });
});

test.each<[what: string, error: Error, next: Partial<Next & { cursor: string }>, paging?: Paging]>([
  ['without a cursor', away, { cursor: undefined as never }],
  ['in a list that has no places', away, {}, cursored],
  ['that redirects', new SotraError('redirect', 'moved', { outcome: 'unknown' }), {}],
  ['that was not sent', new SotraError('network', 'refused', { outcome: 'unsent' }), {}],
  ['that fails otherwise', new Error('a fault'), {}],
])('the error of a link %s is that of the walk', async (_, error, next, paging) => {
  expect(await follow(error, next, paging)).toEqual({ asked: ['https://gate/?x'], came: error });
});
