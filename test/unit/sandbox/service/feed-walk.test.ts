import { expect, test } from 'vitest';
import { type Db, newestTradeId, openDb, type SqlValue } from '../../../../src/sandbox/db/store.ts';
import { addTrades } from '../../../../src/sandbox/ledger/add-trades.ts';
import type { Trade } from '../../../../src/sandbox/ledger/trade.ts';
import { feedPage, type PageRequest, writeCursor } from '../../../../src/sandbox/service/feed-pages.ts';
import { follow } from '../../../../src/sandbox/service/follows.ts';
import { findWallets } from '../../../../src/sandbox/service/identifiers.ts';
import { fc } from '../../../support/draw.ts';

const wallets = [1, 2, 3].map((digit) => `0x${String(digit).repeat(40)}`);
const scope = { wallets, chains: ['base'] as const };

/** One buy: whose, of which of many tokens, and how long after the one before, in ms. */
const oneBuy = fc.record({
  trader: fc.constantFrom(...wallets),
  token: fc.integer({ min: 0, max: 15 }),
  waitMs: fc.constantFrom(0, 0, 1, 400, 1000, 60_000),
});

/** What the feed held at the start, then the trades that arrive before each next page. */
const story = fc.record({
  before: fc.array(oneBuy, { maxLength: 60 }),
  between: fc.array(fc.array(oneBuy, { maxLength: 4 }), { maxLength: 30 }),
  limit: fc.integer({ min: 1, max: 7 }),
});

function worldOf(db: Db) {
  let [atMs, count] = [1_700_000_000_000, 0];
  return (buys: readonly { trader: string; token: number; waitMs: number }[]) => {
    const trades = buys.map(({ trader, token, waitMs }): Trade => {
      atMs += waitMs;
      count += 1;
      return {
        chain: 'base',
        trader,
        token: `0x${token}`,
        side: 'buy',
        direction: null,
        leverage: 1,
        amount: 1,
        usd: 100,
        atMs,
        tx: `0x${count}`,
        rowKey: String(count),
      };
    });
    addTrades(db, trades);
  };
}

/** The ids that a walk shows, page by page, with trades arriving after each page. */
function walk(
  db: Db,
  way: 'older' | 'newer',
  first: PageRequest,
  { limit, between, arrive }: { limit: number; between: readonly unknown[]; arrive: (index: number) => void },
): { pages: string[][]; last: string | null } {
  const pages: string[][] = [];
  let question: PageRequest = { ...first, limit };
  for (let index = 0; ; index += 1) {
    const page = feedPage(db, question, () => scope);
    pages.push(page.ids);
    const next = page[way];
    if (next === null) return { pages, last: way === 'older' ? page.newer : page.older };
    if (index < between.length) arrive(index);
    question = way === 'older' ? { limit, olderThan: next } : { limit, newerThan: next };
  }
}

const orderNow = (db: Db) =>
  db.all<{ id: string }>('SELECT id FROM position ORDER BY latest_ms / 1000 DESC, id').map(({ id }) => id);

test('a walk to older cards shows each card of its beginning once and in order, while trades arrive and move cards', () => {
  fc.assert(
    fc.property(story, ({ before, between, limit }) => {
      const db = openDb(':memory:');
      const add = worldOf(db);
      add(before);
      const atStart = orderNow(db);
      const { pages } = walk(db, 'older', {}, { limit, between, arrive: (index) => add(between[index] ?? []) });
      expect(pages.flat()).toEqual(atStart);
      db.close();
    }),
  );
});

test('a walk to newer cards shows each card once, those of its beginning in order and then what arrived meanwhile', () => {
  fc.assert(
    fc.property(story, ({ before, between, limit }) => {
      const db = openDb(':memory:');
      const add = worldOf(db);
      add(before);
      const atStart = orderNow(db);
      const beginning = { anchor: { atSec: 0, id: '' }, snapshot: newestTradeId(db) };
      const first = {
        newerThan: writeCursor({ snapshot: beginning.snapshot, at: beginning.anchor, start: beginning }),
      };
      const { pages } = walk(db, 'newer', first, { limit, between, arrive: (index) => add(between[index] ?? []) });
      const shown = pages.flatMap((page) => page.toReversed());
      expect(new Set(shown).size).toBe(shown.length);
      expect(shown.slice(0, atStart.length)).toEqual(atStart.toReversed());
      expect([...shown].sort()).toEqual(orderNow(db).sort());
      db.close();
    }),
  );
});

test('a walk through what is newer than a time shows the newest first, each card of the window once and none before it', () => {
  fc.assert(
    fc.property(story, fc.nat(200), ({ before, between, limit }, nth) => {
      const db = openDb(':memory:');
      const add = worldOf(db);
      add(before);
      const rows = db.all<{ id: string; sec: number }>(
        'SELECT id, latest_ms / 1000 AS sec FROM position ORDER BY latest_ms / 1000 DESC, id',
      );
      const since = rows[nth % Math.max(rows.length, 1)]?.sec ?? 0;
      const newerThan = new Date(since * 1000).toISOString();
      const { pages } = walk(
        db,
        'older',
        { newerThan },
        { limit, between, arrive: (index) => add(between[index] ?? []) },
      );
      expect(pages.flat()).toEqual(rows.filter(({ sec }) => sec > since).map(({ id }) => id));
      db.close();
    }),
  );
});

test('down to the end and up again: the way back shows what lies above the last page once, and all that arrived', () => {
  fc.assert(
    fc.property(story, ({ before, between, limit }) => {
      const db = openDb(':memory:');
      const add = worldOf(db);
      add(before);
      const half = Math.floor(between.length / 2);
      const down = walk(
        db,
        'older',
        {},
        { limit, between: between.slice(0, half), arrive: (index) => add(between[index] ?? []) },
      );
      const lastPage = down.pages.at(-1) ?? [];
      if (down.last === null) return db.close();
      const up = walk(
        db,
        'newer',
        { newerThan: down.last },
        { limit, between: between.slice(half), arrive: (index) => add(between[half + index] ?? []) },
      );
      const shown = [...lastPage, ...up.pages.flat()];
      expect(new Set(shown).size).toBe(shown.length);
      expect([...shown].sort()).toEqual(orderNow(db).sort());
      db.close();
    }),
  );
});

test('many wallets are read along the feed of all and few along their own: both give the same pages', () => {
  const db = openDb(':memory:');
  const add = worldOf(db);
  const buys = Array.from({ length: 400 }, (_, index) => ({
    trader: wallets[index % 3] ?? '',
    token: (index * 7) % 40,
    waitMs: (index * 331) % 1500,
  }));
  add(buys);
  const many = { ...scope, wallets: [...wallets, ...Array.from({ length: 300 }, (_, index) => `0x${index}`)] };
  const few = feedPage(db, { limit: 100 }, () => scope);
  expect(feedPage(db, { limit: 100 }, () => many)).toEqual(few);
  expect(few.ids).toEqual(orderNow(db).slice(0, 100));
  db.close();
});

test('to follow looks at the wallets of those who are followed, however many others are untracked', () => {
  const db = openDb(':memory:');
  const plans: unknown[] = [];
  const run = (sql: string, params: readonly SqlValue[] = []) => {
    plans.push(...db.all(`EXPLAIN QUERY PLAN ${sql}`, params).map(({ detail }) => detail));
    return db.run(sql, params);
  };
  follow({ ...db, run }, [['follower', 'target']], { partner: { id: 'a', suffix: '' }, nowMs: 0 });
  expect(plans).toContain('SEARCH wallet USING INDEX wallet_profile (profile_id=?)');
  expect(plans).not.toContain('SEARCH wallet USING INDEX wallet_ready (ready_ms=?)');
  db.close();
});

test('wallets that are first seen in one request get ids side by side, and each the id it has', () => {
  const db = openDb(':memory:');
  const wallets = Array.from({ length: 500 }, (_, index) => `0x${String(index).padStart(40, 'a')}`);
  const ids = findWallets(db, wallets, null);
  expect(new Set(ids.values()).size).toBe(500);
  expect(new Set([...ids.values()].map((id) => id.slice(0, 8))).size).toBe(1);
  const between = db.all<{ n: number }>('SELECT count(*) AS n FROM wallet WHERE profile_id BETWEEN ? AND ?', [
    [...ids.values()].sort()[0] ?? '',
    [...ids.values()].sort()[499] ?? '',
  ]);
  expect(between).toEqual([{ n: 500 }]);
  expect([...findWallets(db, [...wallets, '0xbb'.padEnd(42, '0')], null)].slice(0, 500)).toEqual([...ids]);
  db.close();
});
