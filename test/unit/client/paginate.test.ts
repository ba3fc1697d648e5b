import { expect, test } from 'vitest';
import type { Paging } from '../../../src/api/endpoint.ts';
import { moreHint } from '../../../src/client/paginate.ts';
import { cardOf, idsIn } from '../../support/feed-cards.ts';
import { run, stub } from '../../support/harness.ts';

const limited: Paging = { kind: 'limit', size: 'limit', defaultSize: 2, maxSize: 5 };
const numbered: Paging = { kind: 'page', page: 'page', size: 'limit', defaultSize: 2, maxSize: 3 };
const cursored: Paging = { kind: 'cursor', cursor: 'cursor', size: 'limit', maxSize: 3, items: 'items', next: 'next' };
const links: Paging = { kind: 'links', size: 'limit', items: 'items', older: 'cursor', newer: 'newerThan', atSec: 't' };

/** The cards of a feed since a time or a cursor, whose pages are given. */
async function cardsSince(start: string, ...pages: object[]): Promise<string[]> {
  const { env } = await stub((_, response, count) => void response.end(JSON.stringify(pages[count - 1])));
  const { out } = await run(`feed actor ext:a --all --format ndjson --newer-than ${start}`, { env });
  return idsIn(out);
}

test('cards since a time that lead on to newer ones, or since a cursor, are all shown', async () => {
  const [after, before] = [cardOf('after', 1_800_000_000), cardOf('before', 1_700_000_000)];
  const time = '2026-01-01T00:00:00Z';
  const up = { items: [after, before], pagination: { newerItemsURL: '/n', olderItemsURL: '/o' } };
  expect(await cardsSince(time, up, { items: [cardOf('last', 1_800_000_001)] })).toEqual(['after', 'before', 'last']);
  const down = { items: [after, before], pagination: { olderItemsURL: '/o' } };
  expect(await cardsSince(time, down)).toEqual(['after']);
  expect(await cardsSince('mark', down)).toEqual(['after', 'before']);
});

const page = (pagination: object, items = [1]) => ({ items, pagination });
const hints: readonly [paging: Paging, input: Record<string, unknown>, data: unknown, hint: string | undefined][] = [
  [limited, {}, [1, 2], 'Showing 2; more with --limit (max 5)'],
  [limited, { limit: 3 }, { list: [1, 2, 3] }, 'Showing 3; more with --limit (max 5)'],
  [limited, { limit: 0 }, [], undefined],
  [{ ...limited, maxSize: Number.MAX_SAFE_INTEGER }, {}, [1, 2], 'Showing 2; more with --limit'],
  [numbered, {}, [1, 2], 'Showing 2; more with --page 2 or --all'],
  [numbered, { page: 4 }, [1, 2], 'Showing 2; more with --page 5 or --all'],
  [numbered, {}, [1], undefined],
  [cursored, {}, { items: [1], next: 'c' }, 'Showing 1; more with --cursor c or --all'],
  [cursored, {}, { items: [1], next: null }, undefined],
  [cursored, {}, null, undefined],
  [links, {}, { items: [1, 2], pagination: { olderCursor: 'o' } }, 'Showing 2; more with --cursor o or --all'],
  [links, {}, page({ olderItemsURL: '/o', olderCursor: 'o' }), 'Showing 1; more with --cursor o or --all'],
  [links, {}, page({ olderItemsURL: '/o' }), 'Showing 1; more with --all'],
  [links, { newerThan: 'x' }, page({ newerCursor: 'n' }), 'Showing 1; more with --newer-than n or --all'],
  [links, { newerThan: 'x' }, { pagination: { olderCursor: 'o' } }, undefined],
  [links, {}, null, undefined],
];

test.each(hints)('after %j with %j, %j may not be all: %s', (paging, input, data, hint) => {
  expect(moreHint(paging, input, data)).toBe(hint);
});
