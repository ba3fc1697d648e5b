import { timeText } from '../../api/duration.ts';
import { safeText } from '../../api/safe-text.ts';
import { type AnyColumn, type CellText, cellValue, readLoosely, type Tone } from './view.ts';

export const missing = '–';

/** A number as the service may send it. */
export type Figure = number | null | undefined;

/** `$1,234.50`; below one dollar three significant digits (`$0.00000123`). `signed`: a plus before gains; `compact`: `$1.23B`. */
export function formatUsd(value: Figure, { signed = false, compact = false } = {}): string {
  return compose(value, signed, (size) => {
    if (compact && size >= 1000) return `$${formatCompact(size)}`;
    return `$${formatDigits(size, 2, 3)}`;
  });
}

/** Percent: `12.3%`; below one, two significant digits (`0.042%`). */
export function formatPercent(value: Figure, { signed = false } = {}): string {
  return compose(value, signed, (size) => `${formatDigits(size, 1, 2)}%`);
}

/** A share from 0 to 1 as whole percent, below one percent with decimals (`0.42%`). */
export function formatRatio(value: Figure): string {
  return compose(value, false, (share) => `${formatDigits(share * 100, 0, share < 0.01 ? 2 : 0)}%`);
}

/** Tokens: `1,234,567.89`, `12.3457`, `0.00001234`; no zeros at the end. */
export function formatAmount(value: Figure, { compact = false } = {}): string {
  return compose(value, false, (size) => {
    if (compact && size >= 1000) return formatCompact(size);
    return size < 1 ? formatDigits(size, 0, 4) : formatDigits(size, 0, 0, size < 1000 ? 4 : 2);
  });
}

export function formatCount(value: Figure): string {
  // Intl takes 15 ms at its first use.
  return compose(value, false, (size) =>
    Number.isInteger(size) && size < 1000 ? String(size) : formatDigits(size, 0, 0),
  );
}

/** A count with its noun: `1 address`, `2,000 addresses`, `3 deliveries`. */
export function counted(count: Figure, noun: string): string {
  const plural = /[^aeiou]y$/.test(noun) ? noun.replace(/y$/, 'ies') : `${noun}${noun.endsWith('s') ? 'es' : 's'}`;
  return `${formatCount(count)} ${count === 1 ? noun : plural}`;
}

/** Unix seconds, or milliseconds above 1e12, as `2026-11-20 23:46:00Z`; a number outside the calendar as it is. */
export function formatTime(time: Figure): string {
  if (time === null || time === undefined || Number.isNaN(time)) return missing;
  return timeText(time);
}

/** The same without seconds in a table that would not fit. */
export function timeCell(time: Figure): string | CellText {
  const text = formatTime(time);
  return /:\d\dZ$/.test(text) ? { text, short: `${text.slice(0, -4)}Z` } : text;
}

/** How long before now (both in Unix seconds), in the largest unit: `45s`, `3m`, `2h`, `5d`, `2y`; later than now `in 3m`. */
export function formatAge(unixSec: Figure, nowSec: number): string {
  const agoSec = nowSec - (unixSec ?? Number.NaN);
  if (!Number.isFinite(agoSec)) return missing;
  const seconds = Math.floor(Math.abs(agoSec));
  const [unit, name] = ageUnits.find(([size]) => seconds >= size) ?? [1, 's'];
  const age = `${formatDigits(Math.floor(seconds / unit), 0, 0)}${name}`;
  return agoSec < 0 ? `in ${age}` : age;
}

/** The two ends of an address or hash: `0x1234…cdef`, `7xKX…gAsU`. Short text and text that is not plain ASCII stays whole. */
export function shortAddress(address: string | null | undefined): string {
  if (address === null || address === undefined) return missing;
  if (address.length <= 13 || !/^[\x21-\x7e]+$/.test(address)) return address;
  return `${address.slice(0, address.startsWith('0x') ? 6 : 4)}…${address.slice(-4)}`;
}

export function addressCell(address: string | null | undefined, tone: Tone = 'plain'): CellText {
  return address === null || address === undefined
    ? { text: missing, tone: 'muted' }
    : { text: address, short: shortAddress(address), tone };
}

/** A path of the service; addresses and ids in it are shortened in a table that would not fit. */
export function pathCell(path: string, tone: Tone = 'plain'): CellText {
  return { text: path, short: path.replaceAll(/[\w-]{32,}/g, shortAddress), tone };
}

export function nameOrAddress({
  name,
  address,
}: {
  name?: string | null | undefined;
  address?: string | null;
}): CellText {
  return name ? { text: name, tone: 'strong' } : addressCell(address, 'strong');
}

export function chooseTone(value: Figure): Tone {
  if (value === null || value === undefined || Number.isNaN(value)) return 'muted';
  if (value === 0) return 'plain';
  return value > 0 ? 'gain' : 'loss';
}

export function pnl(valueUsd: Figure, { compact = false } = {}): CellText {
  return { text: formatUsd(valueUsd, { signed: true, compact }), tone: chooseTone(valueUsd) };
}

export function roi(percent: Figure): CellText {
  return { text: formatPercent(percent, { signed: true }), tone: chooseTone(percent) };
}

const ageUnits: readonly (readonly [number, string])[] = [
  [365 * 86_400, 'y'],
  [86_400, 'd'],
  [3_600, 'h'],
  [60, 'm'],
];

/** Sign and size. */
function compose(value: Figure, signed: boolean, write: (size: number) => string): string {
  if (value === null || value === undefined || Number.isNaN(value)) return missing;
  // Not a number, against the contract: shown as received.
  if (typeof value !== 'number') return typeof value === 'string' ? value : JSON.stringify(value);
  const sign = value < 0 ? '-' : signed && value > 0 ? '+' : '';
  if (!Number.isFinite(value)) return `${sign}∞`;
  return sign + write(Math.abs(value));
}

const maxDecimals = 12;

/** At least `min` decimals, and more for small numbers to show `significant` digits. */
function formatDigits(size: number, min: number, significant: number, max = min): string {
  const needed = significant > 0 && size > 0 ? significant - 1 - Math.floor(Math.log10(size)) : max;
  const most = Math.min(maxDecimals, Math.max(min, needed));
  return formatNumber(size, { minimumFractionDigits: min, maximumFractionDigits: most });
}

/** Three significant digits and the unit: `1.23K`, `1.23T`, `12,300T`. */
function formatCompact(size: number): string {
  return formatNumber(size, { notation: 'compact', maximumSignificantDigits: 3 });
}

const makers = new Map<string, Intl.NumberFormat>();

function formatNumber(size: number, options: Intl.NumberFormatOptions): string {
  const key = Object.values(options).join();
  const made = makers.get(key) ?? new Intl.NumberFormat('en', options);
  makers.set(key, made);
  return made.format(size);
}

/** Rows as people read them, `from` being the index of the first: on one line and safe for a terminal, `–` for no value. */
export function readCells(columns: readonly AnyColumn[], rows: readonly unknown[], from: number): CellText[][] {
  return rows.map((row, index) =>
    columns.map((column) => {
      const { text, short, ...shown } = readCell(column, row, from + index);
      return { ...shown, text: safeText(text), ...(short !== undefined && { short: safeText(short) }) };
    }),
  );
}

export function readCell(column: AnyColumn, row: unknown, index: number): CellText {
  const shown = readLoosely(() => column.show?.(row as never, index));
  const isShown = typeof shown === 'object' && shown !== null && typeof shown.text === 'string';
  const value = isShown || typeof shown === 'string' ? shown : cellValue(column, row, index);
  if (value === null || value === undefined || value === missing) return { text: missing, tone: 'muted' };
  return typeof value === 'object' ? value : { text: String(value) };
}

/** The side that a column names; by default numbers are on the right. */
export function chooseSide(column: AnyColumn, rows: readonly unknown[]): 'left' | 'right' {
  if (column.align !== undefined) return column.align;
  const values = rows.map((row, index) => cellValue(column, row, index)).filter((value) => value != null);
  return values.length > 0 && values.every((value) => typeof value === 'number') ? 'right' : 'left';
}
