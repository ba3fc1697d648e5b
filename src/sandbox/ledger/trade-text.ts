import { hash } from 'node:crypto';
import { isEvmAddress, isSolanaAddress, normalizeAddress, textProblem } from '../../api/address.ts';
import { type Chain, chains } from '../../api/chain.ts';
import { parseTime } from '../../api/duration.ts';
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

/** A trade as a file writes it; a field that is absent or blank is one the file does not say. */
export type TradeText = Partial<Record<TradeField, string>>;

const numberPattern = /^[+-]?(\d+(?:\.\d*)?|\.\d+)(e[+-]?\d+)?$/i;
const visiblePattern = /^[^\p{C}\p{Z}]+$/u;
const numberFields = new Set<TradeField>(['amount', 'usd', 'priceUsd', 'leverage', 'supply']);
const sides: Readonly<Record<string, Trade['side']>> = { buy: 'buy', b: 'buy', sell: 'sell', s: 'sell', a: 'sell' };

/**
 * The trade of a row, or every reason why it is none, each naming field, value and what is right; `keyParts` is what else tells this row from
 * others, `moreChains` the sandbox's own. Assumed: a trade without USD value is priced by `priceUsd`.
 */
export function readTradeText(
  text: TradeText,
  keyParts: readonly string[] = [],
  moreChains: readonly string[] = [],
): { trade: Trade } | { reason: string } {
  const given = trimTexts(text);
  const known: readonly Chain[] = [...chains, ...moreChains];
  const chain = known.find((each) => each === given.chain.toLowerCase());
  // Every other rule hangs on the chain.
  if (chain === undefined) return { reason: `chain ${shown(given.chain)}: must be one of ${known.join(', ')}` };
  const problems: string[] = [];
  function check<Value>(field: TradeField, value: Value | undefined, right: string, fallback: Value): Value {
    if (value !== undefined) return value;
    problems.push(
      `${field} ${shown(given[field])}: must be ${numberFields.has(field) ? numberRule(given[field], right) : right}`,
    );
    return fallback;
  }

  const isPerpChain = chain === 'hyperliquid';
  const readDirection = (): Trade['direction'] => {
    const value = given.direction.toLowerCase();
    if (value === '' || value === 'spot') return null;
    if (!isPerpChain) return check('direction', undefined, 'empty: only hyperliquid has long and short', null);
    return check('direction', value === 'long' || value === 'short' ? value : undefined, 'long or short', null);
  };
  const readLeverage = (isPerp: boolean): number => {
    if (given.leverage === '') return 1;
    const value = check('leverage', readPositive(given.leverage), 'a number above 0', 1);
    return isPerp || value === 1 ? value : check('leverage', undefined, '1 without a direction', 1);
  };

  const walletRule = chain === 'solana' ? 'a Solana address (base58 of 32 bytes)' : '0x and 40 hex digits';
  const trader = check('trader', readWallet(given.trader, chain), walletRule, '');
  const tokenRule = isPerpChain ? 'a coin of 1 to 32 visible characters' : walletRule;
  const tokenText = given.token || (isPerpChain ? given.symbol : '');
  const token = check('token', readToken(tokenText, chain), tokenRule, '');
  const side = check('side', readSide(given.side), 'buy or sell', 'buy');
  const amount = check('amount', readPositive(given.amount), 'a number above 0', 1);
  const price = readNumber(given.priceUsd);
  const usd =
    given.usd === '' && price !== undefined
      ? check('priceUsd', readNotNegative(String(price * amount)), 'a number of 0 or more', 0)
      : check('usd', readNotNegative(given.usd), 'a number of 0 or more', 0);
  const atMs = check(
    'time',
    readTime(given.time),
    'an ISO 8601 time, Unix seconds (10 digits) or Unix milliseconds (13 digits)',
    0,
  );
  const direction = readDirection();
  const leverage = readLeverage(direction !== null);
  const tx = given.tx === '' ? null : check('tx', readVisible(given.tx, 128), 'up to 128 visible characters', '');
  const orderId = given.orderId && check('orderId', readVisible(given.orderId, 64), 'up to 64 visible characters', '');
  const tokenSymbol = given.symbol && check('symbol', readStorable(given.symbol), storableRule, '');
  const tokenName = given.name && check('name', readStorable(given.name), storableRule, '');
  const supply = given.supply && check('supply', readPositive(given.supply), 'a number above 0', 0);

  if (problems.length > 0) return { reason: problems.join('; ') };
  // Nothing of the key holds a tab: numbers, addresses, a time and visible text.
  const key = [chain, trader, token, side, amount, usd, given.time, tx ?? '', orderId, direction ?? '', leverage];
  const row = [...key, ...keyParts.map((part) => part.replaceAll('\t', ' '))].join('\t');
  // With the time first, trades of one time are neighbors in the index; 66 bits of the hash tell those of one millisecond apart.
  const rowKey = atMs.toString(36) + hash('md5', row, 'base64url').slice(0, 11);
  const trade: Trade = { chain, trader, token, side, direction, leverage, amount, usd, atMs, tx, rowKey };
  if (tokenSymbol) trade.tokenSymbol = tokenSymbol;
  if (tokenName) trade.tokenName = tokenName;
  if (supply) trade.tokenSupply = supply;
  if (orderId) trade.orderId = orderId;
  return { trade };
}

/** The text of each field in the file, trimmed. */
function trimTexts(text: TradeText): Record<TradeField, string> {
  const given = {} as Record<TradeField, string>;
  for (const field of tradeFields) given[field] = text[field]?.trim() ?? '';
  return given;
}

/** Numbers of trades: prices, values and sums of as many as there are stay far within what a double holds. */
const [minNumber, maxNumber] = [1e-60, 1e60];

/** The number of a decimal text; `undefined` for other text and for numbers whose sums or quotients could overflow. */
export function readNumber(text: string): number | undefined {
  const value = numberPattern.test(text) ? Number(text) : Number.NaN;
  const size = Math.abs(value);
  return value === 0 || (size >= minNumber && size <= maxNumber) ? value : undefined;
}

function numberRule(text: string, rule: string): string {
  const isNumber = numberPattern.test(text) && Number(text) !== 0;
  return isNumber && readNumber(text) === undefined ? 'a number from 1e-60 to 1e60' : rule;
}

/** Unix milliseconds of a time since 1970. */
export function readTime(text: string): number | undefined {
  // Some exports write 1.795176e9.
  const atMs = parseTime(/^[\d.]+e/i.test(text) ? String(Number(text)) : text);
  return atMs !== undefined && atMs >= 0 ? atMs : undefined;
}

function shown(value: string): string {
  return value === '' ? 'is empty' : JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value);
}

function readSide(text: string): Trade['side'] | undefined {
  const name = text.toLowerCase();
  return Object.hasOwn(sides, name) ? sides[name] : undefined;
}

function readWallet(text: string, chain: Chain): string | undefined {
  const isRight = chain === 'solana' ? isSolanaAddress(text) : isEvmAddress(text);
  return isRight ? normalizeAddress(text) : undefined;
}

function readToken(text: string, chain: Chain): string | undefined {
  if (chain !== 'hyperliquid') return readWallet(text, chain);
  return readVisible(text, 32) === undefined ? undefined : normalizeAddress(text);
}

function readVisible(text: string, limit: number): string | undefined {
  return text.length <= limit && visiblePattern.test(text) ? text : undefined;
}

const storableRule = 'up to 200 characters, without NUL and halves of characters';

/** A text as SQLite keeps it. */
function readStorable(text: string): string | undefined {
  return text.length <= 200 && textProblem(text) === undefined ? text : undefined;
}

export function readPositive(text: string): number | undefined {
  const value = readNumber(text);
  return value !== undefined && value > 0 ? value : undefined;
}

function readNotNegative(text: string): number | undefined {
  const value = readNumber(text);
  return value !== undefined && value >= 0 ? value : undefined;
}
