import { type Random, randomFrom } from '../../src/sandbox/seeded.ts';
import type { Trade } from '../../src/sandbox/trades/trade.ts';
import type { Habit } from './habits.ts';
import { transactionHash } from './ids.ts';
import type { Member } from './people.ts';
import type { Round } from './rounds.ts';

/** A generated trade with its part in the story, by which a comment is chosen for it. */
export interface MadeTrade {
  trade: Trade;
  by: Member;
  part:
    | 'enter'
    | 'add'
    | 'dip'
    | 'trim'
    | 'win'
    | 'loss'
    | 'flip'
    | 'gift'
    | 'long'
    | 'short'
    | 'perp-win'
    | 'perp-loss'
    | 'none';
  /** Share gained since the first leg of the round; near 0 on the first. */
  gain: number;
}

interface Leg {
  opens: boolean;
  isLast: boolean;
  atMs: number;
  /** Tokens. */
  amount: number;
  usd: number;
}

/**
 * Gives the trades of one trader's rounds, those up to `endMs` only: USD in cents, token amounts in digits that suit the
 * price, times in whole seconds on spot chains. Not sorted over rounds.
 */
export function makeTrades(by: Member, habit: Habit, rounds: readonly Round[], endMs: number): MadeTrade[] {
  const random = randomFrom(`trades of ${by.key}`);
  const made: MadeTrade[] = [];
  for (const [roundNumber, round] of rounds.entries()) {
    const wallets = round.token.chain === 'solana' ? by.solana : by.evm;
    const trader = round.direction ? (wallets[0] ?? '') : random.pick(wallets);
    const legs = cutLegs(habit, round, random);
    const firstOrder = random.whole(20_000_000, 79_000_000) * 1000;
    for (const [legNumber, leg] of legs.entries()) {
      if (leg.atMs > endMs) continue;
      const rowKey = `demo:${by.key}:${roundNumber}:${legNumber}`;
      const trade = toTrade({ round, leg, trader, rowKey, orderId: String(firstOrder + legNumber) });
      const gain = gainOf(round, leg);
      made.push({ trade, by, part: partOf(habit, round, leg, legNumber, gain), gain });
    }
  }
  return made;
}

function cutLegs(habit: Habit, round: Round, random: Random): Leg[] {
  const { fromMs, toMs, ending } = round;
  const digits = amountDigits(round.priceAt(fromMs));
  const leg = (opens: boolean, atMs: number, amount: number): Leg => {
    const price = round.priceAt(atMs) * random.between(0.9975, 1.0025);
    const wholeMs = round.direction ? Math.floor(atMs) : Math.floor(atMs / 1000) * 1000;
    const kept = Math.max(fixed(amount, digits), 10 ** -digits);
    return { opens, isLast: false, atMs: wholeMs, amount: kept, usd: fixed(kept * price, 2) };
  };
  const spread = (count: number, low: number, high: number): number[] =>
    Array.from({ length: count }, () => fromMs + random.between(low, high) * (toMs - fromMs)).sort((a, b) => a - b);

  const unbought = ending === 'gift' && random.chance(0.4);
  const buyTimes =
    habit.style === 'hold' ? spread(random.whole(3, 11), 0, 1) : spread(random.pick([0, 1, 1, 2]), 0, 0.4);
  const buyUsd = habit.sizeUsd * (0.3 + 1.5 * random.next() * random.next());
  const buys = [...(habit.style === 'flip' || unbought ? [fromMs] : [fromMs, ...buyTimes])].map((atMs) =>
    leg(true, atMs, (buyUsd * random.between(0.6, 1.3)) / round.priceAt(atMs)),
  );
  if (ending === 'keep') return buys;

  const bought = buys.reduce((sum, { amount }) => sum + amount, 0);
  const dust = random.between(0.04, 0.7) / round.priceAt(toMs);
  const sold = { all: bought, dust: bought - dust, trim: bought * random.between(0.2, 0.7), gift: bought * 1.3 }[
    ending
  ];
  const sellTimes = habit.style === 'flip' ? [toMs] : [...spread(random.pick([0, 0, 1, 2]), 0.6, 0.98), toMs];
  let left = sold;
  const sells = sellTimes.map((atMs, place) => {
    const isLast = place === sellTimes.length - 1;
    const made = leg(false, atMs, isLast ? left : left * random.between(0.25, 0.6));
    left -= made.amount;
    return { ...made, isLast: isLast && ending !== 'trim' };
  });
  return unbought ? sells : [...buys, ...sells];
}

function gainOf(round: Round, leg: Leg): number {
  const move = leg.usd / leg.amount / round.priceAt(round.fromMs) - 1;
  return round.direction === 'short' ? -move : move;
}

function partOf(habit: Habit, round: Round, leg: Leg, legNumber: number, gain: number): MadeTrade['part'] {
  if (round.ending === 'gift') return leg.opens ? 'enter' : 'gift';
  if (leg.opens && legNumber > 0) return gain < -0.02 ? 'dip' : 'add';
  if (leg.opens) return round.direction ?? 'enter';
  if (round.direction) return !leg.isLast ? 'none' : gain > 0 ? 'perp-win' : 'perp-loss';
  if (habit.style === 'flip') return gain > 0.003 ? 'flip' : 'none';
  if (!leg.isLast) return 'trim';
  return gain > 0.08 ? 'win' : gain < -0.06 ? 'loss' : 'none';
}

function toTrade(from: { round: Round; leg: Leg; trader: string; rowKey: string; orderId: string }): Trade {
  const { round, leg, trader, rowKey, orderId } = from;
  const { token, direction, leverage } = round;
  const trade: Trade = {
    chain: token.chain,
    trader,
    token: token.address,
    tokenSymbol: token.symbol,
    tokenName: token.name,
    side: leg.opens === (direction === 'short') ? 'sell' : 'buy',
    direction,
    leverage,
    amount: leg.amount,
    usd: leg.usd,
    atMs: leg.atMs,
    tx: transactionHash(token.chain, rowKey),
    rowKey,
  };
  if (token.supply !== null) trade.tokenSupply = token.supply;
  if (direction) trade.orderId = orderId;
  return trade;
}

function amountDigits(price: number): number {
  if (price < 0.01) return 0;
  return price < 10 ? 2 : price < 1000 ? 4 : 6;
}

function fixed(value: number, digits: number): number {
  return Number(value.toFixed(digits));
}
