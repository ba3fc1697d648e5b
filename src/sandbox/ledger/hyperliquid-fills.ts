import { isObject } from '../../api/json.ts';
import { usageError } from '../../errors.ts';
import { type FileRow, type ReadEvent, type RowReader, readCells, rejected } from './read-rows.ts';
import { groupBy, type Trade } from './trade.ts';
import { readNumber, readPositive, readTime, readTradeText } from './trade-text.ts';

const csvColumns = {
  user: 'Account',
  coin: 'Coin',
  px: 'Execution Price',
  sz: 'Size Tokens',
  side: 'Side',
  time: 'Timestamp IST',
  startPosition: 'Start Position',
  dir: 'Direction',
  hash: 'Transaction Hash',
  oid: 'Order ID',
  fee: 'Fee',
  tid: 'Trade ID',
} as const;

type FillField = keyof typeof csvColumns;

interface Fill {
  row: FileRow;
  account: string;
  coin: string;
  atMs: number;
  /** The signed size held before and after. */
  start: number;
  end: number;
  isSpot: boolean;
  /** The second fill of a self-trade, which starts where the first one ended. */
  isSelfTrade: boolean;
  isBuy: boolean;
  size: number;
  price: number;
  fee: number;
  texts: Record<FillField, string>;
}

interface Part {
  direction: Trade['direction'];
  size: number;
  /** Size before it in that position; below 0 if the fill's direction contradicts its start. */
  startAmount: number;
  name: string;
}

/**
 * Reads fills of the exchange, all before the first trade. Long and short come from the fill's direction; one that crosses zero
 * (`Long > Short`) is two trades. Coins named `@107` or `PURR/USDC` are spot; the fee of a buy is taken from the coins bought.
 * The value is price times size; leverage, which fills do not say, is 1.
 */
export function hyperliquidFillsReader(file: string): RowReader {
  const fills: Fill[] = [];
  const items = { count: 0, isAnyNamed: false };
  return {
    start: (columns) => {
      const wanted = Object.values(csvColumns);
      const missing = wanted.filter((column) => !columns.includes(column));
      if (missing.length > 0)
        throw usageError(
          `${file}: the file has no column ${missing.join(', ')}`,
          `The preset hyperliquid-fills reads ${wanted.join(', ')}.`,
        );
    },
    read(row) {
      const fill = readFill(row);
      if ('reason' in fill) return [rejected(row, fill.reason)];
      fills.push(fill);
      return [];
    },
    finish: () => {
      if (items.count === 0 || items.isAnyNamed) return sortFills(fills).flatMap(readParts);
      throw usageError(
        `${file}: the document holds no fills that name their account`,
        'Give [{"request": {"user": "0x.."}, "response": [fill, ..]}], or fills with a "user" each.',
      );
    },
    splitItem: (item) =>
      listFills(item).map((fill) => {
        items.count += 1;
        items.isAnyNamed ||= isObject(fill) && fill['user'] !== undefined;
        const cells = isObject(fill) ? readCells(fill) : {};
        const [line, columns] = [items.count, Object.keys(cells)];
        return { line, at: `fill ${line}`, cells, columns, text: JSON.stringify(fill) };
      }),
  };
}

/** The fills of one recorded answer (`{request: {user}, response: [fill]}`), or a fill of a plain list. */
function listFills(item: unknown): unknown[] {
  if (!isObject(item) || !Array.isArray(item['response'])) return [item];
  const request = isObject(item['request']) ? item['request'] : {};
  return item['response'].map((fill: unknown) => (isObject(fill) ? { user: request['user'], ...fill } : fill));
}

function readFill(row: FileRow): Fill | { reason: string } {
  const texts = { ...csvColumns } as Record<FillField, string>;
  for (const name of Object.keys(csvColumns) as FillField[]) {
    texts[name] = (row.cells[name] ?? row.cells[csvColumns[name]] ?? '').trim();
  }
  const problems: string[] = [];
  function check<Value>(name: FillField, value: Value | undefined, right: string, fallback: Value): Value {
    if (value !== undefined) return value;
    problems.push(`${name} ${JSON.stringify(texts[name])}: must be ${right}`);
    return fallback;
  }
  const isSpot = /^@\d|\//.test(texts.coin);
  const isBuy = check('side', readIsBuy(texts.side), 'B, A, BUY or SELL', true);
  const size = check('sz', readPositive(texts.sz), 'a number above 0', 1);
  const price = check('px', readPositive(texts.px), 'a number above 0', 1);
  const start = check('startPosition', readNumber(texts.startPosition), 'a number', 0);
  const fee = check('fee', texts.fee === '' ? 0 : readNumber(texts.fee), 'a number', 0);
  const atMs = check('time', readIst(texts.time) ?? readTime(texts.time), 'Unix milliseconds or DD-MM-YYYY HH:MM', 0);
  if (problems.length > 0) return { reason: problems.join('; ') };
  const end = start + (isBuy ? size - (isSpot ? fee : 0) : -size);
  const [account, coin] = [texts.user.toLowerCase(), texts.coin];
  return { row, account, coin, atMs, start, end, isSelfTrade: false, isSpot, isBuy, size, price, fee, texts };
}

function readIsBuy(text: string): boolean | undefined {
  if (/^(b|buy)$/i.test(text)) return true;
  return /^(a|sell)$/i.test(text) ? false : undefined;
}

/** The export writes India's time, five and a half hours ahead, to the minute. */
function readIst(text: string): number | undefined {
  const [matched, day, month, year, hour = '', minute] = /^(\d\d)-(\d\d)-(\d{4}) (\d?\d):(\d\d)$/.exec(text) ?? [];
  if (matched === undefined) return undefined;
  return readTime(`${year}-${month}-${day}T${hour.padStart(2, '0')}:${minute}+05:30`);
}

function readParts(fill: Fill): ReadEvent[] {
  const parts = splitFill(fill);
  if ('reason' in parts) return [rejected(fill.row, parts.reason)];
  const events: ReadEvent[] = [];
  const { px, startPosition, fee, tid, hash, oid } = fill.texts;
  for (const { size, direction, startAmount, name } of parts) {
    const text = {
      chain: 'hyperliquid',
      time: String(fill.atMs),
      trader: fill.account,
      token: fill.coin,
      symbol: fill.coin,
      side: fill.isBuy ? 'buy' : 'sell',
      amount: String(size),
      usd: String(fill.price * (fill.isSpot ? fill.size : size)),
      tx: hash,
      orderId: oid,
      direction: direction ?? '',
    };
    const read = readTradeText(text, [px, startPosition, fee, tid, name]);
    if ('reason' in read) return [rejected(fill.row, read.reason)];
    const trade = startAmount < 0 ? read.trade : { ...read.trade, startAmount };
    events.push({ kind: 'trade', line: fill.row.line, trade });
  }
  return events;
}

function splitFill(fill: Fill): Part[] | { reason: string } {
  const { isBuy, isSpot, isSelfTrade, size, start, fee } = fill;
  const { dir } = fill.texts;
  if (isSpot) return [{ direction: null, size: isBuy ? size - fee : size, startAmount: start, name: 'spot' }];
  const [, verb, word] = /^(Open|Close) (Long|Short)$/.exec(dir) ?? [];
  if (verb !== undefined && !isSelfTrade) {
    const direction = word === 'Long' ? 'long' : 'short';
    const buys = (verb === 'Open') === (direction === 'long');
    if (isBuy !== buys) return { reason: `dir "${dir}": must fit side "${fill.texts.side}"` };
    return [{ direction, size, startAmount: direction === 'long' ? start : 0 - start, name: 'all' }];
  }
  const parts = partsByStart(fill);
  const isTurn = / > /.test(dir);
  if (isSelfTrade || (isTurn ? parts.length === 2 : start > 0 !== isBuy && start !== 0)) return parts;
  return { reason: `dir "${dir}": must fit startPosition ${start} and sz ${size}` };
}

/**
 * The parts of a fill that crosses zero, and of liquidations and settlements: what is against the position closes it, the rest opens one.
 */
function partsByStart({ isBuy, size, start }: Fill): Part[] {
  const [same, against] = isBuy ? (['long', 'short'] as const) : (['short', 'long'] as const);
  const held = Math.abs(start);
  if (start > 0 === isBuy || start === 0) return [{ direction: same, size, startAmount: held, name: 'all' }];
  if (size <= held) return [{ direction: against, size, startAmount: held, name: 'all' }];
  return [
    { direction: against, size: held, startAmount: held, name: 'close' },
    { direction: same, size: size - held, startAmount: 0, name: 'open' },
  ];
}

/** Sizes are decimals with few places; sums of them differ by rounding only. */
const sizeRounding = 1e-7;

/** The fills oldest first; if account, coin and time are the same, each starts where the one before it ended, if one does. */
function sortFills(fills: readonly Fill[]): Fill[] {
  const positions = new Map<string, number>();
  const byTime = [...fills].sort((left, right) => left.atMs - right.atMs);
  const ties = groupBy(byTime, ({ atMs, account, coin }) => `${atMs} ${account} ${coin}`);
  return [...ties.values()].flatMap((group) => {
    const [{ account, coin }] = group;
    const sorted = sortTies(group, positions.get(`${account} ${coin}`));
    positions.set(`${account} ${coin}`, sorted.at(-1)?.end ?? 0);
    return sorted;
  });
}

/** `position` is the size before them, if known; otherwise the first is a fill that no other leads to. */
function sortTies(fills: readonly Fill[], position: number | undefined): Fill[] {
  const waiting = [...fills];
  const sorted: Fill[] = [];
  while (waiting.length > 0) {
    const last = sorted.at(-1);
    const at = last === undefined ? position : last.end;
    const linked = waiting.findIndex(({ start }) => at !== undefined && isSameSize(start, at));
    const other = waiting.findIndex((fill) => last !== undefined && isOtherHalf(fill, last));
    const first = waiting.findIndex(({ start }) => !waiting.some(({ end }) => isSameSize(end, start)));
    const [next] = waiting.splice([linked, other, first, 0].find((index) => index >= 0) ?? 0, 1);
    if (next === undefined) break;
    const isSelfTrade = linked < 0 && other >= 0 && last !== undefined;
    sorted.push(isSelfTrade ? { ...next, start: last.end, end: last.start, isSelfTrade } : next);
  }
  return sorted;
}

/** If an account trades with itself, the exchange gives both fills the same start. */
function isOtherHalf(fill: Fill, last: Fill): boolean {
  return isSameSize(fill.start, last.start) && isSameSize(fill.end - fill.start, last.start - last.end);
}

function isSameSize(left: number, right: number): boolean {
  return Math.abs(left - right) <= sizeRounding * Math.max(1, Math.abs(left), Math.abs(right));
}
