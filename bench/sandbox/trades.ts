import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { encodeBase58 } from '../../src/api/address.ts';
import { type Random, randomFrom } from '../../src/sandbox/seeded.ts';

/** A made-up market of some size, the same for the same number of trades. */
export interface Market {
  traders: { chain: string; address: string }[];
  tokens: { chain: string; address: string; symbol: string }[];
}

const header = 'time,chain,trader,token,symbol,side,amount,usd,tx,direction,leverage';
const chains = ['solana', 'solana', 'base', 'base', 'ethereum', 'hyperliquid'] as const;
const spanMs = 45 * 86_400_000;
const newestMs = Date.parse('2026-11-20T12:00:00Z');

/**
 * Writes trades of 45 days as CSV, oldest first: a trader for every 50 trades and a token for every 250, both drawn so that a few do
 * most of the trading; on four chains, a sixth of them perps. Gives the market they are of.
 */
export async function writeTrades(file: string, count: number): Promise<Market> {
  const random = randomFrom(`trades ${count}`);
  const market = makeMarket(random, count);
  const out = createWriteStream(file);
  out.write(`${header}\n`);
  for (let from = 0; from < count; from += 5000) {
    const lines = Array.from({ length: Math.min(5000, count - from) }, (_, index) =>
      line(random, market, newestMs - Math.floor(spanMs * (1 - (from + index + 1) / count))),
    );
    if (!out.write(`${lines.join('\n')}\n`)) await once(out, 'drain');
  }
  out.end();
  await once(out, 'close');
  return market;
}

function makeMarket(random: Random, count: number): Market {
  const made = (length: number, of: (index: number) => string) =>
    Array.from({ length }, (_, index) => {
      const chain = chains[index % chains.length] ?? 'base';
      return { chain, address: chain === 'solana' ? mint(random) : of(index) };
    });
  const traders = made(Math.max(60, Math.ceil(count / 50)), () => `0x${hex(random, 40)}`);
  const tokens = made(Math.max(60, Math.ceil(count / 250)), () => `0x${hex(random, 40)}`).map((token, index) => {
    const symbol = `T${index}`;
    return { ...token, ...(token.chain === 'hyperliquid' ? { address: symbol } : {}), symbol };
  });
  return { traders, tokens };
}

function line(random: Random, { traders, tokens }: Market, atMs: number): string {
  const trader = skewed(random, traders);
  // Every trader keeps to some tokens of his chain.
  const own = Math.floor(skew(random) * 12) * 7919 + traders.indexOf(trader) * 31;
  const step = chains.length;
  const start = (own * step + (traders.indexOf(trader) % step)) % tokens.length;
  const token =
    tokens[start - (start % step) + (traders.indexOf(trader) % step)] ?? tokens[traders.indexOf(trader) % step];
  const isPerp = trader.chain === 'hyperliquid';
  const price = 0.01 * (1 + (start % 97)) * random.between(0.8, 1.3);
  const usd = random.between(20, 4000);
  const side = random.chance(0.58) ? 'buy' : 'sell';
  const tx = trader.chain === 'solana' ? encodeBase58(bytes(random, 64)) : `0x${hex(random, 64)}`;
  const perp = isPerp ? `${random.chance(0.5) ? 'long' : 'short'},${random.whole(1, 10)}` : ',';
  const amount = (usd / price).toFixed(6);
  return `${new Date(atMs).toISOString()},${trader.chain},${trader.address},${token?.address},${token?.symbol},${side},${amount},${usd.toFixed(4)},${tx},${perp}`;
}

/** A number in [0, 1) that is small more often than not. */
function skew(random: Random): number {
  return random.next() * random.next();
}

function skewed<T>(random: Random, list: readonly T[]): T {
  return list[Math.floor(skew(random) * list.length)] as T;
}

function bytes(random: Random, length: number): Uint8Array {
  return Uint8Array.from({ length }, () => random.whole(1, 255));
}

function hex(random: Random, length: number): string {
  return Buffer.from(bytes(random, length / 2)).toString('hex');
}

function mint(random: Random): string {
  return encodeBase58(bytes(random, 32));
}
