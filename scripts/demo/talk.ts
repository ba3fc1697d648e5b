import { type Random, randomFrom } from '../../src/sandbox/seeded.ts';
import type { MadeTrade } from './made-trades.ts';
import type { Member } from './people.ts';
import { answers, type Line, lines } from './talk-lines.ts';

/** A comment by a trader on a trade of their own, with what others answered. */
export interface DemoComment {
  tradeRowKey: string;
  text: string;
  atMs: number;
  replies: { text: string; authorAddress: string; atMs: number; likeCount: number }[];
  likeCount: number;
  /** The partner through whose app it was written; `null` where it was neither's. */
  byPartner: 'a' | 'b' | null;
}

const dayMs = 86_400_000;
const minCommentedUsd = 10;
const maxPerPerson = 4;
/** How old the trade is, from..to days; drawn evenly, so that some comments are of today and some are past 30 days. */
const ages: readonly (readonly [number, number])[] = [
  [0, 1],
  [0, 7],
  [1, 7],
  [7, 30],
  [7, 30],
  [31, 45],
];

/**
 * Gives the comments of the demo world, sorted by time: each line said once, each trade commented on at most once, each by
 * its own trader, each on a trade worth at least 10 USD (the service's rule).
 */
export function demoComments(made: readonly MadeTrade[], members: readonly Member[], endMs: number): DemoComment[] {
  const random = randomFrom('talk');
  const takenTrades = new Set<string>();
  const spoken = new Map<string, number>();
  const sayable = groupByPart(made.filter(({ trade, by }) => trade.usd >= minCommentedUsd && by.person.name !== null));
  const mayTake = (line: Line, { trade, by }: MadeTrade): boolean =>
    !takenTrades.has(trade.rowKey) &&
    (line.by === undefined ? (spoken.get(by.key) ?? 0) < maxPerPerson : line.by === by.key) &&
    (line.symbol === undefined || line.symbol === trade.tokenSymbol);

  const comments = lines.flatMap((line) => {
    const fitting = (sayable.get(line.part) ?? []).filter((one) => mayTake(line, one));
    const [youngest, oldest] = random.pick(ages);
    const ofAge = fitting.filter(({ trade }) => {
      const days = (endMs - trade.atMs) / dayMs;
      return days >= youngest && days < oldest;
    });
    if (fitting.length === 0) return [];
    const chosen = random.pick(ofAge.length > 0 ? ofAge : fitting);
    takenTrades.add(chosen.trade.rowKey);
    spoken.set(chosen.by.key, (spoken.get(chosen.by.key) ?? 0) + 1);
    return [writeComment(chosen, line, { members, endMs, random })];
  });
  return comments.sort((one, other) => one.atMs - other.atMs);
}

function groupByPart(made: readonly MadeTrade[]): Map<MadeTrade['part'], MadeTrade[]> {
  const groups = new Map<MadeTrade['part'], MadeTrade[]>();
  for (const one of made) {
    const group = groups.get(one.part);
    if (group) group.push(one);
    else groups.set(one.part, [one]);
  }
  return groups;
}

function writeComment(
  chosen: MadeTrade,
  line: Line,
  around: { members: readonly Member[]; endMs: number; random: Random },
): DemoComment {
  const { members, endMs, random } = around;
  const { trade, by } = chosen;
  const atMs = laterThan(trade.atMs, 35, endMs, random);
  const apps = (['a', 'b'] as const).filter((partner) => by.names[partner] !== undefined);
  const pool = [...answers[moodOf(chosen.part)]];
  const count = random.chance(0.4) ? random.whole(1, 4) : 0;
  const replies = Array.from({ length: count }, () => {
    const author = random.pick(members.filter(({ key, person }) => key !== by.key && person.name !== null));
    const [text = ''] = pool.splice(random.whole(0, pool.length - 1), 1);
    const authorAddress = author.person.addresses[0] ?? '';
    return { text, authorAddress, atMs: laterThan(atMs, 600, endMs, random), likeCount: random.whole(0, 9) };
  });
  const warmth = random.next();
  return {
    tradeRowKey: trade.rowKey,
    text: fillIn(line.text, chosen),
    atMs,
    replies: replies.sort((one, other) => one.atMs - other.atMs),
    likeCount: Math.floor(warmth * warmth * warmth * 90),
    byPartner: apps.length > 0 && random.chance(0.85) ? random.pick(apps) : null,
  };
}

function moodOf(part: MadeTrade['part']): keyof typeof answers {
  if (part === 'loss' || part === 'perp-loss') return 'losing';
  return ['enter', 'add', 'dip', 'long', 'short'].includes(part) ? 'opening' : 'closing';
}

/** A time up to `minutes` later, never after `endMs`. */
function laterThan(fromMs: number, minutes: number, endMs: number, random: Random): number {
  const wishedMs = fromMs + Math.ceil(random.between(0.5, minutes) * 60) * 1000;
  return Math.min(wishedMs, endMs);
}

function fillIn(text: string, { trade, gain }: MadeTrade): string {
  const price = trade.usd / trade.amount;
  const words: Record<string, string> = {
    symbol: trade.tokenSymbol ?? trade.token,
    chain: trade.chain,
    leverage: String(trade.leverage),
    price: `$${price < 1 ? Number(price.toPrecision(2)).toFixed(decimalsOf(price)) : price.toFixed(2)}`,
    gain: `${gain < 0 ? '-' : '+'}${(Math.abs(gain) * 100).toFixed(Math.abs(gain) < 0.1 ? 1 : 0)}%`,
    cap: capText(price * (trade.tokenSupply ?? 0)),
  };
  return text.replace(/\{(\w+)\}/g, (_, name: string) => words[name] ?? '');
}

/** Decimal places that show two digits of a price below one. */
function decimalsOf(price: number): number {
  let places = 1;
  for (let rest = price; rest < 1; rest *= 10) places += 1;
  return places;
}

function capText(usd: number): string {
  if (usd >= 1e9) return `$${(usd / 1e9).toFixed(1)}B`;
  return usd >= 1e6 ? `$${(usd / 1e6).toFixed(0)}M` : `$${(usd / 1e3).toFixed(0)}K`;
}
