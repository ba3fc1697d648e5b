import { z } from 'zod';
import { option } from '../../cli/command.ts';
import { chartParam, deriveCommands, endpointCommand, serviceExitCodes } from '../../cli/endpoint-command.ts';
import type { Context } from '../../context.ts';
import { inPath, local } from '../../contract/endpoint.ts';
import { inputError, usageError } from '../../errors.ts';
import { decodeText, type Input, readWhole } from '../../files/source.ts';
import { normalizeAddress } from '../../model/address.ts';
import { parseTime } from '../../model/duration.ts';
import { isObject, parseJson, whyNotJson } from '../../model/json.ts';
import { written } from '../../model/quoted.ts';
import type { AnyView } from '../../output/view.ts';
import * as endpoints from './endpoints.ts';
import type { FindPrice } from './view.ts';

const loadPositionViews = () => import('./view.ts');

export const views = {
  ofToken: async () => (await loadPositionViews()).ofToken(),
  ofProfile: async () => (await loadPositionViews()).ofProfile(),
  find: async () => (await loadPositionViews()).one(),
  get: async () => (await loadPositionViews()).one(),
};

const priceParams = {
  price: local(
    z.number().min(0).optional(),
    'current price of the token in USD: adds unrealized and total PnL to tables, csv and tsv',
  ),
  pricesFile: option.text('JSON file of prices in USD by address or symbol: {"base:0x4ed4...": 0.0041, "ETH": 1875}'),
};

type Prices = { price?: number | undefined; pricesFile?: string | undefined; chart?: boolean | undefined };

/** What a command of cards adds to that of its endpoint: columns with the user's prices. */
function withPrices(name: 'ofToken' | 'ofProfile' | 'one') {
  return {
    exitCodes: [3, ...serviceExitCodes],
    chooseView: async (typed: Prices, { world, options, note }: Context): Promise<AnyView> => {
      const findPrice = await readPrices(typed, world.io);
      if (findPrice !== undefined && typed.chart)
        throw usageError('--chart shows realized PnL only and takes no prices', 'Remove --chart or the prices.');
      if (findPrice !== undefined && (options.format === 'json' || options.format === 'ndjson'))
        note("Prices fill columns of tables, csv and tsv; JSON is the service's answer unchanged.");
      return (await loadPositionViews())[name](findPrice);
    },
  };
}

const ofToken = endpointCommand(endpoints.ofToken, views.ofToken, { params: priceParams, ...withPrices('ofToken') });

const ofProfile = endpointCommand(endpoints.ofProfile, views.ofProfile, {
  params: { ...priceParams, chart: chartParam },
  ...withPrices('ofProfile'),
});

const get = endpointCommand(endpoints.get, views.get, { params: priceParams, ...withPrices('one') });

const find = endpointCommand(endpoints.find, views.find, {
  params: {
    timestamp: inPath(z.string().min(1), 'when it traded: ISO time (UTC), Unix seconds or milliseconds, or now'),
    ...priceParams,
  },
  prepare: ({ price: _, pricesFile: __, ...typed }, { world }) => ({
    ...typed,
    timestamp: tradeMoment(typed.timestamp, typed.chain, world.now()),
  }),
  ...withPrices('one'),
});

/** Every command of this noun, and those about the positions of others. */
export const commands = deriveCommands(endpoints, views, [ofToken, ofProfile, find, get]);

/** Trades lie between these years. */
const earliestMs = Date.UTC(2010, 0, 1);
const latestMs = Date.UTC(2100, 0, 1);

/** Unix seconds, milliseconds on hyperliquid. Errors: `usage`. */
function tradeMoment(text: string, chain: string, nowMs: number): string {
  const atMs = text === 'now' ? nowMs : parseTime(text);
  if (atMs === undefined)
    throw inputError((input) => ({
      message: `${input('timestamp')} ${text}: not a time`,
      hint: 'Write 2026-11-20T23:46:00Z, Unix seconds (10 digits), Unix milliseconds (13 digits), or now.',
    }));
  if (atMs < earliestMs || atMs >= latestMs)
    throw inputError((input) => ({
      message: `${input('timestamp')} ${text} is in the year ${new Date(atMs).getUTCFullYear()}, when nothing could trade here`,
      hint: 'Unix seconds have 10 digits and Unix milliseconds 13.',
    }));
  return String(chain === 'hyperliquid' ? atMs : Math.floor(atMs / 1000));
}

/** `undefined` without prices. Errors: `usage` for both flags and for invalid content, naming the entry; `local-file`. */
async function readPrices(
  { price, pricesFile }: { price?: number | undefined; pricesFile?: string | undefined },
  input: Input,
): Promise<FindPrice | undefined> {
  if (price !== undefined && pricesFile !== undefined)
    throw usageError('--price and --prices-file cannot be used together', 'The file can hold any number of prices.');
  if (pricesFile !== undefined) {
    const bytes = await readWhole(pricesFile, input, maxPriceBytes);
    return pricesIn(decodeText(bytes, pricesFile), pricesFile);
  }
  return price === undefined ? undefined : priceOneToken(price);
}

/** One price cannot fit two tokens. Errors: `usage`, where it is looked up. */
function priceOneToken(price: number): FindPrice {
  let first: string | undefined;
  return ({ tokenSymbol, tokenChain }) => {
    const name = `${tokenSymbol} on ${tokenChain}`;
    first ??= name;
    if (name === first) return price;
    throw usageError(
      `--price is for one token, and these positions are in ${first} and ${name}`,
      'Give a price for each token: --prices-file prices.json with {"base:0x4ed4...": 0.0041, "ETH": 1875}.',
    );
  };
}

/** Some 200,000 tokens. */
const maxPriceBytes = 16 * 1024 * 1024;

const shape =
  'Write {"base:0x4ed4...": 0.0041, "hyperliquid:ETH": 1875, "PEPE": 0.0000071}: chain:address, or a symbol.';

/** Prices by `chain:address`, or by symbol for every token of that symbol; the address wins. Errors: `usage`, naming the entry. */
function pricesIn(text: string, file: string): FindPrice {
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
  return ({ tokenChain, tokenAddress, tokenSymbol }) =>
    prices.get(normalizePriceKey(`${tokenChain}:${tokenAddress}`)) ??
    prices.get((tokenSymbol ?? '').toLowerCase()) ??
    null;
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
  return at === -1
    ? key.toLowerCase()
    : `${key.slice(0, at).trim().toLowerCase()}:${normalizeAddress(key.slice(at + 1).trim())}`;
}
