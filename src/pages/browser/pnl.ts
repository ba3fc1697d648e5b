import type { Card, TradeItem } from '../../api/answers.ts';

interface Point {
  atSec: number;
  value: number;
}

/** The realized PnL after each closing trade, oldest first; lots are sold in the order in which they were bought. */
export function realizedOverTime(cards: readonly Card[]): Point[] {
  const gains = cards.flatMap(({ metadata }) => listGains(metadata.trades)).sort((a, b) => a.atSec - b.atSec);
  let value = 0;
  return gains.map(({ atSec, gain }) => {
    value += gain;
    return { atSec, value };
  });
}

interface Gain {
  atSec: number;
  gain: number;
}

/** Of one position, whose trades come newest first. Tokens sold beyond those bought gain nothing. */
function listGains(trades: readonly TradeItem[]): Gain[] {
  const lots: { amount: number; usd: number }[] = [];
  const gains: Gain[] = [];
  for (const { tokenAmount, usdCost, timestamp, direction, perpPositionType } of trades.toReversed()) {
    const isShort = perpPositionType === 'short';
    if ((direction === 'sell') === isShort) {
      lots.push({ amount: tokenAmount, usd: usdCost });
      continue;
    }
    let [left, gain] = [tokenAmount, 0];
    for (let lot = lots[0]; lot !== undefined && left > 0; lot = lots[0]) {
      const part = Math.min(left, lot.amount);
      const cost = (lot.usd / lot.amount) * part;
      gain += (isShort ? -1 : 1) * ((usdCost / tokenAmount) * part - cost);
      left -= part;
      if (part === lot.amount) lots.shift();
      else lots[0] = { amount: lot.amount - part, usd: lot.usd - cost };
    }
    gains.push({ atSec: timestamp, gain });
  }
  return gains;
}
