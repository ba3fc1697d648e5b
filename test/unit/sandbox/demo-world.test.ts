import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { base58 } from '@scure/base';
import { expect, test } from 'vitest';
import { demoWorld } from '../../../scripts/demo/world.ts';
import type { Trade } from '../../../src/sandbox/trades/trade.ts';

const world = demoWorld();
const dayMs = 86_400_000;
const recordedAccount = '0xb7b6f3cea3f66bf525f5d8f965f6dbf6d9b017b2';
const recorded = world.trades.filter(({ trader }) => trader === recordedAccount);
const generated = world.trades.filter(({ trader }) => trader !== recordedAccount);
const tradeByKey = new Map(world.trades.map((trade) => [trade.rowKey, trade]));
const personByAddress = new Map(
  world.people.flatMap((person) => person.addresses.map((one) => [one, person] as const)),
);
const nameOf = (address: string): string => personByAddress.get(address)?.name ?? address;

test('the built-in world is the same value on every call and every machine', () => {
  const hash = (value: unknown): string => createHash('sha256').update(JSON.stringify(value)).digest('hex');
  expect(hash(demoWorld())).toBe(hash(world));
  expect(hash(world)).toBe('d2b03deaba1ab78ef027e8e4e21c7ea73ab6b3496f8b1ee3d81c6711c9522f75');
});

test('trades are sorted by time, have their own row keys, and the newest is the newest moment', () => {
  const times = world.trades.map(({ atMs }) => atMs);
  expect(times).toEqual([...times].sort((one, other) => one - other));
  expect(Math.max(...times)).toBe(world.newestMs);
  expect(tradeByKey.size).toBe(world.trades.length);
  expect(world.newestMs - Math.min(...times)).toBeGreaterThan(35 * dayMs);
  expect(times.every(Number.isSafeInteger)).toBe(true);
});

test('there is enough to see on each of the four leaderboard chains, in the last day and in the last quarter hour', () => {
  const count = (chain: string): number => generated.filter((trade) => trade.chain === chain).length;
  expect(new Set(world.trades.map(({ chain }) => chain))).toEqual(
    new Set(['base', 'solana', 'ethereum', 'hyperliquid']),
  );
  const spot = count('base') + count('solana') + count('ethereum');
  expect(spot).toBeGreaterThanOrEqual(1500);
  expect(spot).toBeLessThanOrEqual(2500);
  expect(Math.min(count('base'), count('solana'), count('ethereum'), count('hyperliquid'))).toBeGreaterThan(150);
  expect(generated.filter(({ atMs }) => atMs > world.newestMs - dayMs).length).toBeGreaterThan(100);
  expect(generated.filter(({ atMs }) => atMs > world.newestMs - 900_000).length).toBeGreaterThan(2);
});

test('every address belongs to one person and is valid, EVM ones in lowercase', () => {
  const addresses = world.people.flatMap((person) => person.addresses);
  expect(new Set(addresses).size).toBe(addresses.length);
  for (const address of addresses) {
    if (address.startsWith('0x')) expect(address).toMatch(/^0x[0-9a-f]{40}$/);
    else expect(base58.decode(address)).toHaveLength(32);
  }
  for (const { chain, trader } of world.trades) {
    expect(personByAddress.has(trader)).toBe(true);
    expect(trader.startsWith('0x')).toBe(chain !== 'solana');
  }
});

test('token addresses, transaction hashes and order ids have the form of their chain', () => {
  for (const { chain, token, tx, orderId, direction, leverage, side, amount, usd } of world.trades) {
    if (chain === 'solana') {
      expect(base58.decode(token)).toHaveLength(32);
      expect(base58.decode(tx ?? '')).toHaveLength(64);
    } else {
      expect(tx).toMatch(/^0x[0-9a-f]{64}$/);
      expect(token).toMatch(chain === 'hyperliquid' ? /^[A-Z]{2,5}$/ : /^0x[0-9a-f]{40}$/);
    }
    expect(direction === null).toBe(chain !== 'hyperliquid');
    expect(orderId === undefined).toBe(chain !== 'hyperliquid');
    if (direction === null) expect(leverage).toBe(1);
    expect(leverage).toBeLessThanOrEqual(20);
    expect(['buy', 'sell']).toContain(side);
    expect(amount).toBeGreaterThan(0);
    expect(usd).toBeGreaterThan(0);
  }
  expect(new Set(generated.map(({ tx }) => tx)).size).toBe(generated.length);
});

test('no account holds the same perp long and short at once', () => {
  const held = new Map<string, number>();
  for (const { trader, token, direction, side, amount } of world.trades.filter(({ direction }) => direction)) {
    const key = `${trader} ${token} ${direction}`;
    const opens = (side === 'buy') === (direction === 'long');
    const start = recorded.find((fill) => fill.token === token && fill.direction === direction)?.startAmount ?? 0;
    const before = held.get(key) ?? (trader === recordedAccount ? start : 0);
    held.set(key, Number((before + (opens ? amount : -amount)).toFixed(6)));
    expect(held.get(key)).toBeGreaterThanOrEqual(0);
    const other = held.get(`${trader} ${token} ${direction === 'long' ? 'short' : 'long'}`) ?? 0;
    expect(other === 0 || held.get(key) === 0).toBe(true);
  }
});

test('the traders: thirty named, some with several wallets, bare ones, one being backfilled, at least twelve on two chains', () => {
  const chainsOf = new Map<string, Set<string>>();
  for (const { trader, chain } of world.trades) {
    const name = nameOf(trader);
    chainsOf.set(name, (chainsOf.get(name) ?? new Set()).add(chain));
  }
  expect(world.people.filter(({ name }) => name !== null)).toHaveLength(32);
  expect(world.people.filter(({ tracking }) => tracking === 'unnamed')).toHaveLength(9);
  expect(world.people.filter(({ tracking }) => tracking === 'backfilling')).toHaveLength(1);
  expect(world.people.filter(({ addresses }) => addresses.length > 1).length).toBeGreaterThan(10);
  expect([...chainsOf.values()].filter((chains) => chains.size >= 2).length).toBeGreaterThanOrEqual(12);
  expect(new Set(generated.map(({ chain, token }) => `${chain} ${token}`)).size).toBe(32);
});

test('realized PnL of 30 days runs from about +400k to about -80k, and a good week is not always a good month', () => {
  const month = realizedByName(30);
  const week = realizedByName(7);
  const totals = [...month.values()].sort((one, other) => other - one);
  expect(totals[0]).toBeGreaterThan(350_000);
  expect(totals[0]).toBeLessThan(450_000);
  expect(totals.at(-1)).toBeGreaterThan(-95_000);
  expect(totals.at(-1)).toBeLessThan(-65_000);
  expect(week.get('petrichor')).toBeGreaterThan(100);
  expect(month.get('petrichor')).toBeLessThan(-100);
  expect(week.get('Priya Venn')).toBeLessThan(-100);
  expect(month.get('Priya Venn')).toBeGreaterThan(100);
  expect(month.has('quietbid')).toBe(false);
});

test('every comment is by a person of the world on a trade of their own worth at least 10 USD', () => {
  expect(world.comments.length).toBeGreaterThanOrEqual(55);
  expect(new Set(world.comments.map(({ tradeRowKey }) => tradeRowKey)).size).toBe(world.comments.length);
  expect(new Set(world.comments.map(({ text }) => text)).size).toBe(world.comments.length);
  for (const { tradeRowKey, text, atMs, replies, byPartner } of world.comments) {
    const trade = tradeByKey.get(tradeRowKey);
    expect(personByAddress.get(trade?.trader ?? '')?.name).toEqual(expect.any(String));
    expect(trade?.usd).toBeGreaterThanOrEqual(10);
    expect(atMs).toBeGreaterThanOrEqual(trade?.atMs ?? Infinity);
    expect(atMs).toBeLessThanOrEqual(world.newestMs);
    expect(text).not.toMatch(/[{}]|undefined|NaN/);
    expect(['a', 'b', null]).toContain(byPartner);
    for (const reply of replies) {
      expect(personByAddress.has(reply.authorAddress)).toBe(true);
      expect(reply.text).not.toBe('');
      expect(reply.atMs).toBeGreaterThanOrEqual(atMs);
      expect(reply.atMs).toBeLessThanOrEqual(world.newestMs);
    }
  }
  const ages = world.comments.map(({ atMs }) => (world.newestMs - atMs) / dayMs);
  expect(ages.filter((age) => age > 30).length).toBeGreaterThan(5);
  expect(ages.filter((age) => age < 1).length).toBeGreaterThan(5);
  expect(world.comments.filter(({ replies }) => replies.length > 0).length).toBeGreaterThan(15);
});

test('nobody speaks for the real account of the recorded fills, and nothing is made up about it', () => {
  const person = personByAddress.get(recordedAccount);
  expect(person).toMatchObject({ name: null, metadata: {}, addresses: [recordedAccount] });
  expect(world.comments.some(({ tradeRowKey }) => tradeByKey.get(tradeRowKey)?.trader === recordedAccount)).toBe(false);
  expect(world.follows.some(({ follower }) => follower === recordedAccount)).toBe(false);
});

test('ten comments have been copied, each copy by a real buy of that token within the hour', () => {
  expect(new Set(world.copies.map(({ commentTradeRowKey }) => commentTradeRowKey)).size).toBe(10);
  for (const copy of world.copies) {
    const comment = world.comments.find(({ tradeRowKey }) => tradeRowKey === copy.commentTradeRowKey);
    const commented = tradeByKey.get(copy.commentTradeRowKey);
    const buy = world.trades.find(({ trader, atMs }) => trader === copy.actorAddress && atMs === copy.atMs);
    expect(buy).toMatchObject({ side: 'buy', usd: copy.usd, chain: commented?.chain, token: commented?.token });
    expect(nameOf(copy.actorAddress)).not.toBe(nameOf(commented?.trader ?? ''));
    expect(copy.atMs - (comment?.atMs ?? 0)).toBeGreaterThan(0);
    expect(copy.atMs - (comment?.atMs ?? 0)).toBeLessThan(3_600_000);
  }
});

test('names fit the service: 3 to 18 letters, digits or underscores, once per partner ignoring case; both partners have users', () => {
  for (const partner of ['a', 'b']) {
    const names = world.names.filter((one) => one.partner === partner).map(({ name }) => name);
    expect(names.length).toBeGreaterThan(12);
    expect(new Set(names.map((name) => name.toLowerCase())).size).toBe(names.length);
    for (const name of names) expect(name).toMatch(/^[a-zA-Z0-9_]{3,18}$/);
  }
  expect(world.names.every(({ address }) => personByAddress.has(address))).toBe(true);
});

test('follows: no edge twice, nobody follows themselves, both ends are people of the world', () => {
  const edges = new Set(world.follows.map(({ follower, target, partner }) => `${follower} ${target} ${partner}`));
  expect(edges.size).toBe(world.follows.length);
  expect(edges.size).toBeGreaterThan(150);
  for (const { follower, target } of world.follows) {
    expect(nameOf(follower)).not.toBe(nameOf(target));
    expect(personByAddress.has(follower) && personByAddress.has(target)).toBe(true);
  }
});

test('each recorded fill starts where the one before it in its coin ended, and the account ends flat in all 15 coins', () => {
  const held = new Map<string, number>();
  for (const { token, direction, side, amount, startAmount = 0 } of recorded) {
    const start = direction === 'short' ? -startAmount : startAmount;
    expect(start).toBeCloseTo(held.get(token) ?? start, 6);
    held.set(token, start + (side === 'buy' ? amount : -amount));
  }
  expect(held.size).toBe(15);
  for (const end of held.values()) expect(end).toBeCloseTo(0, 6);
});

test('the fills are those of the recording itself', () => {
  const recording = readFileSync('test/data/trades-hyperliquid/api_responses/get_user_fills.json', 'utf8');
  const [{ response }] = JSON.parse(recording);
  const shiftMs = recorded.reduce((last, { atMs }) => Math.max(last, atMs), 0) - 1683245884863;
  const merged = new Map<string, { text: string; amount: number }>();
  for (const trade of recorded) {
    const { token, side, orderId, tx, atMs, amount, usd, rowKey } = trade;
    const key = rowKey.replace(':flip', '');
    const text = [token, side, orderId, tx, atMs - shiftMs, (usd / amount).toFixed(6)].join(' ');
    expect(merged.get(key)?.text ?? text).toBe(text);
    merged.set(key, { text, amount: amount + (merged.get(key)?.amount ?? 0) });
  }
  const ours = [...merged.values()].map(({ text, amount }) => `${text} ${amount.toFixed(4)}`);
  const theirs = response.map(
    ({ coin, side, oid, hash, time, px, sz }: Record<string, string>) =>
      `${coin} ${side === 'B' ? 'buy' : 'sell'} ${oid} ${hash} ${time} ${Number(px).toFixed(6)} ${Number(sz).toFixed(4)}`,
  );
  expect(theirs).toHaveLength(500);
  expect(ours.sort()).toEqual(theirs.sort());
});

/** Realized USD by first in, first out, per person, for sales of the last days; what was never bought realizes nothing. */
function realizedByName(days: number): Map<string, number> {
  const lots = new Map<string, { amount: number; price: number }[]>();
  const realized = new Map<string, number>();
  for (const trade of world.trades) {
    const price = trade.usd / trade.amount;
    const queue = queueOf(lots, trade);
    if ((trade.side === 'buy') !== (trade.direction === 'short')) {
      queue.push({ amount: trade.amount, price });
      continue;
    }
    let left = trade.amount;
    let gain = 0;
    for (let lot = queue[0]; lot && left > 1e-9; lot = queue[0]) {
      const used = Math.min(left, lot.amount);
      gain += used * (price - lot.price) * (trade.direction === 'short' ? -1 : 1);
      left -= used;
      lot.amount -= used;
      if (lot.amount < 1e-9) queue.shift();
    }
    if (trade.atMs <= world.newestMs - days * dayMs) continue;
    realized.set(nameOf(trade.trader), (realized.get(nameOf(trade.trader)) ?? 0) + gain);
  }
  return realized;
}

function queueOf<T>(lots: Map<string, T[]>, { trader, chain, token, direction }: Trade): T[] {
  const key = `${trader} ${chain} ${token} ${direction}`;
  const queue = lots.get(key) ?? [];
  lots.set(key, queue);
  return queue;
}
