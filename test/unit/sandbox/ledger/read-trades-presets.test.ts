import { createReadStream } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { ReadOptions } from '../../../../src/sandbox/ledger/read-trades.ts';
import type { Trade } from '../../../../src/sandbox/ledger/trade.ts';
import { collectEvents, countRepeats, inPieces } from '../../../support/trades.ts';

const wallet = '0x00000000000000000000000000000000000000aa';

const read = (text: string, options: Partial<ReadOptions>) => collectEvents(inPieces(Buffer.from(text), 7), options);

describe('hyperliquid fills', () => {
  const fill = (more: object) => ({
    coin: 'BTC',
    px: '100',
    sz: '1',
    side: 'B',
    time: 1_700_000_000_000,
    startPosition: '0',
    dir: 'Open Long',
    hash: '0x1',
    oid: 9,
    ...more,
  });
  const answer = (fills: object[]) =>
    JSON.stringify([{ request: { type: 'userFills', user: wallet }, response: fills }]);
  const readFills = (fills: object[]) => read(answer(fills), { preset: 'hyperliquid-fills' });
  const shape = ({ direction, side, amount, startAmount }: Trade) => [direction, side, amount, startAmount];

  test('a fill that crosses zero is two trades', async () => {
    const { trades } = await readFills([fill({ side: 'A', sz: '5', startPosition: '2', dir: 'Long > Short' })]);
    expect(trades.flatMap(shape)).toEqual(['long', 'sell', 2, 2, 'short', 'sell', 3, 0]);
    expect(trades.flatMap(({ usd, tx, orderId }) => [usd, tx, orderId])).toEqual([200, '0x1', '9', 300, '0x1', '9']);
    expect(countRepeats(trades)).toBe(0);
  });

  test('fills of one moment come in the order in which each starts where the last ended', async () => {
    const { lines } = await readFills([
      fill({ startPosition: '7', sz: '2' }),
      fill({ startPosition: '4', sz: '3' }),
      fill({ startPosition: '9', sz: '1' }),
      fill({ startPosition: '0', sz: '4', time: 1_600_000_000_000 }),
    ]);
    expect(lines).toEqual([4, 2, 1, 3]);
  });

  test('a trade of an account with itself leaves the position where it was', async () => {
    const { trades } = await readFills([
      fill({ startPosition: '20', sz: '130', side: 'B', dir: 'Open Long' }),
      fill({ startPosition: '20', sz: '130', side: 'A', dir: 'Long > Short' }),
    ]);
    expect(trades.flatMap(shape)).toEqual(['long', 'buy', 130, 20, 'long', 'sell', 130, 150]);
  });

  test('spot coins have no direction, and a buy brings the size less the fee', async () => {
    const spot = { coin: '@107', dir: 'Buy', fee: '0.25' };
    const { trades } = await readFills([
      fill(spot),
      fill({ ...spot, side: 'A', dir: 'Sell', sz: '0.75', startPosition: '0.75' }),
      fill({
        ...spot,
        side: 'A',
        dir: 'Spot Dust Conversion',
        sz: '0.1',
        startPosition: '0.1',
        fee: '0',
        time: 1_700_000_001_000,
      }),
    ]);
    expect(trades.flatMap(shape)).toEqual([null, 'buy', 0.75, 0, null, 'sell', 0.75, 0.75, null, 'sell', 0.1, 0.1]);
    expect(trades.map(({ usd }) => usd)).toEqual([100, 75, 10]);
  });

  test('errors name the number of the fill', async () => {
    const { rejected } = await readFills([
      fill({ sz: '-3' }),
      fill({ dir: 'Long > Short', side: 'A' }),
      fill({ dir: 'Open Short', time: 1_700_000_001_000 }),
      fill({ dir: 'Settlement', time: 1_700_000_002_000 }),
      fill({ coin: '', time: 1_700_000_003_000 }),
      fill({ side: 'constructor', time: 1_700_000_004_000 }),
    ]);
    expect(rejected.map(({ at, reason }) => `${at}: ${reason}`)).toEqual([
      'fill 1: sz "-3": must be a number above 0',
      'fill 6: side "constructor": must be B, A, BUY or SELL',
      'fill 2: dir "Long > Short": must fit startPosition 0 and sz 1',
      'fill 3: dir "Open Short": must fit side "B"',
      'fill 4: dir "Settlement": must fit startPosition 0 and sz 1',
      'fill 5: token is empty: must be a coin of 1 to 32 visible characters',
    ]);
  });

  test('a plain list is read when its fills name their user', async () => {
    const options = { preset: 'hyperliquid-fills' } as const;
    expect((await read(JSON.stringify([fill({ user: wallet })]), options)).trades).toHaveLength(1);
    await expect(read(JSON.stringify([fill({})]), options)).rejects.toThrow('no fills that name their account');
    await expect(read('[]', { ...options, chain: 'base' })).rejects.toThrow('holds trades on hyperliquid, not base');
  });

  test('the recorded answer: 500 fills, each starting where the last ended', async () => {
    const { trades, rejected } = await collectEvents(
      createReadStream('test/data/trades-hyperliquid/api_responses/get_user_fills.json'),
      { preset: 'hyperliquid-fills' },
    );
    expect(rejected).toEqual([]);
    expect(trades).toHaveLength(521);
    expect(countRepeats(trades)).toBe(0);
    const ends = new Map<string, number>();
    const breaks = trades.filter((trade) => {
      const key = `${trade.token} ${trade.direction}`;
      const start = trade.startAmount ?? Number.NaN;
      const expected = ends.get(key) ?? start;
      const isEntry = (trade.side === 'sell') === (trade.direction === 'short');
      ends.set(key, start + (isEntry ? trade.amount : -trade.amount));
      return Math.abs(start - expected) > 1e-6 * Math.max(1, start);
    });
    // The answer ends at 500 fills, between the halves of a trade of the account with itself.
    expect(breaks.map(({ token, atMs }) => [token, atMs])).toEqual([['SUI', 1_683_245_556_146]]);
  });
});
