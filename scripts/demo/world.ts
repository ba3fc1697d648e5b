import type { Trade } from '../../src/sandbox/trades/trade.ts';
import { exampleTrader, exampleTrades } from './example-trader.ts';
import { habits } from './habits.ts';
import { recordedAccount, recordedTrades } from './hyperliquid.ts';
import { makeTrades } from './made-trades.ts';
import { type DemoCopy, type DemoFollow, type DemoName, demoCopies, demoFollows, demoNames } from './network.ts';
import { demoMembers } from './people.ts';
import type { Person } from './person.ts';
import { walkPrice } from './prices.ts';
import { planRounds } from './rounds.ts';
import { type DemoComment, demoComments } from './talk.ts';
import { demoTokens } from './tokens.ts';

/** Everything the sandbox starts with. Times are Unix milliseconds, values USD. */
export interface World {
  /** Time of the newest trade; whoever stores the world moves all times by one constant so that this becomes now. */
  newestMs: number;
  /** Sorted by time, oldest first; row keys are unique. */
  trades: Trade[];
  people: Person[];
  /** Sorted by time; at most one a trade. */
  comments: DemoComment[];
  follows: DemoFollow[];
  names: DemoName[];
  /** Copies that have already happened; the buys by which they were done are among the trades. */
  copies: DemoCopy[];
}

/** The world's own calendar: it ends at a fixed moment and reaches 45 days back, past the longest window (30 days). */
const endMs = Date.UTC(2025, 10, 20, 12);
const startMs = endMs - 45 * 86_400_000;
/** The recorded fills end three hours before: in every window, but not all there is to see at the top of a feed. */
const recordedEndMs = endMs - 3 * 3_600_000;

/**
 * Gives the built-in world: one real account's recorded perp fills and some forty invented traders on four chains. The
 * same value on every call and every machine: only + - * / are used, as `Math.exp`, `log` and `cos` may differ in the last bit
 * between engines. Source: assumed (the sandbox's own choice).
 */
export function demoWorld(): World {
  const members = demoMembers();
  const markets = demoTokens.map((token) => ({ token, priceAt: walkPrice(token, startMs, endMs) }));
  const made = habits.flatMap((habit) => {
    const member = members.find(({ key }) => key === habit.key);
    return member ? makeTrades(member, habit, planRounds(habit, markets, startMs, endMs), endMs) : [];
  });
  const newestMs = made.reduce((latest, { trade }) => Math.max(latest, trade.atMs), startMs);
  const comments = demoComments(made, members, newestMs);
  const copied = demoCopies({ comments, made, members, markets, newestMs });
  const trades = [
    ...recordedTrades(recordedEndMs),
    ...exampleTrades(startMs),
    ...made.map(({ trade }) => trade),
    ...copied.trades,
  ];
  trades.sort((one, other) => one.atMs - other.atMs);
  return {
    newestMs,
    trades,
    people: [recordedAccount, exampleTrader, ...members.map(({ person }) => person)],
    comments,
    follows: demoFollows(members),
    names: demoNames(members),
    copies: copied.copies,
  };
}
