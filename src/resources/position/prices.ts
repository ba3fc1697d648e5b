import { usageError } from '../../errors.ts';
import { decodeUtf8, type Input, readWhole } from '../../files/source.ts';
import { normalizeAddress } from '../../model/address.ts';
import { isObject, parseJson, whyNotJson } from '../../model/json.ts';
import { written } from '../../model/quoted.ts';

/** The price of a token in USD; `null`: none given. */
export type PriceOf = (token: {
  tokenChain: string;
  tokenAddress: string;
  tokenSymbol?: string | null | undefined;
}) => number | null;

/**
 * The price for every token, or the file with one each; `undefined` without both. Errors: `usage` for both and for invalid content, naming
 * the entry; `local-file`.
 */
export async function readPrices(
  { price, pricesFile }: { price?: number | undefined; pricesFile?: string | undefined },
  input: Input,
): Promise<PriceOf | undefined> {
  if (price !== undefined && pricesFile !== undefined)
    throw usageError('--price and --prices-file cannot be used together', 'The file can hold any number of prices.');
  if (pricesFile !== undefined) {
    const bytes = await readWhole(pricesFile, input, maxPriceBytes);
    return pricesIn(decodeUtf8(bytes, pricesFile).replace(/^\uFEFF/, ''), pricesFile);
  }
  return price === undefined ? undefined : () => price;
}

/** Some 200,000 tokens. */
const maxPriceBytes = 16 * 1024 * 1024;

const shape =
  'Write {"base:0x4ed4...": 0.0041, "hyperliquid:ETH": 1875, "PEPE": 0.0000071}: chain:address, or a symbol.';

/** Prices by `chain:address`, or by symbol for every token of that symbol; the address wins. Errors: `usage`, naming the entry. */
function pricesIn(text: string, file: string): PriceOf {
  const prices = new Map<string, number>();
  for (const [key, value] of Object.entries(readObject(text, file))) {
    if (value === null) continue;
    if (typeof value !== 'number' || !Number.isFinite(value) || value < 0)
      throw usageError(
        `--prices-file ${file}: the price of ${written(key)} must be a number from 0, in USD, or null`,
        shape,
      );
    prices.set(nameOf(key), value);
  }
  return ({ tokenChain, tokenAddress, tokenSymbol }) =>
    prices.get(nameOf(`${tokenChain}:${tokenAddress}`)) ?? prices.get((tokenSymbol ?? '').toLowerCase()) ?? null;
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

function nameOf(key: string): string {
  const at = key.indexOf(':');
  return at === -1
    ? key.toLowerCase()
    : `${key.slice(0, at).trim().toLowerCase()}:${normalizeAddress(key.slice(at + 1).trim())}`;
}
