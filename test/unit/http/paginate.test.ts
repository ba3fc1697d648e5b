import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { Paging } from '../../../src/contract/endpoint.ts';
import { SotraError } from '../../../src/errors.ts';
import { askNext, listKey, moreHint, type Next, nextInput, type Walk, walkPages } from '../../../src/http/paginate.ts';

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
async function walk(paging: Paging, pages: readonly string[], more: Partial<Omit<Walk, 'paging' | 'ask'>> = {}) {
  const asked: unknown[] = [];
  let cuts = 0;
  const ask: Walk['ask'] = async (input, link) => {
    const text = pages[asked.push(link === undefined ? input : [input, link]) - 1];
    if (text === undefined) throw new Error('no such page');
    return { data: JSON.parse(text), text, status: 200, requestId: undefined, attempts: 1 };
  };
  const onCut = () => {
    cuts += 1;
  };
  const batches: (readonly unknown[])[] = [];
  const walking = walkPages({ paging, input: {}, ask, max: undefined, onCut, ...more });
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

test('a walk ends once nothing is on its way', async () => {
  let open = 0;
  const ask: Walk['ask'] = async ({ page }) => {
    open += 1;
    for (let turn = 0; turn < Number(page); turn += 1) await setImmediate();
    open -= 1;
    const text = Number(page) < 6 ? `[${page}]` : '[]';
    return { data: JSON.parse(text), text, body: Buffer.from(text), status: 200, requestId: undefined, attempts: 1 };
  };
  const shown: unknown[] = [];
  const walking = { paging: numbered, input: { limit: 1 }, ask, max: undefined, onCut: () => undefined };
  for await (const items of walkPages(walking)) shown.push(...items);
  expect([shown, open]).toEqual([[1, 2, 3, 4, 5], 0]);
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

test.each([
  [[1], undefined],
  [null, undefined],
  ['x', undefined],
  [{ a: 1 }, undefined],
  [{ a: 1, b: [], c: [1] }, 'b'],
])('the list of %j stands under %s', (data, key) => {
  expect(listKey(data)).toBe(key);
});

const byPage = 'gives the next page; --all fetches the rest.';
const hints: readonly [paging: Paging, input: Record<string, unknown>, data: unknown, hint: string | undefined][] = [
  [limited, {}, [1], undefined],
  [limited, {}, [1, 2], 'There may be more: --limit takes up to 5.'],
  [limited, { limit: 3 }, [1, 2], undefined],
  [limited, { limit: 3 }, { list: [1, 2, 3] }, 'There may be more: --limit takes up to 5.'],
  [limited, { limit: 5 }, [1, 2, 3, 4, 5], undefined],
  [limited, { limit: 0 }, [], undefined],
  [{ ...limited, maxSize: Number.POSITIVE_INFINITY }, {}, [1, 2], 'There may be more: a larger --limit shows it.'],
  [numbered, {}, [1, 2], `There may be more: --page 2 ${byPage}`],
  [numbered, { page: 4 }, [1, 2], `There may be more: --page 5 ${byPage}`],
  [numbered, {}, [1], undefined],
  [cursored, {}, { items: [1], next: 'c' }, `There is more: --cursor c ${byPage}`],
  [cursored, {}, { items: [1], next: null }, undefined],
  [cursored, {}, null, undefined],
  [linked, {}, { pagination: { olderCursor: 'o' } }, `There is more: --cursor o ${byPage}`],
  [linked, {}, { pagination: { olderItemsURL: '/o', olderCursor: 'o' } }, `There is more: --cursor o ${byPage}`],
  [linked, {}, { pagination: { olderItemsURL: '/o' } }, 'There is more: --all fetches the rest.'],
  [linked, { newerThan: 'x' }, { pagination: { newerCursor: 'n' } }, `There is more: --newer-than n ${byPage}`],
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
  const ask = async (input: unknown, link?: string) => {
    asked.push(link ?? input);
    if (link !== undefined) throw error;
    return 'the page';
  };
  const step = { kind: 'link', way: 'older', text: 'https://gate/?x', cursor: 'c', ...next } as Next;
  const input = { a: 1, newerThan: 'n', cursor: 'o' };
  const came = await askNext(paging as Paging & { kind: 'links' }, step, input, ask).catch((thrown: Error) => thrown);
  return { asked, came };
}

const away = new SotraError('redirect', 'another origin', { outcome: 'unsent' });

test('a link that leads away is given up for its cursor, at the same place of the input', async () => {
  const link = 'https://gate/?x';
  expect(await follow(away, {})).toEqual({ asked: [link, { a: 1, cursor: 'c' }], came: 'the page' });
  expect(await follow(away, { way: 'newer' })).toEqual({ asked: [link, { a: 1, newerThan: 'c' }], came: 'the page' });
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
