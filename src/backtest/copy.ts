import { normalizeAddress } from '../model/address.ts';
import { totalUsd } from '../model/holding.ts';
import type { Card, TradeItem } from '../model/position.ts';

/** Times in Unix seconds. */
export interface CopyTerms {
  /** Spent on each entry, the fee included. */
  usd: number;
  delaySec: number;
  /** Share of each copied trade, 0 to below 1. */
  feeShare: number;
  /** Entries before are not copied. */
  sinceSec: number;
}

type Position = Pick<Card, 'itemId' | 'metadata'>;

/** A trade that somebody made of a token. */
export interface TokenTrade {
  tokenChain: string;
  tokenAddress: string;
  trade: Pick<TradeItem, 'tokenAmount' | 'usdCost' | 'timestamp'>;
}

interface CopiedTrade {
  action: 'enter' | 'exit';
  /** When the copy is made, Unix seconds. */
  atSec: number;
  /** Of a token, in USD. */
  priceUsd: number;
  /** When a trade had this price, Unix seconds. */
  priceAtSec: number;
  /** own: of the trade that is copied; later: of one after it, nearer in time to the copy. */
  priceOf: 'own' | 'later';
  /** Spent on an entry, fee included; received of an exit, fee deducted. */
  usd: number;
  /** What an exit received, less what was spent on its share; null on entries. */
  gainUsd: number | null;
}

/** A position of the trader and its copy, in USD, percent and Unix seconds. */
export interface CopiedPosition {
  itemId: string;
  token: string;
  chain: string;
  tokenAddress: string;
  side: 'spot' | 'long' | 'short';
  entries: number;
  exits: number;
  /** How many of these have the price of a later trade; the others have that of the trader's own. */
  laterPrices: number;
  investedUsd: number;
  returnedUsd: number;
  /** Value of what is left at the last price that is shown, before the fee of selling it. */
  heldUsd: number;
  /** When a trade had that price; null where nothing is left. */
  heldPriceAtSec: number | null;
  pnlUsd: number;
  pnlPercent: number | null;
  /** Of all entries that are shown. */
  ownCostUsd: number;
  /** Of the whole position, what is held at the same last price. Null where the service lacks the figures. */
  ownPnlUsd: number | null;
  ownPnlPercent: number | null;
  /** Trades are not shown or tokens were received: the shares that were sold are partly a guess. */
  isPartial: boolean;
  trades: CopiedTrade[];
}

/**
 * What copying each position would have made; those without an entry to copy are left out. An entry takes `usd` at the price of the shown trade
 * of the token that is nearest in time to the copy; an exit sells the share of the copy that the trader sold of what they held. Perps are
 * copied without leverage, and not liquidated.
 */
export function copyPositions(
  positions: readonly Position[],
  others: readonly TokenTrade[],
  terms: CopyTerms,
): CopiedPosition[] {
  const own = positions.flatMap(({ metadata }) => metadata.trades.map((trade) => ({ ...metadata, trade })));
  const prices = listPrices([...own, ...others]);
  return positions
    .map((position) => copyPosition(position, prices.get(makeTokenKey(position.metadata)) ?? [], terms))
    .filter(({ entries }) => entries > 0);
}

export function makeTokenKey({ tokenChain, tokenAddress }: Pick<TokenTrade, 'tokenChain' | 'tokenAddress'>): string {
  return `${tokenChain}:${normalizeAddress(tokenAddress)}`;
}

interface Price {
  usd: number;
  atSec: number;
}

/** Of each token, oldest first. */
function listPrices(trades: readonly TokenTrade[]): Map<string, Price[]> {
  const prices = new Map<string, Price[]>();
  for (const each of trades.toSorted((a, b) => a.trade.timestamp - b.trade.timestamp)) {
    const [key, price] = [makeTokenKey(each), readPrice(each.trade)];
    const known = prices.get(key) ?? [];
    if (price !== undefined) known.push(price);
    prices.set(key, known);
  }
  return prices;
}

/** `undefined` of a trade without a price, as tokens that were received. */
function readPrice({ tokenAmount, usdCost, timestamp }: TokenTrade['trade']): Price | undefined {
  return tokenAmount > 0 && usdCost > 0 ? { usd: usdCost / tokenAmount, atSec: timestamp } : undefined;
}

/** A trade's own price, or that of another trade where it is nearer in time to the moment. */
function choosePrice(own: Price, prices: readonly Price[], atSec: number): Price {
  const next = prices.findIndex((price) => price.atSec >= atSec);
  const around = next === -1 ? prices.slice(-1) : prices.slice(Math.max(0, next - 1), next + 1);
  const measureGap = (price: Price) => Math.abs(price.atSec - atSec);
  return around.reduce((best, price) => (measureGap(price) < measureGap(best) ? price : best), own);
}

function copyPosition({ itemId, metadata }: Position, prices: readonly Price[], terms: CopyTerms): CopiedPosition {
  const { tokenChain: chain, tokenAddress, tokenSymbol, perpPositionType, positionStats, trades: shown } = metadata;
  const side = perpPositionType === 'short' || perpPositionType === 'long' ? perpPositionType : 'spot';
  const last = prices.at(-1);
  const { trades, heldUsd, isHeld } = replayTrades(shown, side, prices, terms);
  const entered = trades.filter(({ action }) => action === 'enter');
  const exited = trades.filter(({ action }) => action === 'exit');
  const [investedUsd, returnedUsd] = [sumFigures(entered, 'usd'), sumFigures(exited, 'usd')];
  const pnlUsd = roundUsd(returnedUsd + heldUsd - investedUsd);
  const ownCostUsd = sumFigures(
    shown.filter((trade) => readAction(trade, side) === 'enter'),
    'usdCost',
  );
  const ownPnlUsd = roundUsd(totalUsd(metadata, last?.usd));
  const lacksTrades = sumFigures(shown, 'usdCost') < 0.99 * (positionStats.boughtUSD + positionStats.soldUSD);
  return {
    ...{ itemId, token: tokenSymbol ?? tokenAddress, chain, tokenAddress, side },
    ...{ entries: entered.length, exits: exited.length },
    laterPrices: trades.filter(({ priceOf }) => priceOf === 'later').length,
    ...{ investedUsd, returnedUsd, heldUsd, heldPriceAtSec: isHeld ? (last?.atSec ?? null) : null },
    ...{ pnlUsd, pnlPercent: percentOrNull(pnlUsd, investedUsd) },
    ...{ ownCostUsd, ownPnlUsd, ownPnlPercent: percentOrNull(ownPnlUsd, ownCostUsd) },
    isPartial: lacksTrades || (positionStats.receivedCostBasisUSD ?? 0) > 0,
    trades,
  };
}

/** With less than this share left a holding is sold: the rest is rounding. */
const rounding = 1e-9;

/** The copies of trades that are shown newest first, and what is left of them at the last price. */
function replayTrades(
  newestFirst: readonly TradeItem[],
  side: CopiedPosition['side'],
  prices: readonly Price[],
  { usd, delaySec, feeShare, sinceSec }: CopyTerms,
) {
  const trades: CopiedTrade[] = [];
  let [ownAmount, amount, spentUsd] = [0, 0, 0];
  // A short gains what the price falls below its cost.
  const valueUsd = (priceUsd: number) =>
    side === 'short' ? 2 * spentUsd * (1 - feeShare) - amount * priceUsd : amount * priceUsd;
  for (const trade of newestFirst.toReversed().toSorted((a, b) => a.timestamp - b.timestamp)) {
    const action = readAction(trade, side);
    const share = trade.tokenAmount < ownAmount * (1 - rounding) ? trade.tokenAmount / ownAmount : 1;
    ownAmount = action === 'enter' ? ownAmount + trade.tokenAmount : ownAmount * (1 - share);
    const [own, atSec] = [readPrice(trade), trade.timestamp + delaySec];
    const isCopied = action === 'enter' ? trade.timestamp >= sinceSec : amount > 0;
    if (own === undefined || !isCopied) continue;
    const price = choosePrice(own, prices, atSec);
    const priceOf = price === own ? 'own' : 'later';
    const copy = { action, atSec, priceUsd: price.usd, priceAtSec: price.atSec, priceOf } as const;
    if (action === 'enter') {
      trades.push({ ...copy, usd, gainUsd: null });
      [amount, spentUsd] = [amount + (usd * (1 - feeShare)) / price.usd, spentUsd + usd];
    } else {
      const soldUsd = share * (valueUsd(price.usd) - amount * price.usd * feeShare);
      trades.push({ ...copy, usd: soldUsd, gainUsd: soldUsd - share * spentUsd });
      [amount, spentUsd] = [amount * (1 - share), spentUsd * (1 - share)];
    }
  }
  return { trades, heldUsd: valueUsd(prices.at(-1)?.usd ?? 0), isHeld: amount > 0 };
}

/** A short is entered by a sell. */
function readAction({ intent, direction }: TradeItem, side: CopiedPosition['side']): CopiedTrade['action'] {
  if (intent === 'enter' || intent === 'exit') return intent;
  return (direction === 'sell') === (side === 'short') ? 'enter' : 'exit';
}

/** Nothing in place of what floating point leaves. */
function roundUsd<Usd extends number | null>(usd: Usd): Usd | 0 {
  return usd !== null && Math.abs(usd) < 1e-6 ? 0 : usd;
}

function percentOrNull(part: number | null, whole: number): number | null {
  return part === null || whole === 0 ? null : (part / whole) * 100;
}

function sumFigures<Key extends string>(rows: readonly { [key in Key]: number | null }[], key: Key): number {
  return rows.reduce((sum, row) => sum + (row[key] ?? 0), 0);
}

/** The figures of all copies together. */
export function sumCopies(copies: readonly CopiedPosition[]) {
  const [investedUsd, pnlUsd] = [sumFigures(copies, 'investedUsd'), sumFigures(copies, 'pnlUsd')];
  const [ownCostUsd, ownPnlUsd] = [sumFigures(copies, 'ownCostUsd'), sumFigures(copies, 'ownPnlUsd')];
  return {
    entries: sumFigures(copies, 'entries'),
    exits: sumFigures(copies, 'exits'),
    laterPrices: sumFigures(copies, 'laterPrices'),
    investedUsd,
    returnedUsd: sumFigures(copies, 'returnedUsd'),
    heldUsd: sumFigures(copies, 'heldUsd'),
    ...{ pnlUsd, pnlPercent: percentOrNull(pnlUsd, investedUsd) },
    ...{ ownCostUsd, ownPnlUsd, ownPnlPercent: percentOrNull(ownPnlUsd, ownCostUsd) },
  };
}
