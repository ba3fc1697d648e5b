import { isSolanaAddress, normalizeAddress } from '../../api/address.ts';
import type { Card } from '../../api/answers.ts';
import { parseTime } from '../../api/duration.ts';
import { inPath, local } from '../../api/endpoint.ts';
import { totalUsd, unrealizedUsd, unrealizedWithReceivedUsd } from '../../api/holding.ts';
import { isObject, parseJson, whyNotJson } from '../../api/json.ts';
import { number, optional, text } from '../../api/kind.ts';
import { find, get } from '../../api/position.ts';
import type { Context } from '../../context.ts';
import { inputError, usageError } from '../../errors.ts';
import type { Input } from '../../lib/files/source.ts';
import { redactText } from '../../lib/files/text-file.ts';
import { column, listView, recordView } from '../../lib/output/columns.ts';
import { pnl, shortAddress } from '../../lib/output/format.ts';
import { cardBlocks, cardColumns } from '../../lib/output/trade-cards.ts';
import type { AnyView, BarChart, Column } from '../../lib/output/view.ts';
import type { Command } from '../command.ts';
import { addEndpointCommand } from '../endpoint-command.ts';
import { option } from '../params.ts';

export function setUp(position: Command): void {
  addEndpointCommand(position, 'get', get, {
    view: onePosition(),
    params: priceParams,
    chooseView: chooseView(onePosition),
  }).shares('showNsfw');
  addEndpointCommand(position, 'find', find, {
    view: onePosition(),
    params: {
      timestamp: inPath(text(), 'time of the trade: ISO time (UTC), Unix seconds or milliseconds, or now'),
      ...priceParams,
    },
    prepare: (typed, { io }) => ({ ...typed, timestamp: readTradeTime(typed.timestamp, typed.chain, io.now()) }),
    chooseView: chooseView(onePosition),
  }).shares('showNsfw');
}

/** Unix seconds, milliseconds on hyperliquid. Errors: `usage`. */
function readTradeTime(text: string, chain: string, nowMs: number): string {
  const atMs = text === 'now' ? nowMs : parseTime(text);
  if (atMs === undefined)
    throw inputError((input) => ({
      message: `${input('timestamp')} ${text}: not a time`,
      hint: 'Write 2026-11-20T23:46:00Z, Unix seconds (10 digits), Unix milliseconds (13 digits), or now.',
    }));
  return String(chain === 'hyperliquid' ? atMs : Math.floor(atMs / 1000));
}

/** Parameters of commands that print positions. */
export const priceParams = {
  price: local(optional(number(0)), 'token price in USD; adds unrealized and total PnL to tables, csv and tsv', {
    conflicts: ['pricesFile', 'chart'],
  }),
  pricesFile: option.text('JSON file of prices in USD by chain:address, address or symbol', {
    conflicts: ['chart'],
  }),
};

interface PriceInput {
  price?: number | undefined;
  pricesFile?: string | undefined;
}

/** A price, and the tokens that it was used for: `chain:address`. */
interface Price {
  name: string;
  usd: number;
  tokens: Set<string>;
}

/** Prices by `chain:address`, address or symbol; `single` is the one of `--price`. */
export interface Prices {
  single?: Price;
  byName: ReadonlyMap<string, Price>;
  file: string;
  isUsed: boolean;
}

/** A view of positions with columns for the prices that were given. Errors: `usage` for an invalid file, naming the entry; `local-file`. */
export function chooseView(makeView: (prices?: Prices) => AnyView) {
  return async ({ price, pricesFile }: PriceInput, { io, options, note }: Context): Promise<AnyView> => {
    if (price === undefined && pricesFile === undefined) return makeView();
    if (options.format === 'json' || options.format === 'ndjson')
      note("Prices add columns to tables, csv and tsv; JSON is the service's answer, unchanged.");
    if (pricesFile !== undefined) return makeView(await readPrices(pricesFile, io));
    const single = { name: '--price', usd: price ?? 0, tokens: new Set<string>() };
    return makeView({ single, byName: new Map(), file: '', isUsed: false });
  };
}

/** Some 200,000 tokens. */
const maxPriceBytes = 16 * 1024 * 1024;

const shape =
  'Write {"base:0x4ed4...": 0.0041, "hyperliquid:ETH": 1875, "PEPE": 0.0000071}: chain:address, an address, or a symbol.';

async function readPrices(file: string, input: Input): Promise<Prices> {
  const { readText } = await import('../../lib/files/source.ts');
  const text = await readText(file, input, { flag: '--prices-file', maxBytes: maxPriceBytes });
  const refuse = (why: string) => usageError(`--prices-file ${file}: ${why}`, shape);
  let value: unknown;
  try {
    value = parseJson(text);
  } catch (cause) {
    throw refuse(`not JSON: ${whyNotJson(cause)}`);
  }
  if (!isObject(value)) throw refuse('must be a JSON object');
  const byName = new Map<string, Price>();
  for (const [name, usd] of Object.entries(value)) {
    if (usd === null) continue;
    if (typeof usd !== 'number' || !Number.isFinite(usd) || usd < 0)
      throw refuse(`the price of ${redactText(name)} must be a number from 0, in USD, or null`);
    byName.set(normalizeName(name), { name, usd, tokens: new Set() });
  }
  return { byName, file, isUsed: false };
}

/** Only addresses on solana differ by case. */
function normalizeName(name: string): string {
  const [, chain = '', token = ''] = /^(?:([^:]*):)?(.*)$/s.exec(name.trim()) ?? [];
  return `${chain.trim().toLowerCase()}:${isSolanaAddress(token.trim()) ? token.trim() : token.trim().toLowerCase()}`;
}

/** The price of a token; `null` if none is given. Errors: `usage` if `--price` meets a second token, which may have the same symbol. */
function findPrice({ metadata }: Card, prices: Prices | undefined): number | null {
  if (prices === undefined) return null;
  prices.isUsed = true;
  const { tokenChain, tokenAddress, tokenSymbol } = metadata;
  const names = [`${tokenChain}:${tokenAddress}`, tokenAddress, tokenSymbol ?? ''];
  const { single, byName } = prices;
  const price = single ?? names.map((name) => byName.get(normalizeName(name))).find((each) => each !== undefined);
  price?.tokens.add(`${tokenChain}:${normalizeAddress(tokenAddress)}`);
  if (single !== undefined && single.tokens.size > 1)
    throw usageError(
      `--price is for one token, and these positions are in ${[...single.tokens].join(' and ')}`,
      'Give a price for each token: --prices-file prices.json with {"base:0x4ed4...": 0.0041, "ETH": 1875}.',
    );
  return price?.usd ?? null;
}

const maxNamed = 5;

/** Warnings about prices that fit no token, and those that fit several. */
function warnOfPrices({ byName, file, isUsed }: Prices): string[] {
  if (!isUsed) return [];
  const all = [...byName.values()];
  const unused = all.filter(({ tokens }) => tokens.size === 0).map(({ name }) => redactText(name));
  const more = unused.length > maxNamed ? ` and ${unused.length - maxNamed} more` : '';
  const shared = all.filter(({ tokens }) => tokens.size > 1);
  return [
    ...shared.map(
      ({ name, tokens }) =>
        `warning: ${redactText(name)} priced ${tokens.size} tokens: ${[...tokens].join(', ')}. Give each its own price.`,
    ),
    ...(unused.length === 0
      ? []
      : [`warning: ${file}: no position shown is in ${unused.slice(0, maxNamed).join(', ')}${more}`]),
  ];
}

const unrealizedHelp =
  'unrealized PnL at that price, in USD: value less cost basis; with leverage on perps, reversed for shorts';
const receivedHelp = 'unrealized PnL less the cost basis of received tokens, in USD; empty if they are the same';

/** The columns of a position, and those that prices add; without prices they are empty, and shown only when named. */
function positionColumns(prices: Prices | undefined): Column<Card>[] {
  const priceUsd = (card: Card) => findPrice(card, prices);
  const unrealized = (card: Card) => unrealizedUsd(card.metadata, priceUsd(card));
  const total = (card: Card) => totalUsd(card.metadata, priceUsd(card));
  const extra = prices === undefined ? { extra: true } : {};
  const showGain = (readGain: (card: Card) => number | null) => (card: Card) => {
    const gain = readGain(card);
    return gain === null && priceUsd(card) === null ? ({ text: 'no price', tone: 'muted' } as const) : pnl(gain);
  };
  const after = cardColumns.findIndex(({ key }) => key === 'costUsd') + 1;
  return [
    ...cardColumns.slice(0, after),
    column.usd('priceUsd', 'Price', 'price given with --price or --prices-file, in USD', priceUsd, {
      drop: 5,
      ...extra,
    }),
    column.pnl('unrealizedUsd', 'Unrealized', unrealizedHelp, unrealized, { show: showGain(unrealized), ...extra }),
    column.pnl('totalUsd', 'Total PnL', 'realized plus unrealized PnL, in USD', total, {
      show: showGain(total),
      ...extra,
    }),
    column.pnl(
      'unrealizedWithReceivedUsd',
      'With received',
      receivedHelp,
      (card) => unrealizedWithReceivedUsd(card.metadata, priceUsd(card)),
      { drop: 7, ...extra },
    ),
    ...cardColumns.slice(after),
  ];
}

/** Two formulas are in use; a narrow table shows only the first. */
function noteReceived(shown: readonly Card[], prices: Prices | undefined): string[] {
  const holdsReceived = (card: Card) => unrealizedWithReceivedUsd(card.metadata, findPrice(card, prices)) !== null;
  const { length } = shown.filter(holdsReceived);
  if (length === 0) return [];
  return [
    `${length} of these ${length === 1 ? 'holds' : 'hold'} received tokens: unrealizedUsd ignores their cost basis, unrealizedWithReceivedUsd subtracts it (--columns).`,
  ];
}

export function tokenPositions(prices?: Prices) {
  return listView<Card>(positionColumns(prices), {
    empty: 'No such positions in this token.',
    notes: (shown) => noteReceived(shown, prices),
    after: () => (prices === undefined ? [] : warnOfPrices(prices)),
  });
}

export function profilePositions(prices?: Prices) {
  return {
    ...tokenPositions(prices),
    empty: 'No such positions. Perps need --chains hyperliquid or --chains all.',
    chart: drawPositions,
  };
}

/** Extra in lists; a single position has room for them. */
const shownAlways = ['status', 'amountWithLeverage', 'copies', 'buyers24h', 'address', 'tokenAddress', 'itemId'];

export function onePosition(prices?: Prices) {
  const columns = positionColumns(prices).map((each) =>
    shownAlways.includes(each.key) ? { ...each, extra: false } : each,
  );
  return recordView<Card>(columns, { notes: (card) => noteReceived([card], prices), blocks: cardBlocks });
}

function drawPositions(cards: readonly Card[]): BarChart {
  return {
    title: 'Realized PnL by position, all time',
    bars: cards.map(({ metadata }) => ({
      label: `${metadata.tokenSymbol ?? shortAddress(metadata.tokenAddress)} ${metadata.perpPositionType ?? metadata.tokenChain}`,
      usd: metadata.positionStats.realizedGainsUSD,
    })),
  };
}
