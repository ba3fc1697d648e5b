import { join } from 'node:path';
import { expect, test } from 'vitest';
import { freezeClock } from '../../src/sandbox/db/settings.ts';
import { type Db, openDb, type SqlParams } from '../../src/sandbox/db/store.ts';
import { advanceClock, ensureWorld } from '../../src/sandbox/db/world.ts';
import { addTrades } from '../../src/sandbox/ledger/add-trades.ts';
import { keepTotals } from '../../src/sandbox/ledger/figures.ts';
import { createService } from '../../src/sandbox/serve/answer.ts';
import { temporaryFolder } from '../support/harness.ts';
import { dayMs, largeNow, largeWorld, tokenOf, tradeAt, traderOf } from '../support/large-world.ts';

const authorization = 'Bearer sandbox-key-a';

function asking(db: Db, now: () => number = () => largeNow) {
  const answer = createService({ db, now, wire: {} });
  return async (target: string) => {
    const origin = 'http://localhost';
    const answered = await answer({ method: 'GET', origin, target, authorization, body: () => '' });
    expect(answered.headers['content-type']).toBe('application/json');
    return JSON.parse(answered.text);
  };
}

const trade = (index: number, atMs: number) => ({
  ...tradeAt(index),
  // Only sells are counted.
  side: 'sell' as const,
  trader: traderOf(1),
  atMs,
  rowKey: `${index} ${atMs}`,
});
const profile = `/v1/addresses/${traderOf(1)}/profile`;

test('an answer changes at the very millisecond at which a trade leaves a window or comes into it', async () => {
  const db = openDb(':memory:');
  try {
    ensureWorld(db, largeNow, 'empty');
    addTrades(db, [trade(0, largeNow - 6 * dayMs), trade(1, largeNow + 5000)]);
    let nowMs = largeNow;
    const ask = asking(db, () => nowMs);
    const counts = async (atMs: number) => {
      nowMs = atMs;
      const { metadata } = await ask(profile);
      return [metadata.tradeCount7d, metadata.tradeCount30d];
    };
    expect(await counts(largeNow)).toEqual([1, 1]);
    expect(await counts(largeNow + 4999)).toEqual([1, 1]);
    expect(await counts(largeNow + 5000)).toEqual([2, 2]);
    expect(await counts(largeNow + dayMs - 1)).toEqual([2, 2]);
    expect(await counts(largeNow + dayMs)).toEqual([1, 2]);
    expect(await counts(largeNow + 24 * dayMs)).toEqual([0, 1]);
    // Back again: a clock may be set to the past.
    expect(await counts(largeNow)).toEqual([1, 1]);
    nowMs = largeNow;
    freezeClock(db, largeNow + 10_000);
    expect((await ask(profile)).metadata.tradeCount7d).toBe(2);
    advanceClock(db, 30 * dayMs, nowMs);
    expect((await ask(profile)).metadata.tradeCount30d).toBe(0);
  } finally {
    db.close();
  }
});

const bigTables = 'trade|position|wallet|profile';

/** The steps of a plan that read a big table from end to end; not those that walk an index in order and stop at a limit. */
function scans(db: Db, sql: string, params: SqlParams): string[] {
  const names = [...sql.matchAll(new RegExp(`\\b(?:FROM|JOIN)\\s+(${bigTables})\\b(?:\\s+(?:AS\\s+)?(\\w+))?`, 'g'))];
  const aliases = new Set(names.flatMap(([, table, alias]) => [table, alias]));
  const plan = db.all<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`, params).map(({ detail }) => detail);
  const stops =
    /LIMIT (?:\?|:\w+|\d+)$/.test(sql.trim()) && !plan.some((step) => step.includes('TEMP B-TREE FOR ORDER BY'));
  return plan.filter((step) => {
    const [, table, using] = /^SCAN (\w+)( USING)?/.exec(step) ?? [];
    // All of a chain is next to all.
    const [, part] = /^SEARCH (\w+) USING .*\(chain=\?\)$/.exec(step) ?? [];
    return (
      (table !== undefined && aliases.has(table) && !(stops && using !== undefined)) ||
      (part !== undefined && aliases.has(part))
    );
  });
}

test('frequent requests read no big table from end to end', async () => {
  const db = largeWorld(join(temporaryFolder(), 'sandbox.db'));
  keepTotals(db, largeNow);
  try {
    const asked: [string, SqlParams][] = [];
    const watched: Db = {
      ...db,
      all: (sql, params = []) => {
        asked.push([sql, params]);
        return db.all(sql, params);
      },
      get: (sql, params = []) => {
        asked.push([sql, params]);
        return db.get(sql, params);
      },
    };
    const ask = asking(watched);
    const paths = [
      '/v2/leaderboard',
      '/v2/leaderboard?timeframe=7d&chains=base&onlyWithComments=true',
      `/v2/leaderboard/ranking?address=${traderOf(1)}`,
      '/v2/leaderboard/copytraded',
      '/v1/leaderboard',
      profile,
      `/v1/feed/actor?identifier=${traderOf(1)}&includeForYou=true`,
      `/v1/feed?addresses=${traderOf(1)}`,
      `/v1/swap-comments?transactionHashes=${tradeAt(5).tx}&chain=ethereum`,
      `/v1/tokens/base/${tokenOf(1)}/comments`,
      ...['open', 'closed'].flatMap((status) =>
        ['value', 'latest'].flatMap((sort) => [
          `/v1/tokens/base/${tokenOf(1)}/positions/${status}?sort=${sort}`,
          `/v1/addresses/${traderOf(1)}/positions/${status}?sort=${sort}`,
        ]),
      ),
    ];
    for (const path of paths) expect([path, Object.keys(await ask(path))]).not.toEqual([path, ['error']]);
    expect(asked.length).toBeGreaterThan(50);
    expect(asked.flatMap(([sql, params]) => scans(db, sql, params).map((step) => [step, sql]))).toEqual([]);
    // The test itself would see a scan.
    expect(scans(db, 'SELECT sum(t.usd) FROM trade t', [])).toEqual(['SCAN t USING COVERING INDEX trade_wallet']);
    expect(scans(db, "SELECT t.tx FROM trade t WHERE t.chain = 'base'", [])).toEqual([
      'SEARCH t USING INDEX trade_token (chain=?)',
    ]);
  } finally {
    db.close();
  }
});
