import type { Trade } from './trade.ts';

/** Tokens that came in together at one price and go out first in, first out. */
interface Lot {
  /** Tokens left of it, > 0; on perps the full (leveraged) size. */
  amount: number;
  /** Its remaining cost; on perps the notional. */
  usd: number;
  /** Not bought in a trade we know: an opening lot, whose cost is its market value when it was first seen. */
  received: boolean;
  atMs: number;
  leverage: number;
}

/** A position is open while what remains is worth at least this much (interface document, "Position state"). */
const openThresholdUsd = 1;

/** Share below which a difference is floating-point rounding: of a value, of a sale beyond the tokens held, and of its gain. */
const rounding = 1e-9;
/** The same, less what rounding leaves. */
export const openFromUsd = openThresholdUsd * (1 - rounding);

/**
 * What a position needs to take the next trade, stored as it is. Amounts and dollars are positive, also on shorts; bought and sold are the
 * trades' own words, so a short is sold first.
 */
export interface PositionState {
  /** 1 for the first position of this trader, chain, token and direction; each re-entry counts on. */
  ordinal: number;
  direction: 'long' | 'short' | null;
  openedAtMs: number;
  latestAtMs: number;
  /** An exit left less than `openThresholdUsd`: the next entry opens the next position. Never taken back. */
  exited: boolean;
  /** Closed by its price alone: the tokens left enter the next position, at their cost. */
  closedByPrice?: boolean;
  /** The source shows only a part of its trades, so that its cost is partly a guess. */
  unavailable: boolean;
  lots: Lot[];
  /** Notional on perps; the margin figures are that divided by each trade's leverage. Equal on spot. */
  boughtUsd: number;
  soldUsd: number;
  boughtMarginUsd: number;
  soldMarginUsd: number;
  /** Cost of opening lots, and of sales beyond the tokens held. */
  receivedMarginUsd: number;
  realizedUsd: number;
  sellCount: number;
  lastPriceUsd: number;
  lastLeverage: number;
}

export interface TradeEffect {
  ordinal: number;
  intent: 'enter' | 'exit';
  realizedUsd: number;
  /** Cost of what left the position, as margin; tokens never seen coming in cost their market value. 0 on entries. */
  marginCostUsd: number;
  /** How long the tokens that left were held, weighted by amount; `null` on entries and if no lot was used. */
  heldMs: number | null;
}

/** The position fields of a card, without its trades. */
export type PositionFigures = ReturnType<typeof positionStats>;

/**
 * The position after a trade. `previous` is the newest of this trader, chain, token and direction; if the trade belongs to it, it is
 * changed in place, so that a trade costs no more than the lots it uses up. Source: "Position state".
 */
export function applyTrade(previous: PositionState | undefined, trade: Trade) {
  const intent = (trade.side === 'sell') === (trade.direction === 'short') ? 'enter' : 'exit';
  const openingAmount = unseenAmount(previous, trade);
  if (previous !== undefined && openingAmount < 0) leave(previous, trade, -openingAmount);
  const opened = previous === undefined || (previous.exited && (intent === 'enter' || openingAmount > 0));
  const position = opened ? openPosition(trade, (previous?.ordinal ?? 0) + 1) : previous;
  if (opened && previous?.closedByPrice) position.lots = previous.lots.splice(0);
  if (openingAmount > 0) {
    receive(position, trade, openingAmount);
    addLot(position, trade, openingAmount, true);
    position.unavailable = true;
  }
  countTrade(position, trade);
  if (intent === 'exit') return { position, opened, effect: exit(position, trade) };
  addLot(position, trade, trade.amount, false);
  const effect: TradeEffect = { ordinal: position.ordinal, intent, realizedUsd: 0, marginCostUsd: 0, heldMs: null };
  return { position, opened, effect };
}

/**
 * A position's figures at a price, or at its own last one. Perps have figures with leverage (the others are divided by it), and on shorts
 * negative amounts. `isSuperseded`: it is not the newest of its kind and stays closed, however its rest is priced later. Source: PositionStats
 * and TokenMetadata; assumed: on shorts bought and sold keep the trades' own words.
 */
export function positionStats(
  position: PositionState,
  priceUsd: number | null,
  { isSuperseded = false }: { isSuperseded?: boolean } = {},
) {
  const held = sumLots(position);
  const isPerp = position.direction !== null;
  const positionStats = {
    boughtUSD: position.boughtMarginUsd,
    soldUSD: position.soldMarginUsd,
    realizedGainsUSD: position.realizedUsd,
    holdingsCostBasisUSD: isPerp ? held.marginUsd : held.usd - held.receivedUsd,
    receivedCostBasisUSD: position.receivedMarginUsd,
    holdingReceivedCostBasisUSD: isPerp ? 0 : held.receivedUsd,
    isOpen: !isSuperseded && isWorthHolding(held.amount * (priceUsd ?? position.lastPriceUsd)),
    unavailable: position.unavailable,
  };
  if (position.direction === null) return { positionAmount: held.amount, positionStats };
  const sign = position.direction === 'short' && held.amount > 0 ? -1 : 1;
  return {
    positionAmount: sign * held.marginAmount,
    positionAmountWithLeverage: sign * held.amount,
    perpPositionType: position.direction,
    /** Of the tokens held, or of the last trade if there are none. */
    perpLeverage: held.amount > 0 ? held.amount / held.marginAmount : position.lastLeverage,
    positionStats: {
      ...positionStats,
      boughtUSDWithLeverage: position.boughtUsd,
      soldUSDWithLeverage: position.soldUsd,
      holdingsCostBasisUSDWithLeverage: held.usd,
    },
  };
}

function isWorthHolding(valueUsd: number): boolean {
  return valueUsd >= openFromUsd;
}

/** Tokens that came in (below 0: went out) in trades that the source does not have. Less than the value of an open position is rounding. */
function unseenAmount(previous: PositionState | undefined, trade: Trade): number {
  if (trade.startAmount === undefined) return 0;
  const unseen = trade.startAmount - (previous === undefined ? 0 : sumLots(previous).amount);
  return isWorthHolding((Math.abs(unseen) * trade.usd) / trade.amount) ? unseen : 0;
}

/** Tokens that left in unknown trades leave at their cost, without a gain. */
function leave(position: PositionState, trade: Trade, amount: number): void {
  useLots(position.lots, amount, trade.atMs);
  position.unavailable = true;
  position.lastPriceUsd = trade.usd / trade.amount;
  position.exited ||= !isRestWorthHolding(position);
}

function openPosition(trade: Trade, ordinal: number): PositionState {
  return {
    ordinal,
    direction: trade.direction,
    openedAtMs: trade.atMs,
    latestAtMs: trade.atMs,
    exited: false,
    unavailable: false,
    lots: [],
    boughtUsd: 0,
    soldUsd: 0,
    boughtMarginUsd: 0,
    soldMarginUsd: 0,
    receivedMarginUsd: 0,
    realizedUsd: 0,
    sellCount: 0,
    lastPriceUsd: 0,
    lastLeverage: 1,
  };
}

function shareUsd(trade: Trade, amount: number): number {
  return trade.usd * (amount / trade.amount);
}

function addLot(position: PositionState, trade: Trade, amount: number, received: boolean): void {
  const { atMs, leverage } = trade;
  position.lots.push({ amount, usd: shareUsd(trade, amount), received, atMs, leverage });
}

function receive(position: PositionState, trade: Trade, amount: number): void {
  position.receivedMarginUsd += shareUsd(trade, amount) / trade.leverage;
}

function countTrade(position: PositionState, trade: Trade): void {
  position.latestAtMs = Math.max(position.latestAtMs, trade.atMs);
  position.lastPriceUsd = trade.usd / trade.amount;
  position.lastLeverage = trade.leverage;
  if (trade.side === 'buy') {
    position.boughtUsd += trade.usd;
    position.boughtMarginUsd += trade.usd / trade.leverage;
  } else {
    position.sellCount += 1;
    position.soldUsd += trade.usd;
    position.soldMarginUsd += trade.usd / trade.leverage;
  }
}

function exit(position: PositionState, trade: Trade): TradeEffect {
  const used = useLots(position.lots, trade.amount, trade.atMs);
  const surplus = trade.amount - used.amount;
  const excess = surplus > trade.amount * rounding ? surplus : 0;
  const excessUsd = shareUsd(trade, excess);
  receive(position, trade, excess);
  const difference = trade.usd - excessUsd - used.usd;
  const risen = Math.abs(difference) > trade.usd * rounding ? difference : 0;
  const realizedUsd = trade.direction === 'short' ? 0 - risen : risen;
  position.realizedUsd += realizedUsd;
  position.exited ||= !isRestWorthHolding(position);
  return {
    ordinal: position.ordinal,
    intent: 'exit',
    realizedUsd,
    marginCostUsd: used.marginUsd + excessUsd / trade.leverage,
    heldMs: used.amount > 0 ? Math.round(used.amountMs / used.amount) : null,
  };
}

/** Adds lots up only until they are worth enough, mostly one: a running total would drift. */
function isRestWorthHolding(position: PositionState): boolean {
  let amount = 0;
  for (const lot of position.lots) {
    amount += lot.amount;
    if (isWorthHolding(amount * position.lastPriceUsd)) return true;
  }
  return false;
}

function sumLots(position: PositionState) {
  const sum = { amount: 0, marginAmount: 0, usd: 0, marginUsd: 0, receivedUsd: 0 };
  for (const lot of position.lots) {
    sum.amount += lot.amount;
    sum.marginAmount += lot.amount / lot.leverage;
    sum.usd += lot.usd;
    sum.marginUsd += lot.usd / lot.leverage;
    if (lot.received) sum.receivedUsd += lot.usd;
  }
  return sum;
}

/** A rest below this share of its lot is floating-point rounding and leaves with it. */
const lotRounding = 1e-12;

/** Takes an amount out of the oldest lots, in place, as far as they reach; `amountMs` adds up each part's amount times how long it was held. */
function useLots(lots: Lot[], amount: number, atMs: number) {
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
