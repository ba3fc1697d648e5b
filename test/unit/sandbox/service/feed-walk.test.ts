import { expect, test } from 'vitest';
import { type Db, openDb } from '../../../../src/sandbox/db/store.ts';
import { ensureWorld } from '../../../../src/sandbox/db/world.ts';
import { addTrades } from '../../../../src/sandbox/ledger/add-trades.ts';
import { createService } from '../../../../src/sandbox/serve/answer.ts';
import { fc } from '../../../support/draw.ts';
import { tradeOf } from '../../../support/trades.ts';

const trader = `0x${'1'.repeat(40)}`;
const startMs = 1_700_000_000_000;

/** One buy: which of many tokens, and how long after the one before, in ms. */
const oneBuy = fc.record({ token: fc.nat(15), waitMs: fc.constantFrom(0, 0, 1, 400, 1000, 60_000) });

type Buy = typeof oneBuy extends fc.Arbitrary<infer Value> ? Value : never;

/** What the feed holds at the start, then the trades that arrive before each next page. */
const story = fc.record({
  before: fc.array(oneBuy, { maxLength: 60 }),
  between: fc.array(fc.array(oneBuy, { maxLength: 4 }), { maxLength: 30 }),
  limit: fc.integer({ min: 1, max: 7 }),
});

interface Page {
  ids: string[];
  olderCursor: string | null;
  newerCursor: string | null;
}

function makeWorld() {
  const db = openDb(':memory:');
  ensureWorld(db, startMs, 'empty');
  const answer = createService({ db, now: () => startMs + 86_400_000, wire: {} });
  let [atMs, count] = [startMs, 0];
  const add = (buys: readonly Buy[]): string[] => {
    const trades = buys.map(({ token, waitMs }) => {
      atMs += waitMs;
      count += 1;
      return tradeOf({ trader, token: `0x${token}`, usd: 100, atMs, tx: `0x${count}`, rowKey: String(count) });
    });
    addTrades(db, trades);
    const tokens = JSON.stringify(trades.map(({ token }) => token));
    return db.values('SELECT id FROM position WHERE token IN (SELECT value FROM json_each(?))', [tokens]);
  };
  const read = async (query: string): Promise<Page> => {
    const target = `/v1/feed/actor?identifier=${trader}&chains=all&${query}`;
    const [origin, authorization] = ['http://127.0.0.1', 'Bearer sandbox-key-a'];
    const { text } = await answer({ method: 'GET', origin, target, authorization, body: () => '' });
    const { items, pagination } = JSON.parse(text);
    return { ids: items.map(({ itemId }: { itemId: string }) => itemId), ...pagination };
  };
  /** The ids that a walk shows, page by page, with trades arriving after each page; and the cards that these moved. */
  const walk = async (way: 'older' | 'newer', query: string, limit: number, between: readonly Buy[][]) => {
    const pages: Page[] = [];
    const moved = new Set<string>();
    for (let next: string | null = query; next !== null; ) {
      const page = await read(`limit=${limit}&${next}`);
      const cursor: string | null = page[`${way}Cursor`];
      pages.push(page);
      next = cursor && `${way}Than=${cursor}`;
      if (next !== null) for (const id of add(between[pages.length - 1] ?? [])) moved.add(id);
    }
    return { pages, shown: pages.flatMap(({ ids }) => ids), moved };
  };
  return { db, add, walk };
}

const orderNow = (db: Db) => db.values<string>('SELECT id FROM position ORDER BY latest_ms DESC, id');

test('a walk to older cards shows no card twice and all that did not move meanwhile, in order', async () => {
  await fc.assert(
    fc.asyncProperty(story, async ({ before, between, limit }) => {
      const { db, add, walk } = makeWorld();
      add(before);
      const atStart = orderNow(db);
      const { shown, moved } = await walk('older', '', limit, between);
      expect(new Set(shown).size).toBe(shown.length);
      const stayed = (ids: string[]) => ids.filter((id) => !moved.has(id));
      expect(stayed(shown)).toEqual(stayed(atStart));
      db.close();
    }),
  );
});

test('a walk through what is newer than a time shows the newest first, each card of the window once and none before it', async () => {
  await fc.assert(
    fc.asyncProperty(story, fc.nat(200), async ({ before, limit }, nth) => {
      const { db, add, walk } = makeWorld();
      add(before);
      const rows = db.all<{ id: string; sec: number }>(
        'SELECT id, latest_ms / 1000 AS sec FROM position ORDER BY latest_ms DESC, id',
      );
      const since = rows[nth % Math.max(rows.length, 1)]?.sec ?? 0;
      const { shown } = await walk('older', `newerThan=${new Date(since * 1000).toISOString()}`, limit, []);
      expect(shown).toEqual(rows.filter(({ sec }) => sec > since).map(({ id }) => id));
      db.close();
    }),
  );
});

test('down to the end and up again: the way back shows what lies above the last page, and all that arrived', async () => {
  await fc.assert(
    fc.asyncProperty(story, async ({ before, between, limit }) => {
      const { db, add, walk } = makeWorld();
      add(before);
      const { pages } = await walk('older', '', limit, between.slice(0, 5));
      const last = pages.at(-1);
      if (last?.newerCursor) {
        const up = await walk('newer', `newerThan=${last.newerCursor}`, limit, between.slice(5));
        expect([...new Set([...last.ids, ...up.shown])].sort()).toEqual(orderNow(db).sort());
      }
      db.close();
    }),
  );
});
