import { join } from 'node:path';
import { expect, test } from 'vitest';
import { countRows, openDb } from '../../../../src/sandbox/db/store.ts';
import { importTrades } from '../../../../src/sandbox/ledger/import-trades.ts';
import { temporaryFolder } from '../../../support/harness.ts';
import { now, tradeOf, wallet } from '../../../support/trades.ts';

/** Buys, one a second. */
const events = Array.from({ length: 25 }, (_, index) => {
  const trade = tradeOf({ trader: wallet(`${index % 3}`), atMs: now - 60_000 + index * 1000, rowKey: String(index) });
  return { kind: 'trade' as const, trade, line: index + 2 };
});

async function* inOneBatch() {
  yield events;
}

test('trades are stored in batches; those stored before an import was given up stay, and the next imports the others', async () => {
  const file = join(temporaryFolder(), 'sandbox.db');
  const importAll = async (onStored: (trades: number) => Promise<void>) => {
    const db = openDb(file);
    const options = { db, nowMs: now, name: 'file', events: inOneBatch(), onStored };
    const [report] = await Promise.allSettled([importTrades({ ...options, ownTime: false, batchSize: 10 })]);
    const trades = countRows(db, 'trade');
    db.close();
    return { report, trades };
  };
  const told: number[] = [];
  const first = await importAll(async (stored) => {
    told.push(stored);
    if (stored === 20) throw new Error('given up');
  });
  expect([told, first]).toMatchObject([[10, 20], { report: { reason: { message: 'given up' } }, trades: 20 }]);
  const second = await importAll(async () => undefined);
  expect(second).toMatchObject({ report: { value: { rows: 25, imported: 5, repeated: 20 } }, trades: 25 });
});
