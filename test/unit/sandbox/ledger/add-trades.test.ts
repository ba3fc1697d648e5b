import { expect, test } from 'vitest';
import { openDb } from '../../../../src/sandbox/db/store.ts';
import { addTrades } from '../../../../src/sandbox/ledger/add-trades.ts';
import type { Trade } from '../../../../src/sandbox/ledger/trade.ts';
import { fc } from '../../../support/draw.ts';
import { size } from '../../../support/size.ts';
import { tradeOf } from '../../../support/trades.ts';

const oneTrade = fc.record({
  trader: fc.constantFrom('0x1111111111111111111111111111111111111111', '0x2222222222222222222222222222222222222222'),
  token: fc.constantFrom('0xaaaa', '0xbbbb'),
  side: fc.constantFrom('buy' as const, 'sell' as const),
  direction: fc.constantFrom(null, 'long' as const, 'short' as const),
  amount: fc.double({ min: 0.001, max: 1e6, noNaN: true }),
  usd: fc.double({ min: 0.01, max: 1e6, noNaN: true }),
});

const someTrades = fc.array(oneTrade, { minLength: 1, maxLength: 25 }).map((list) =>
  list.map(
    (trade, index): Trade => ({
      ...trade,
      chain: trade.direction === null ? 'base' : 'hyperliquid',
      leverage: trade.direction === null ? 1 : 5,
      atMs: 1_000_000 + index * 1000,
      tx: `0x${index}`,
      rowKey: String(index),
    }),
  ),
);

function worldAfter(parts: readonly (readonly Trade[])[]): unknown[] {
  const db = openDb(':memory:');
  for (const part of parts) addTrades(db, part);
  const rows = [
    db.all('SELECT * FROM position ORDER BY id').map(({ key: _, ...row }) => row),
    db.all(
      `SELECT row_key, p.id, intent, t.realized_usd, margin_cost_usd, held_ms
       FROM trade t LEFT JOIN position p ON p.key = position_key ORDER BY row_key`,
    ),
    db.all('SELECT * FROM token ORDER BY chain, address'),
  ];
  db.close();
  return rows;
}

test('trades added in any pieces and any order make the same world as added once', () => {
  fc.assert(
    fc.property(someTrades, fc.infiniteStream(fc.nat(2)), (trades, pieces) => {
      const parts: Trade[][] = [[], [], []];
      for (const trade of trades) parts[pieces.next().value ?? 0]?.push(trade);
      expect(worldAfter(parts)).toEqual(worldAfter([trades]));
    }),
    { numRuns: size(20, 60) },
  );
});

test('a trade that fails to be stored leaves nothing behind', () => {
  const db = openDb(':memory:');
  const good = tradeOf({ rowKey: 'good' });
  expect(() => addTrades(db, [good, { ...good, rowKey: 'bad', usd: null as never }])).toThrow();
  expect(db.all('SELECT * FROM trade')).toEqual([]);
  expect(db.all('SELECT * FROM position')).toEqual([]);
  expect(addTrades(db, [good])).toMatchObject({ added: 1, repeated: 0 });
  expect(addTrades(db, [good])).toMatchObject({ added: 0, repeated: 1 });
});
