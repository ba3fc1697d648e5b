import { expect, test } from 'vitest';
import { createAddressSet } from '../../../src/model/address-set.ts';

const evm = (index: number) => `0x${index.toString(16).padStart(40, '0')}`;
const zeros = '0'.repeat(40);

/** Adds all twice: each is new once and held from then on, and what was not added is not held. */
function holds(addresses: readonly string[], strangers: readonly string[]): void {
  const set = createAddressSet();
  expect(set.size()).toBe(0);
  for (const each of addresses) if (set.has(each) || !set.add(each)) throw new Error(`${each} was taken for another`);
  for (const each of addresses) if (!set.has(each) || set.add(each)) throw new Error(`${each} was lost`);
  for (const each of strangers) if (set.has(each)) throw new Error(`${each} was never added`);
  expect(set.size()).toBe(addresses.length);
}

test('addresses that differ in one digit, at any place, are different', () => {
  const alike = [...zeros].flatMap((_, at) =>
    [...'123456789abcdef'].map((digit) => `0x${zeros.slice(0, at)}${digit}${zeros.slice(at + 1)}`),
  );
  holds([`0x${zeros}`, ...alike], [evm(0x11), `0x${'f'.repeat(40)}`]);
});

test('addresses that look like EVM and are not are kept by every character', () => {
  holds(
    [
      ...[`0x${zeros}`, `0y${zeros}`, `1x${zeros}`, `0x${zeros}1`, `0x${zeros}2`, `0x${zeros.slice(1)}`],
      // As digits the two would be one.
      ...[`ext:ag${zeros.slice(4)}`, `ext:bg${zeros.slice(4)}`],
      ...[`0:ag${zeros.slice(2)}`, `0:bg${zeros.slice(2)}`],
    ],
    [`2x${zeros}`, `0x${zeros}3`, `ext:cg${zeros.slice(4)}`],
  );
});

test('forty thousand EVM addresses are held, in order and spread, and none besides', () => {
  const inOrder = Array.from({ length: 20_000 }, (_, index) => evm(index));
  const spread = Array.from({ length: 20_000 }, (_, index) => `0x${evm(index + 1).slice(34)}${zeros.slice(8)}`);
  holds(
    [...new Set([...inOrder, ...spread])],
    Array.from({ length: 1000 }, (_, index) => evm(20_000 + index * 7)),
  );
});

test('ids of any length are held, over several pages of memory', () => {
  const long = 'x'.repeat(50_000);
  // The long ones first: they are put in order anew each time that the set grows.
  const ids = [
    ...Array.from({ length: 60 }, (_, index) => `ext:${long}${index}`),
    ...Array.from({ length: 2000 }, (_, index) => `ext:${index}`),
    ...Array.from({ length: 300 }, (_, index) => `ext:${'y'.repeat(index)}`),
    ...['ext:\u00fc', 'ext:u\u0308', 'ext:\u{1F600}', `ext:${long}`],
  ];
  holds(ids, ['ext:2001', `ext:${'y'.repeat(300)}`, `ext:${long}60`, 'ext:\u{1F601}', 'ext']);
});

test('an id that fills a page to its end is held beside the next', () => {
  // Each takes its bytes and two for its length: a page of 2^20 holds the first twenty and this one.
  const ids = Array.from({ length: 20 }, (_, index) => `${String(index).padStart(2, '0')}${'z'.repeat(49_996)}`);
  const last = 'w'.repeat(2 ** 20 - 20 * 50_000 - 2);
  holds([...ids, last, 'after'], ['before']);
  holds([...ids, `${last}w`, 'after'], ['before', last]);
});

test('an address read from bytes is the same as its text', () => {
  const set = createAddressSet();
  const text = '0x0123456789abcdef0123456789abcdef01234567';
  const bytes = Buffer.from(`ab${text}cd${text.toUpperCase()}`);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  expect([set.addHex(view, 4), set.addHex(view, 4), set.add(text), set.has(text), set.size()]).toEqual([
    true,
    false,
    false,
    true,
    1,
  ]);
  expect([set.addHex(view, 3), set.addHex(view, 48), set.size()]).toEqual([undefined, undefined, 1]);
});
