import { isSolanaAddress, normalizeAddress } from '../../api/address.ts';
import { local } from '../../api/endpoint.ts';
import { isObject, parseJson, whyNotJson } from '../../api/json.ts';
import { number, optional } from '../../api/kind.ts';
import type { Context } from '../../context.ts';
import { usageError } from '../../errors.ts';
import type { Input } from '../../lib/files/source.ts';
import type { AnyView } from '../../lib/output/view.ts';
import { written } from '../../lib/quoted.ts';
import { option } from '../params.ts';
import type { Priced, Prices } from './view.ts';

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

/** A view of positions with columns for the prices that were given. Errors: those of `readPrices`. */
export function chooseView(makeView: (prices?: Prices) => AnyView) {
  return async (typed: PriceInput, { io, options, note }: Context): Promise<AnyView> => {
    const prices = await readPrices(typed, io);
    if (prices !== undefined && (options.format === 'json' || options.format === 'ndjson'))
      note("Prices add columns to tables, csv and tsv; JSON is the service's answer, unchanged.");
    return makeView(prices);
  };
}

/** `undefined` without prices. Errors: `usage` for invalid content, naming the entry; `local-file`. */
async function readPrices({ price, pricesFile }: PriceInput, input: Input): Promise<Prices | undefined> {
  if (pricesFile !== undefined) {
    const { readText } = await import('../../lib/files/source.ts');
    return pricesIn(await readText(pricesFile, input, maxPriceBytes), pricesFile);
  }
  return price === undefined ? undefined : { find: priceOneToken(price), notes: () => [] };
}

/** One price cannot fit two tokens, which may have the same symbol. Errors: `usage`, when it is looked up. */
function priceOneToken(price: number): Prices['find'] {
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

const maxNamedKeys = 5;

/**
 * Prices by `chain:address`, by address or by symbol, the first that is there; notes name the keys that fit no token, and those that fit
 * several. Errors: `usage`, naming the entry.
 */
function pricesIn(text: string, file: string): Prices {
  const prices = new Map<string, { key: string; price: number; tokens: Set<string> }>();
  for (const [key, value] of Object.entries(readObject(text, file))) {
    if (value === null) continue;
    if (typeof value !== 'number' || !Number.isFinite(value) || value < 0)
      throw usageError(
        `--prices-file ${file}: the price of ${written(key)} must be a number from 0, in USD, or null`,
        shape,
      );
    prices.set(normalizePriceKey(key), { key, price: value, tokens: new Set() });
  }
  let isAsked = false;
  const find = (token: Priced): number | null => {
    isAsked = true;
    const { tokenChain, tokenAddress, tokenSymbol } = token;
    const found = [`${tokenChain}:${tokenAddress}`, tokenAddress, tokenSymbol ?? '']
      .map((name) => prices.get(normalizePriceKey(name)))
      .find((each) => each !== undefined);
    found?.tokens.add(tokenKey(token));
    return found?.price ?? null;
  };
  const notes = () => {
    if (!isAsked) return [];
    const all = [...prices.values()];
    const unused = all.flatMap(({ key, tokens }) => (tokens.size === 0 ? [written(key)] : []));
    const more = unused.length > maxNamedKeys ? ` and ${unused.length - maxNamedKeys} more` : '';
    return [
      ...all
        .filter(({ tokens }) => tokens.size > 1)
        .map(
          ({ key, tokens }) =>
            `warning: ${written(key)} priced ${tokens.size} tokens: ${[...tokens].join(', ')}. Give each its own price.`,
        ),
      ...(unused.length === 0
        ? []
        : [`warning: ${file}: no position shown is in ${unused.slice(0, maxNamedKeys).join(', ')}${more}`]),
    ];
  };
  return { find, notes };
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
