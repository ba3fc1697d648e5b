import { createReadStream, existsSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { ReadOptions } from '../../../../src/sandbox/ledger/read-trades.ts';
import type { Trade } from '../../../../src/sandbox/ledger/trade.ts';
import { collectEvents, countRepeats, inPieces } from '../../../support/trades.ts';

const data = '../shared/data';
const wallet = '0x00000000000000000000000000000000000000aa';

const read = (text: string, options: Partial<ReadOptions>) => collectEvents(inPieces(Buffer.from(text), 7), options);
const readFile = (name: string, options: Partial<ReadOptions>) =>
  collectEvents(createReadStream(`${data}/${name}`), options);

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
    expect(trades.map(shape)).toEqual([
      ['long', 'sell', 2, 2],
      ['short', 'sell', 3, 0],
    ]);
    expect(trades.map(({ usd, tx, orderId }) => [usd, tx, orderId])).toEqual([
      [200, '0x1', '9'],
      [300, '0x1', '9'],
    ]);
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
    expect(trades.map(shape)).toEqual([
      ['long', 'buy', 130, 20],
      ['long', 'sell', 130, 150],
    ]);
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
    expect(trades.map(shape)).toEqual([
      [null, 'buy', 0.75, 0],
      [null, 'sell', 0.75, 0.75],
      [null, 'sell', 0.1, 0.1],
    ]);
    expect(trades.map(({ usd }) => usd)).toEqual([100, 75, 10]);
  });

  test('what is wrong is told with the number of the fill', async () => {
    const { rejected } = await readFills([
      fill({ sz: '-3' }),
      fill({ dir: 'Long > Short', side: 'A' }),
      fill({ dir: 'Open Short', time: 1_700_000_001_000 }),
      fill({ dir: 'Settlement', time: 1_700_000_002_000 }),
      fill({ coin: '', time: 1_700_000_003_000 }),
      fill({ side: 'constructor', time: 1_700_000_004_000 }),
    ]);
    expect(rejected.map(({ place, reason }) => `${place}: ${reason}`)).toEqual([
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
    expect((await read(JSON.stringify([fill({})]), options)).fatal[0]).toContain('no fills that name their account');
    expect((await read('[]', { ...options, chain: 'base' })).fatal[0]).toContain(
      'holds trades on hyperliquid, not base',
    );
  });

  test('the recorded answer: 500 fills, each starting where the last ended', async () => {
    const { trades, rejected } = await collectEvents(
      createReadStream('test/data/trades-hyperliquid/api_responses/get_user_fills.json'),
      {
        preset: 'hyperliquid-fills',
      },
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

  test.skipIf(!existsSync(data))('the CSV export: 8,111 fills, three of which cross zero', async () => {
    const { trades, rejected, lines } = await readFile('trades-hyperliquid/hyperliquid_fills_2024-2025.csv.gz', {
      preset: 'hyperliquid-fills',
    });
    expect(rejected).toEqual([]);
    expect(trades).toHaveLength(8114);
    expect(new Set(lines).size).toBe(8111);
    expect(countRepeats(trades)).toBe(0);
    expect(trades.filter((trade) => trade.direction === null)).toHaveLength(1099);
  });
});

describe.skipIf(!existsSync(data))('the real files (need ../shared/data)', () => {
  test('pump.fun swaps: all but the 58 rows whose trader is a redacted label', async () => {
    const { trades, rejected } = await readFile('trades-solana/pumpfun_swaps_2026-06.csv.gz', { preset: 'pumpfun' });
    expect(trades).toHaveLength(7102);
    expect(rejected).toHaveLength(58);
    expect(rejected.every(({ reason }) => /^trader "RDCT-[0-9a-f]+": must be a Solana address/.test(reason))).toBe(
      true,
    );
    expect(rejected[0]?.line).toBe(22);
    expect(countRepeats(trades)).toBe(3);
    expect(trades[0]).toMatchObject({
      chain: 'solana',
      trader: 'DQmMnakiKr1YNE2gcpggLCzBrauBwFbQkAaao2FTbjgp',
      token: '6Fzphy2B4JTUteQ8jGtj9Tc9anpttVXY3CRgGuJTpump',
      tokenSupply: 1_000_000_000,
      side: 'buy',
      amount: 2_249_329.2,
      usd: 0.162712,
      atMs: 1_782_611_393_000,
    });
    expect(trades[0]?.tokenSymbol).toBeUndefined();
  });

  test('the same swaps without a preset, by the names of their columns', async () => {
    const { trades } = await readFile('trades-solana/pumpfun_swaps_2026-06.csv.gz', { chain: 'solana' });
    expect(trades).toHaveLength(7102);
  });

  test("Dune's swaps: every row is a trade, another layer's copy, or a swap of a token with itself", async () => {
    const { trades, rejected, skipped, lines } = await readFile('trades-evm/dune_dex_trades_2022-04-20.csv.gz', {
      preset: 'dune',
    });
    expect([new Set(lines).size, skipped.length, rejected.length]).toEqual([13_582, 1265, 31]);
    expect(trades).toHaveLength(13_812);
    expect(countRepeats(trades)).toBe(0);
    expect(rejected.filter(({ reason }) => reason.startsWith('token_b_symbol'))).toHaveLength(27);
    expect(rejected.filter(({ reason }) => reason.startsWith('amount is empty'))).toHaveLength(4);
    expect(trades[0]).toMatchObject({ chain: 'ethereum', tokenSymbol: 'APE', side: 'buy', usd: 57_654.7358032712 });
  });
});

describe("Dune's swaps", () => {
  const columns =
    'block_time,chain,project,category,token_a_symbol,token_b_symbol,token_a_amount,token_b_amount,usd_amount,trader_a';
  const swap = (project: string, category: string, a: string, b: string, second = '01') =>
    `2022-04-20T00:00:${second}+00:00,ethereum,${project},${category},${a},${b},4,5,100,${wallet}\n`;
  const readSwaps = (...swaps: string[]) => read(`${columns}\n${swaps.join('')}`, { preset: 'dune' });
  const shape = ({ tokenSymbol, side, amount }: Trade) => [tokenSymbol, side, amount];

  test('token a is bought with token b, but for the projects of the 0x family', async () => {
    const { trades } = await readSwaps(
      swap('Uniswap', 'DEX', 'APE', 'WETH'),
      swap('Uniswap', 'DEX', 'WETH', 'LOOKS', '02'),
      swap('Matcha', 'Aggregator', 'USDC', 'APE', '03'),
      swap('Uniswap', 'DEX', 'WETH', 'USDC', '04'),
      swap('Uniswap', 'DEX', 'ICHI', 'BNT', '05'),
    );
    expect(trades.map(shape)).toEqual([
      ['APE', 'buy', 4],
      ['LOOKS', 'sell', 5],
      ['APE', 'buy', 5],
      ['WETH', 'buy', 4],
      ['BNT', 'sell', 5],
      ['ICHI', 'buy', 4],
    ]);
    expect(trades.map(({ token }) => token)[0]).toBe(trades[2]?.token);
    expect(trades[0]?.token).toMatch(/^0x[0-9a-f]{40}$/);
  });

  test('a swap that several layers report counts once', async () => {
    const { lines, skipped } = await readSwaps(
      swap('0x API', 'Aggregator', 'ETH', 'APE'),
      swap('Matcha', 'Aggregator', 'WETH', 'APE'),
      swap('Uniswap', 'DEX', 'APE', 'WETH'),
      swap('Sushiswap', 'DEX', 'APE', 'WETH'),
      swap('0x API', 'Aggregator', 'APE', 'WETH', '02'),
      swap('Matcha', 'Aggregator', 'APE', 'WETH', '02'),
    );
    expect(lines).toEqual([4, 5, 6]);
    expect(skipped).toEqual([2, 3, 7]);
  });
});
