import type { Db } from '../db/store.ts';
import type { EventTrade } from './events.ts';

/** The counter of a trader and token lapses after this long without a buy (wire-facts 4.1). */
const windowMs = 14 * 86_400_000;
const repeatUsd = 1000;
const apedInFactor = 1.4;
/** Earlier buys that are looked at; a window with more is one of a machine, whose early buys change no reason any more. */
const maxBuys = 5000;

/**
 * Why a trade makes a feed item: `first-buy` in the window, `repeat-buy` where it takes the window's sum over $1,000, `aped-in`
 * above 1.4 times the average buy of the window; the first that applies. `undefined` where none does, and for sells and exits.
 * Source: wire-facts 4.1; the order among them is assumed.
 */
export function buyReason(db: Db, trade: EventTrade): 'first-buy' | 'repeat-buy' | 'aped-in' | undefined {
  if (trade.side !== 'buy' || trade.intent !== 'enter') return undefined;
  const earlier = db.all<{ atMs: number; usd: number }>(
    `SELECT at_ms AS atMs, usd FROM trade WHERE wallet = ? AND chain = ? AND token = ? AND side = 'buy' AND intent = 'enter'
       AND (at_ms < ? OR (at_ms = ? AND id < ?)) ORDER BY at_ms DESC, id DESC LIMIT ${maxBuys}`,
    [trade.wallet, trade.chain, trade.token, trade.atMs, trade.atMs, trade.id],
  );
  let [count, sumUsd, nextMs] = [0, 0, trade.atMs];
  for (const { atMs, usd } of earlier) {
    if (nextMs - atMs > windowMs) break;
    count += 1;
    sumUsd += usd;
    nextMs = atMs;
  }
  if (count === 0) return 'first-buy';
  if (sumUsd < repeatUsd && sumUsd + trade.usd >= repeatUsd) return 'repeat-buy';
  return trade.usd > apedInFactor * (sumUsd / count) ? 'aped-in' : undefined;
}
