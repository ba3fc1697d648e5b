import { type Random, randomFrom } from '../../src/sandbox/seeded.ts';
import type { Habit } from './habits.ts';
import type { PriceAt } from './prices.ts';
import type { DemoToken } from './tokens.ts';

/** One stay in one token: from the first buy (or opening short) to the last sell, not yet cut into trades. */
export interface Round {
  token: DemoToken;
  priceAt: PriceAt;
  /** Perps only; `null` on spot. */
  direction: 'long' | 'short' | null;
  leverage: number;
  fromMs: number;
  toMs: number;
  /** `keep`: nothing is sold; `trim`: part is; `dust`: all but some cents; `gift`: more than was bought, or unbought. */
  ending: 'all' | 'dust' | 'trim' | 'keep' | 'gift';
}

/** A token with its price curve. */
export interface Market {
  token: DemoToken;
  priceAt: PriceAt;
}

const minuteMs = 60_000;
const dayMs = 86_400_000;

/**
 * Gives the rounds of one trader between two times, in the order in which they were drawn. Rounds in the same token never
 * overlap, so no perp is held long and short at once.
 */
export function planRounds(habit: Habit, markets: readonly Market[], startMs: number, endMs: number): Round[] {
  const random = randomFrom(`rounds of ${habit.key}`);
  const open = markets.filter(({ token }) => habit.chains.includes(token.chain) && isDeepEnough(token, habit));
  const rounds: Round[] = [];
  for (let drawn = 0; drawn < habit.rounds; drawn += 1) {
    const share = random.next();
    const fromMs = endMs - share * (0.05 + 0.95 * share) * (endMs - startMs);
    const skill = habit.skill[fromMs > endMs - 8 * dayMs ? 1 : 0];
    const tries = Array.from({ length: 1 + Math.abs(skill) }, () => draftRound(habit, open, fromMs, random));
    const free = tries.filter((round) => !rounds.some((other) => overlaps(round, other)));
    const gains = free.map((round) => gainAt(round, endMs));
    const chosen = free[gains.indexOf(skill < 0 ? Math.min(...gains) : Math.max(...gains))];
    if (chosen) rounds.push(chosen);
  }
  return rounds;
}

/** Nobody puts into a token more than a small part of what all of it is worth. */
function isDeepEnough(token: DemoToken, habit: Habit): boolean {
  return token.supply === null || token.supply * token.priceUsd >= 200 * habit.sizeUsd;
}

/** Share gained (or lost, negative) by a round between its start and its end, or `endMs` where that comes first. */
function gainAt(round: Round, endMs: number): number {
  const move = round.priceAt(Math.min(round.toMs, endMs)) / round.priceAt(round.fromMs) - 1;
  return round.direction === 'short' ? -move : move;
}

function overlaps(one: Round, other: Round): boolean {
  if (one.token !== other.token) return false;
  const staysOpen = (round: Round): boolean => round.direction !== null && round.ending !== 'all';
  const lastMs = (round: Round): number => (staysOpen(round) ? Infinity : round.toMs);
  return one.fromMs <= lastMs(other) && other.fromMs <= lastMs(one);
}

function draftRound(habit: Habit, open: readonly Market[], fromMs: number, random: Random): Round {
  const market = random.pick(open);
  const isPerp = market.token.chain === 'hyperliquid';
  return {
    ...market,
    direction: isPerp ? (random.chance(0.55) ? 'long' : 'short') : null,
    leverage: isPerp ? random.pick([2, 3, 3, 5, 5, 8, 10, 20]) : 1,
    fromMs,
    toMs: fromMs + lengthMs(habit.style, random),
    ending: pickEnding(habit.style, isPerp, random),
  };
}

function lengthMs(style: Habit['style'], random: Random): number {
  if (style === 'flip') return random.between(2, 38) * minuteMs;
  if (style === 'hold') return random.between(12, 40) * dayMs;
  const share = random.next();
  return (0.15 + 7 * share * share) * dayMs;
}

function pickEnding(style: Habit['style'], isPerp: boolean, random: Random): Round['ending'] {
  if (style === 'hold') return 'keep';
  const share = random.next();
  if (style === 'flip') return share < 0.9 ? 'all' : 'dust';
  if (isPerp) return share < 0.8 ? 'all' : share < 0.92 ? 'trim' : 'keep';
  if (share < 0.6) return 'all';
  if (share < 0.7) return 'dust';
  if (share < 0.85) return 'trim';
  return share < 0.94 ? 'keep' : 'gift';
}
