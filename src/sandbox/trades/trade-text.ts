import { isEvmAddress, isSolanaAddress, normalizeAddress } from '../../model/address.ts';
import { type Chain, chains } from '../../model/chain.ts';
import type { Trade } from './trade.ts';

/** What a file can say of a trade, with the names of such columns as letters and digits only. */
export const fieldNames = {
  time: ['time', 'timestamp', 'ts', 'blocktime', 'datetime', 'date'],
  chain: ['chain', 'blockchain', 'network'],
  trader: ['trader', 'wallet', 'walletaddress', 'address', 'account', 'maker'],
  token: ['token', 'mint', 'tokenaddress', 'contract', 'contractaddress'],
  symbol: ['symbol', 'tokensymbol', 'coin', 'ticker'],
  name: ['name', 'tokenname'],
  side: ['side', 'type'],
  amount: ['amount', 'tokenamount', 'size', 'sizetokens', 'quantity', 'qty'],
  usd: ['usd', 'usdvalue', 'usdamount', 'valueusd', 'sizeusd', 'amountusd'],
  priceUsd: ['priceusd', 'usdprice', 'price'],
  tx: ['tx', 'txhash', 'hash', 'transactionhash', 'signature'],
  orderId: ['orderid', 'oid'],
  direction: ['direction', 'perppositiontype'],
  leverage: ['leverage', 'perpleverage'],
  supply: ['supply', 'totalsupply', 'tokensupply'],
} as const satisfies Record<string, readonly string[]>;

export type TradeField = keyof typeof fieldNames;
export const tradeFields = Object.keys(fieldNames) as TradeField[];

/** Addresses and coins that were read before, by how they were written: the same ones stand in most rows of a file. */
export interface KnownAddresses {
  evm: Map<string, string>;
  solana: Map<string, string>;
  coins: Map<string, string>;
}

export function emptyAddresses(): KnownAddresses {
  return { evm: new Map(), solana: new Map(), coins: new Map() };
}

/** A trade as a file writes it; a field that is absent or blank is one the file does not say. */
export type TradeText = Partial<Record<TradeField, string>>;

const numberPattern = /^[+-]?(\d+(?:\.\d*)?|\.\d+)(e[+-]?\d+)?$/i;
const visiblePattern = /^[^\p{C}\p{Z}]+$/u;
/** The same for nearly all of it, in half the time. */
const asciiPattern = /^[!-~]+$/;
/** Decimals that are written as JavaScript does: no sign, no zeros around, and not more digits than a double keeps. */
const writtenPattern = /^(?:0|[1-9]\d{0,7})(?:\.\d{0,5}[1-9])?$/;
/** How most files write a time; days that not every month has are left to the other pattern. */
const usualTimePattern = /^\d{4}-\d\d-(?:[01]\d|2[0-8])T\d\d:\d\d:\d\d(?:\.\d{3})?Z$/;
const timePattern = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(:\d\d(?:\.\d+)?)?)? ?(Z|UTC|[+-]\d\d:?\d\d)?$/i;
/** Up to here a time is in seconds (the year 5138), beyond in milliseconds (from 1973). */
const secondsLimit = 1e11;
const numberFields = new Set<TradeField>(['amount', 'usd', 'priceUsd', 'leverage', 'supply']);
/** About 10 MB of them. */
const maxKnown = 100_000;
const sides: Readonly<Record<string, Trade['side']>> = { buy: 'buy', b: 'buy', sell: 'sell', s: 'sell', a: 'sell' };

/**
 * The trade of a row, or every reason why it is none, each naming field, value and what is right. `known` is one for a file, and added to;
 * `keyParts` is what else tells this row from others. Assumed: a trade without USD value is priced by `priceUsd`.
 */
export function readTradeText(
  text: TradeText,
  known: KnownAddresses,
  keyParts: readonly string[] = [],
): { trade: Trade } | { reason: string } {
  const given = trimTexts(text);
  const ownChain = given.chain.toLowerCase();
  const chain = chains.find((known) => known === ownChain);
  // Every other rule hangs on the chain.
  if (chain === undefined) return { reason: `chain ${shown(given.chain)}: must be one of ${chains.join(', ')}` };
  const problems: string[] = [];
  function check<Value>(field: TradeField, value: Value | undefined, right: string, fallback: Value): Value {
    if (value !== undefined) return value;
    problems.push(
      `${field} ${shown(given[field])}: must be ${numberFields.has(field) ? numberRule(given[field], right) : right}`,
    );
    return fallback;
  }

  const isPerpChain = chain === 'hyperliquid';
  const walletRule = chain === 'solana' ? 'a Solana address (base58 of 32 bytes)' : '0x and 40 hex digits';
  const trader = check('trader', readWallet(given.trader, chain, known), walletRule, '');
  const tokenRule = isPerpChain ? 'a coin of 1 to 32 visible characters' : walletRule;
  const tokenText = given.token || (isPerpChain ? given.symbol : '');
  const token = check('token', readToken(tokenText, chain, known), tokenRule, '');
  const side = check('side', readSide(given.side), 'buy or sell', 'buy');
  const amount = check('amount', readPositive(given.amount), 'a number above 0', 1);
  const usd = readUsd();
  const atMs = check('time', readTime(given.time), 'an ISO 8601 time, or Unix seconds or milliseconds', 0);
  const direction = readDirection();
  const leverage = readLeverage();
  const tx = given.tx === '' ? null : check('tx', readVisible(given.tx, 128), 'up to 128 visible characters', '');
  const orderId = given.orderId && check('orderId', readVisible(given.orderId, 64), 'up to 64 visible characters', '');
  const supply = given.supply && check('supply', readPositive(given.supply), 'a number above 0', 0);

  function readUsd(): number {
    const price = readNumber(given.priceUsd);
    if (given.usd !== '' || price === undefined) {
      return check('usd', readNotNegative(given.usd), 'a number of 0 or more', 0);
    }
    return check('priceUsd', readNotNegative(String(price * amount)), 'a number of 0 or more', 0);
  }
  function readDirection(): Trade['direction'] {
    const value = given.direction.toLowerCase();
    if (value === '' || value === 'spot') return null;
    if (!isPerpChain) return check('direction', undefined, 'empty: only hyperliquid has long and short', null);
    return check('direction', value === 'long' || value === 'short' ? value : undefined, 'long or short', null);
  }
  function readLeverage(): number {
    if (given.leverage === '') return 1;
    const value = check('leverage', readPositive(given.leverage), 'a number above 0', 1);
    return direction === null && value !== 1 ? check('leverage', undefined, '1 where there is no direction', 1) : value;
  }

  if (problems.length > 0) return { reason: problems.join('; ') };
  // Nothing of the key holds a tab: numbers, addresses, a time and visible text.
  const numbers = `${numberText(given.amount, amount)}\t${numberText(given.usd, usd)}`;
  const key = `${chain}\t${trader}\t${token}\t${side}\t${numbers}\t${given.time}\t${tx ?? ''}\t${orderId}\t${direction ?? ''}\t${leverage}`;
  const rowKey = keyParts.reduce((parts, part) => `${parts}\t${part.replaceAll('\t', ' ')}`, key);
  const trade: Trade = { chain, trader, token, side, direction, leverage, amount, usd, atMs, tx, rowKey };
  if (given.symbol !== '') trade.tokenSymbol = given.symbol;
  if (given.name !== '') trade.tokenName = given.name;
  if (supply) trade.tokenSupply = supply;
  if (orderId) trade.orderId = orderId;
  return { trade };
}

/** What the file says of each field, without blanks around it. Written out: made of names in variables it takes three times as long. */
function trimTexts(text: TradeText): Record<TradeField, string> {
  return {
    time: text.time?.trim() ?? '',
    chain: text.chain?.trim() ?? '',
    trader: text.trader?.trim() ?? '',
    token: text.token?.trim() ?? '',
    symbol: text.symbol?.trim() ?? '',
    name: text.name?.trim() ?? '',
    side: text.side?.trim() ?? '',
    amount: text.amount?.trim() ?? '',
    usd: text.usd?.trim() ?? '',
    priceUsd: text.priceUsd?.trim() ?? '',
    tx: text.tx?.trim() ?? '',
    orderId: text.orderId?.trim() ?? '',
    direction: text.direction?.trim() ?? '',
    leverage: text.leverage?.trim() ?? '',
    supply: text.supply?.trim() ?? '',
  };
}

/** A number as JavaScript writes it, which is mostly how the file does: to write it anew would take ten times as long. */
function numberText(text: string, value: number): string {
  return writtenPattern.test(text) ? text : String(value);
}

/** A copy of the text: one cut out of a file keeps the whole piece that was read in memory. */
export function ownString(text: string): string {
  return Buffer.from(text).toString();
}

/** Numbers of trades: prices, values and sums of as many as there are stay far within what a double holds. */
const [minNumber, maxNumber] = [1e-60, 1e60];

/** The number a decimal text stands for, or `undefined`, also where sums and quotients of such numbers could be none. */
export function readNumber(text: string): number | undefined {
  const value = numberPattern.test(text) ? Number(text) : Number.NaN;
  const size = Math.abs(value);
  return value === 0 || (size >= minNumber && size <= maxNumber) ? value : undefined;
}

function numberRule(text: string, rule: string): string {
  const isNumber = numberPattern.test(text) && Number(text) !== 0;
  return isNumber && readNumber(text) === undefined ? 'a number from 1e-60 to 1e60' : rule;
}

/** Unix milliseconds of an ISO 8601 text (UTC where it names no zone) or of Unix seconds or milliseconds. */
export function readTime(text: string): number | undefined {
  if (usualTimePattern.test(text)) return readDate(text);
  const unix = readNumber(text);
  if (unix !== undefined) {
    const atMs = Math.round(unix <= secondsLimit ? unix * 1000 : unix);
    return atMs >= 0 && atMs <= secondsLimit * 1000 ? atMs : undefined;
  }
  const [matched, day, minute = '00:00', second = ':00', zone = 'Z'] = timePattern.exec(text) ?? [];
  if (matched === undefined || !isDay(day ?? '')) return undefined;
  return readDate(`${day}T${minute}${second}${/^(z|utc)$/i.test(zone) ? 'Z' : zone}`);
}

function readDate(text: string): number | undefined {
  const atMs = Date.parse(text);
  return Number.isNaN(atMs) || atMs < 0 ? undefined : atMs;
}

/** Date.parse takes 30 February for 1 March; it knows by itself that there is no 32nd, nor a 13th month. */
function isDay(day: string): boolean {
  const date = Number(day.slice(-2));
  return date <= 28 || new Date(`${day}T00:00:00Z`).getUTCDate() === date;
}

function shown(value: string): string {
  return value === '' ? 'is empty' : JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value);
}

function readSide(text: string): Trade['side'] | undefined {
  const name = text.toLowerCase();
  return Object.hasOwn(sides, name) ? sides[name] : undefined;
}

function readWallet(text: string, chain: Chain, known: KnownAddresses): string | undefined {
  return chain === 'solana' ? readKnown(text, known.solana, isSolanaAddress) : readKnown(text, known.evm, isEvmAddress);
}

function readToken(text: string, chain: Chain, known: KnownAddresses): string | undefined {
  if (chain !== 'hyperliquid') return readWallet(text, chain, known);
  return readKnown(text, known.coins, (coin) => readVisible(coin, 32) !== undefined);
}

/** The same address is always the same text, which stands for itself. */
function readKnown(text: string, known: Map<string, string>, isRight: (text: string) => boolean): string | undefined {
  const before = known.get(text);
  if (before !== undefined) return before;
  if (!isRight(text)) return undefined;
  if (known.size >= maxKnown) known.clear();
  const address = ownString(normalizeAddress(text));
  known.set(text === address ? address : ownString(text), address);
  return address;
}

function readVisible(text: string, limit: number): string | undefined {
  return text.length <= limit && (asciiPattern.test(text) || visiblePattern.test(text)) ? text : undefined;
}

export function readPositive(text: string): number | undefined {
  const value = readNumber(text);
  return value !== undefined && value > 0 ? value : undefined;
}

function readNotNegative(text: string): number | undefined {
  const value = readNumber(text);
  return value !== undefined && value >= 0 ? value : undefined;
}
