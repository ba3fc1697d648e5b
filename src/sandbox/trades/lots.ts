/** Tokens that came in together at one price and go out first in, first out. */
export interface Lot {
  /** Tokens left of it, > 0; on perps the full (leveraged) size. */
  amount: number;
  /** What is left of its cost; on perps the notional. */
  usd: number;
  /** Not bought in a trade we know: an opening lot, whose cost is its market value when it was first seen. */
  received: boolean;
  atMs: number;
  leverage: number;
}

/** What was taken out of lots; `amountMs` adds up each part's amount times how long it was held. */
interface UsedLots {
  amount: number;
  usd: number;
  marginUsd: number;
  amountMs: number;
}

/** A rest below this share of its lot is floating-point rounding and leaves with it. */
const lotRounding = 1e-12;

/**
 * Takes an amount out of the oldest lots, as far as they reach, and gives back what it took. Changes the array in
 * place, so that it costs no more than the lots it uses up.
 */
export function useLots(lots: Lot[], amount: number, atMs: number): UsedLots {
  const used = { amount: 0, usd: 0, marginUsd: 0, amountMs: 0 };
  let spent = 0;
  let wanted = amount;
  let lot = lots[spent];
  while (wanted > 0 && lot !== undefined) {
    const isWhole = lot.amount - wanted <= lot.amount * lotRounding;
    const taken = isWhole ? lot.amount : wanted;
    const usd = isWhole ? lot.usd : lot.usd * (wanted / lot.amount);
    used.amount += taken;
    used.usd += usd;
    used.marginUsd += usd / lot.leverage;
    used.amountMs += taken * Math.max(0, atMs - lot.atMs);
    wanted -= taken;
    if (isWhole) spent += 1;
    else lots[spent] = { ...lot, amount: lot.amount - taken, usd: lot.usd - usd };
    lot = lots[spent];
  }
  lots.splice(0, spent);
  return used;
}
