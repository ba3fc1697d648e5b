import { createReadStream, existsSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { applyTrade, type PositionState } from '../../../../src/sandbox/ledger/positions.ts';
import { collectEvents } from '../../../support/trades.ts';

const file = '../shared/data/trades-hyperliquid/hyperliquid_fills_2024-2025.csv.gz';
const name =
  'realized gains of the 28 perps that end flat are the Closed PnL the exchange gives (needs ../shared/data)';

/** The exchange's own figures, read without any of the code under test. */
function exchangeFigures() {
  const [, ...lines] = gunzipSync(readFileSync(file)).toString('utf8').trim().split(/\r?\n/);
  const figures = new Map<string, { fills: number; volume: number; pnl: number }>();
  for (const line of lines) {
    const cells = line.split(',');
    const pair = `${cells[0]} ${cells[1]}`;
    const old = figures.get(pair) ?? { fills: 0, volume: 0, pnl: 0 };
    figures.set(pair, { fills: old.fills + 1, volume: old.volume + Number(cells[4]), pnl: old.pnl + Number(cells[9]) });
  }
  return figures;
}

function held(position: PositionState | undefined): number {
  return position?.lots.reduce((sum, lot) => sum + lot.amount, 0) ?? 0;
}

/** Our figures for each account and coin: what was realized in all of its positions, and what is left in them, dust of earlier ones included. */
async function readFigures() {
  const newest = new Map<string, PositionState>();
  const leftBehind = new Map<string, number>();
  const figures = new Map<string, { realized: number; left: number }>();
  const source = createReadStream(file);
  const { trades } = await collectEvents(source, { preset: 'hyperliquid-fills' });
  for (const trade of trades) {
    const pair = `${trade.trader} ${trade.token}`;
    const key = `${pair} ${trade.direction}`;
    const { position, effect, opened } = applyTrade(newest.get(key), trade);
    if (opened) leftBehind.set(pair, (leftBehind.get(pair) ?? 0) + held(newest.get(key)));
    newest.set(key, position);
    const sofar = figures.get(pair)?.realized ?? 0;
    figures.set(pair, { realized: sofar + effect.realizedUsd, left: 0 });
  }
  for (const [pair, figure] of figures) {
    const last = ['long', 'short', null].map((direction) => held(newest.get(`${pair} ${direction}`)));
    figure.left = last.reduce((sum, amount) => sum + amount, leftBehind.get(pair) ?? 0);
  }
  return figures;
}

let read: ReturnType<typeof readFigures> | undefined;
const ourFigures = () => (read ??= readFigures());

test.skipIf(!existsSync(file))(name, async () => {
  const theirs = exchangeFigures();
  const ours = await ourFigures();
  const flat = [...ours].filter(([pair, { left }]) => !pair.includes('@') && left < 1e-9);
  expect(flat).toHaveLength(28);
  const shares = flat.map(([pair, { realized }]) => {
    const { pnl, volume } = theirs.get(pair) ?? { pnl: Number.NaN, volume: Number.NaN };
    return Math.abs(realized - pnl) / volume;
  });
  expect(Math.max(...shares)).toBeLessThanOrEqual(4e-5);
  expect(shares.filter((share) => share <= 2.5e-6).length).toBeGreaterThanOrEqual(26);
});

test.skipIf(!existsSync(file))(
  'the perps that stay open hold what the last fill left (needs ../shared/data)',
  async () => {
    const ours = await ourFigures();
    const open = [...ours].filter(([pair, { left }]) => !pair.includes('@') && left >= 1e-9);
    expect(open.map(([pair]) => pair.slice(0, 6) + pair.slice(42)).sort()).toEqual([
      '0x513b BTC',
      '0x513b SOL',
      '0xae5e DYDX',
      '0xae5e GMX',
    ]);
    expect(ours.get('0xae5eacaf9c6b9111fd53034a602c192a04e082ed DYDX')?.left).toBeCloseTo(600_000, 6);
    expect(ours.get('0xae5eacaf9c6b9111fd53034a602c192a04e082ed GMX')?.left).toBeCloseTo(5000, 6);
  },
);

test.skipIf(!existsSync(file))(
  'spot coins, bought less their fee, end flat with the gain of the exchange (needs ../shared/data)',
  async () => {
    const pair = '0xae5eacaf9c6b9111fd53034a602c192a04e082ed @107';
    const ours = (await ourFigures()).get(pair);
    expect(ours?.left).toBeLessThan(1e-6);
    expect(Math.abs((ours?.realized ?? 0) - 12220.322122)).toBeLessThan(0.05);
  },
);
