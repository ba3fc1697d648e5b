import { expect, test } from 'vitest';
import { safeText } from '../../../../src/api/safe-text.ts';
import {
  chooseSide,
  counted,
  formatAge,
  formatAmount,
  formatCount,
  formatPercent,
  formatRatio,
  formatTime,
  formatUsd,
  nameOrAddress,
  pathCell,
  pnl,
  readCell,
  readCells,
  roi,
  shortAddress,
} from '../../../../src/lib/output/format.ts';

test.each([
  [1234.5, '$1,234.50'],
  [-1234.5, '-$1,234.50'],
  [0, '$0.00'],
  [-0, '$0.00'],
  [0.5, '$0.50'],
  [0.72, '$0.72'],
  [0.72345, '$0.723'],
  [0.9999, '$1.00'],
  [0.0123456, '$0.0123'],
  [0.00000123, '$0.00000123'],
  [1e-9, '$0.000000001'],
  [-1e-15, '-$0.00'],
  [1e21, '$1,000,000,000,000,000,000,000.00'],
  [Number.POSITIVE_INFINITY, '∞'],
  [Number.NEGATIVE_INFINITY, '-∞'],
  [Number.NaN, '–'],
  [null, '–'],
  [undefined, '–'],
])('%s dollars read %s', (value, expected) => {
  expect(formatUsd(value)).toBe(expected);
});

test('dollars are compact only on request, from a thousand up', () => {
  expect(formatUsd(1234567890, { compact: true })).toBe('$1.23B');
  expect(formatUsd(-12345, { compact: true })).toBe('-$12.3K');
  expect(formatUsd(999, { compact: true })).toBe('$999.00');
  expect(formatUsd(1000, { compact: true })).toBe('$1K');
  expect(formatUsd(999_999, { compact: true })).toBe('$1M');
  expect(formatUsd(1.2345e16, { compact: true })).toBe('$12,300T');
  expect(formatUsd(2.5e12, { compact: true, signed: true })).toBe('+$2.5T');
});

test.each([
  [12.345, '12.3%'],
  [0, '0.0%'],
  [-0.042, '-0.042%'],
  [0.5, '0.5%'],
  [1234.56, '1,234.6%'],
  [null, '–'],
])('%s percent reads %s', (value, expected) => {
  expect(formatPercent(value)).toBe(expected);
});

test.each([
  [0.72, '72%'],
  [0.725, '73%'],
  [1, '100%'],
  [0, '0%'],
  [0.055, '6%'],
  [0.0042, '0.42%'],
  [null, '–'],
])('a share of %s reads %s', (value, expected) => {
  expect(formatRatio(value)).toBe(expected);
});

test.each([
  [1234567.891, '1,234,567.89'],
  [12.345678, '12.3457'],
  [0, '0'],
  [0.00001234567, '0.00001235'],
  [-250.5, '-250.5'],
  [1, '1'],
  [1e-12, '0.000000000001'],
  [undefined, '–'],
])('an amount of %s reads %s', (value, expected) => {
  expect(formatAmount(value)).toBe(expected);
});

test('amounts are compact only on request', () => {
  expect(formatAmount(69_420_000, { compact: true })).toBe('69.4M');
  expect(formatAmount(1000, { compact: true })).toBe('1K');
  expect(formatAmount(999.5, { compact: true })).toBe('999.5');
});

test('counts have separators and no decimals', () => {
  expect(formatCount(12480)).toBe('12,480');
  const shown = ['0', '7', '999', '1,000', '123,456', '1,234,567', '9,007,199,254,740,991'];
  expect([0, 7, 999, 1000, 123456, 1234567, 9007199254740991].map(formatCount)).toEqual(shown);
  expect([-1000, 1234.5, 1e21].map(formatCount)).toEqual(['-1,000', '1,235', '1,000,000,000,000,000,000,000']);
  expect(formatCount(null)).toBe('–');
});

test('a moment is written in UTC to the second', () => {
  expect(formatTime(1795218360)).toBe('2026-11-20 23:46:00Z');
  expect(formatTime(1795218360.9)).toBe('2026-11-20 23:46:00Z');
  expect(formatTime(0)).toBe('1970-01-01 00:00:00Z');
  expect(formatTime(-1)).toBe('1969-12-31 23:59:59Z');
  expect(formatTime(1e12)).toBe('+033658-09-27 01:46:40Z');
  expect(formatTime(1795218360900)).toBe('2026-11-20 23:46:00Z');
  expect(formatTime(9e15)).toBe('9000000000000000');
  expect(formatTime(Number.POSITIVE_INFINITY)).toBe('Infinity');
  expect(formatTime(null)).toBe('–');
  expect(formatTime(undefined)).toBe('–');
  expect(formatTime(Number.NaN)).toBe('–');
});

test.each([
  [1000, 1045, '45s'],
  [1000, 1000, '0s'],
  [1000, 1059, '59s'],
  [1000, 1060, '1m'],
  [1000, 1000 + 3600, '1h'],
  [1000, 1000 + 86_400, '1d'],
  [1000, 1000 + 365 * 86_400, '1y'],
  [1000, 1000 + 2 * 3600 + 59, '2h'],
  [1180, 1000, 'in 3m'],
  [null, 1000, '–'],
])('a moment %s seen from %s is %s', (moment, now, expected) => {
  expect(formatAge(moment, now)).toBe(expected);
});

test.each([
  ['0x1234567890abcdef1234567890abcdef1234cdef', '0x1234…cdef'],
  ['7xKXtg2CW87d97TXJSDpbD5jBkheTqA83TZRuJosgAsU', '7xKX…gAsU'],
  ['1234567890abc', '1234567890abc'],
  ['1234567890abcd', '1234…abcd'],
  ['a name with spaces in it', 'a name with spaces in it'],
  ['', ''],
  [null, '–'],
  [undefined, '–'],
])('%s is shortened to %s', (address, expected) => {
  expect(shortAddress(address)).toBe(expected);
});

test('gains and losses carry a tone and a sign, so the meaning is not by color alone', () => {
  expect(pnl(1234.5)).toEqual({ text: '+$1,234.50', tone: 'gain' });
  expect(pnl(-1234.5)).toEqual({ text: '-$1,234.50', tone: 'loss' });
  expect(pnl(0)).toEqual({ text: '$0.00', tone: 'plain' });
  for (const none of [Number.NaN, null, undefined]) expect(roi(none)).toEqual({ text: '–', tone: 'muted' });
});

test.each([
  [0, 'address', '0 addresses'],
  [1, 'address', '1 address'],
  [2, 'card', '2 cards'],
  [0, 'delivery', '0 deliveries'],
  [2, 'more entry', '2 more entries'],
  [3, 'buy', '3 buys'],
  [2, 'type', '2 types'],
  [2, 'mystery', '2 mysteries'],
])('%i of %s read %s', (count, noun, expected) => {
  expect(counted(count, noun)).toBe(expected);
});

const address = '0x4ed4e862860bed51a9570b96d89af5e1b0efefed';

test('a name goes before an address, and an absent address is missing', () => {
  expect(nameOrAddress({ name: 'mossy', address })).toEqual({ text: 'mossy', tone: 'strong' });
  expect(nameOrAddress({ name: '', address })).toEqual({ text: address, short: '0x4ed4…efed', tone: 'strong' });
  for (const none of [{ address: null }, {}]) expect(nameOrAddress(none)).toEqual({ text: '–', tone: 'muted' });
});

test('of a path the ids alone are shortened', () => {
  const id = '0f8fad5b-d9cb-469f-a165-70867728';
  expect(pathCell(`/v1/${id}/x`)).toEqual({ text: `/v1/${id}/x`, short: '/v1/0f8f…7728/x', tone: 'plain' });
  expect(pathCell(`/v1/${id.slice(1)}`, 'strong')).toMatchObject({ short: `/v1/${id.slice(1)}`, tone: 'strong' });
});

const columnOf = (value: unknown, more = {}) => ({
  key: 'a',
  header: 'A',
  help: '',
  value: () => value as never,
  ...more,
});

test.each([
  ['a text', () => 'shown', 1, { text: 'shown' }],
  ['a cell', () => ({ text: 'shown', tone: 'gain' }), 1, { text: 'shown', tone: 'gain' }],
  ['no form for people', undefined, 1, { text: '1' }],
  ['undefined', () => undefined, 'a value', { text: 'a value' }],
  ['null', () => null, 'a value', { text: 'a value' }],
  ['a cell whose text is none', () => ({ text: 7 }), 'a value', { text: 'a value' }],
  ['nothing, of null', undefined, null, { text: '–', tone: 'muted' }],
  ['nothing, of undefined', undefined, undefined, { text: '–', tone: 'muted' }],
  ['a dash', () => '–', 1, { text: '–', tone: 'muted' }],
])('a column that shows %s', (_, show, value, cell) => {
  expect(readCell(columnOf(value, { show }), {}, 0)).toEqual(cell);
});

test('the cells of later rows know their number, and text in them is safe', () => {
  const shown = { show: (_: unknown, index: number) => ({ text: `${index}\u0007`, short: 'a\u0007' }) };
  const cells = readCells([columnOf(1, shown), columnOf(2)], [{}, {}], 5);
  expect(cells.map(([first]) => first)).toEqual(
    [5, 6].map((index) => ({ text: safeText(`${index}\u0007`), short: safeText('a\u0007') })),
  );
  expect(cells[0]?.[1]).toStrictEqual({ text: '2' });
});

test.each([
  ['right', [1, null, 2], {}],
  ['left', [1, 'a'], {}],
  ['left', ['a'], {}],
  ['left', [null], {}],
  ['left', [], {}],
  ['left', [1], { align: 'left' }],
  ['right', ['a'], { align: 'right' }],
])('the side is %s for %j and %j', (side, values, more) => {
  expect(chooseSide(columnOf(0, { value: (row: unknown) => row, ...more }), values)).toBe(side);
});
