import { dayMs } from '../../api/duration.ts';
import type { buyReasons } from '../../api/event-types.ts';

interface Buy {
  atMs: number;
  usd: number;
}

/** The counter of a trader and token ends after this long without a buy (wire-facts 4.1). */
const buyWindowMs = 14 * dayMs;
const repeatUsd = 1000;
const apedInFactor = 1.4;

/**
 * Why a buy makes a feed item: `first-buy` in the window, `repeat-buy` if it takes the window's sum over $1,000, `aped-in` above 1.4
 * times its average buy; `undefined` otherwise. `earlier` are the same trader's buys of the token, newest first. Source: wire-facts 4.1; the
 * order among the reasons is assumed.
 */
export function buyReason(buy: Buy, earlier: readonly Buy[]): (typeof buyReasons)[number] | undefined {
  let [count, sumUsd, nextMs] = [0, 0, buy.atMs];
  for (const { atMs, usd } of earlier) {
    if (nextMs - atMs > buyWindowMs) break;
    count += 1;
    sumUsd += usd;
    nextMs = atMs;
  }
  if (count === 0) return 'first-buy';
  if (sumUsd < repeatUsd && sumUsd + buy.usd >= repeatUsd) return 'repeat-buy';
  return buy.usd > apedInFactor * (sumUsd / count) ? 'aped-in' : undefined;
}
