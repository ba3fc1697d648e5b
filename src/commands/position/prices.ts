import { isSolanaAddress, normalizeAddress } from '../../api/address.ts';
import { local } from '../../api/endpoint.ts';
import { isObject, parseJson, whyNotJson } from '../../api/json.ts';
import { number, optional } from '../../api/kind.ts';
import type { Context } from '../../context.ts';
import { usageError } from '../../errors.ts';
import type { AnyView } from '../../lib/output/view.ts';
import { written } from '../../lib/quoted.ts';
import { option } from '../params.ts';
import type { FindPrice, Priced } from './view.ts';

/** Parameters of commands that print positions. */
export const priceParams = {
  price: local(optional(number(0)), 'token price in USD; adds unrealized and total PnL to tables, csv and tsv'),
  pricesFile: option.text('JSON file of prices in USD by chain:address, address or symbol'),
};

interface PriceInput {
  price?: number | undefined;
  pricesFile?: string | undefined;
}

/** A view of positions with columns for the prices that were given. Errors: those of `readPrices`; `usage` for prices in a chart. */
export function chooseView(makeView: (findPrice?: FindPrice) => AnyView) {
  return async (typed: PriceInput & { chart?: boolean | undefined }, context: Context): Promise<AnyView> => {
    const findPrice = await readPrices(typed, context);
    const { options, note } = context;
    if (findPrice !== undefined && typed.chart)
      throw usageError('--chart shows realized PnL only and takes no prices', 'Remove --chart or the prices.');
    if (findPrice !== undefined && (options.format === 'json' || options.format === 'ndjson'))
      note("Prices add columns to tables, csv and tsv; JSON is the service's answer, unchanged.");
    return makeView(findPrice);
  };
}

/** `undefined` without prices. Errors: `usage` for both flags and for invalid content, naming the entry; `local-file`. */
async function readPrices(
  { price, pricesFile }: PriceInput,
  { io, warn }: Pick<Context, 'io' | 'warn'>,
): Promise<FindPrice | undefined> {
  if (price !== undefined && pricesFile !== undefined)
    throw usageError('--price and --prices-file cannot be used together', 'The file can hold any number of prices.');
  if (pricesFile !== undefined) {
    const { readText } = await import('../../lib/files/source.ts');
    return pricesIn(await readText(pricesFile, io, maxPriceBytes), pricesFile, warn);
  }
  return price === undefined ? undefined : priceOneToken(price);
}

/** One price cannot fit two tokens, which may have the same symbol. Errors: `usage`, when it is looked up. */
function priceOneToken(price: number): FindPrice {
  let first: Priced | undefined;
  return (token) => {
    first ??= token;
    if (tokenKey(token) === tokenKey(first)) return price;
    const [one, other] = [first, token].map(
      (each) => `${each.tokenSymbol} (${each.tokenAddress}) on ${each.tokenChain}`,
    );
    throw usageError(
      `--price is for one token, and these positions are in ${one} and ${other}`,
      'Give a price for each token: --prices-file prices.json with {"base:0x4ed4...": 0.0041, "ETH": 1875}.',
    );
  };
}

/** Some 200,000 tokens. */
const maxPriceBytes = 16 * 1024 * 1024;

const shape =
  'Write {"base:0x4ed4...": 0.0041, "hyperliquid:ETH": 1875, "PEPE": 0.0000071}: chain:address, an address, or a symbol.';

/**
 * Prices by `chain:address`, by address or by symbol, the first that is there; warns of a symbol of several tokens. Errors: `usage` for what is no
 * price, naming the entry.
 */
function pricesIn(text: string, file: string, warn: (text: string) => void): FindPrice {
  const prices = new Map<string, number>();
  for (const [key, value] of Object.entries(readObject(text, file))) {
    if (value === null) continue;
    if (typeof value !== 'number' || !Number.isFinite(value) || value < 0)
      throw usageError(
        `--prices-file ${file}: the price of ${written(key)} must be a number from 0, in USD, or null`,
        shape,
      );
    prices.set(normalizePriceKey(key), value);
  }
  const tokensOfSymbols = new Map<string, Set<string>>();
  const findBySymbol = (token: Priced): number | null => {
    const symbol = normalizePriceKey(token.tokenSymbol ?? '');
    const price = prices.get(symbol);
    if (price === undefined) return null;
    const tokens = tokensOfSymbols.get(symbol) ?? new Set();
    const countBefore = tokens.size;
    tokensOfSymbols.set(symbol, tokens.add(tokenKey(token)));
    if (countBefore === 1 && tokens.size === 2)
      warn(
        `the price of ${written(symbol)} is used for ${[...tokens].join(' and ')}: give each its own if they differ`,
      );
    return price;
  };
  return (token) => {
    const { tokenChain, tokenAddress } = token;
    const keys = [`${tokenChain}:${tokenAddress}`, tokenAddress].map(normalizePriceKey);
    return keys.map((key) => prices.get(key)).find((price) => price !== undefined) ?? findBySymbol(token);
  };
}

function tokenKey({ tokenChain, tokenAddress }: Priced): string {
  return `${tokenChain}:${normalizeAddress(tokenAddress)}`;
}

function readObject(text: string, file: string): object {
  let value: unknown;
  try {
    value = parseJson(text);
  } catch (cause) {
    throw usageError(`--prices-file ${file}: not JSON: ${whyNotJson(cause)}`, shape);
  }
  if (!isObject(value)) throw usageError(`--prices-file ${file}: must be a JSON object`, shape);
  return value;
}

function normalizePriceKey(key: string): string {
  const at = key.indexOf(':');
  if (at === -1) return isSolanaAddress(key.trim()) ? key.trim() : key.trim().toLowerCase();
  return `${key.slice(0, at).trim().toLowerCase()}:${normalizeAddress(key.slice(at + 1).trim())}`;
}
