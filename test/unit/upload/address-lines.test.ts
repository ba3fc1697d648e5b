import { expect, test } from 'vitest';
import {
  type AddressLines,
  chunksOf,
  compareLines,
  dropRepeats,
  hashEvmLines,
  hashLines,
  toJson,
  unpackLines,
} from '../../../src/upload/address-lines.ts';

const linesOf = (...batches: string[][]) => dropRepeats(batches.map(hashLines));
const chunks = (lines: AddressLines, size: number) =>
  [...chunksOf(lines, size)].map(({ pieces }) => pieces.flatMap(unpackLines));

async function* read(addresses: readonly string[]) {
  yield addresses;
}

const evm = '0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed';

test.each([
  [`${evm}\n`, 1],
  [`${evm}\n${evm}\n`, 2],
  [`${evm}\n${evm}`, undefined],
  [`${evm}0\n${evm.slice(0, -1)}\n`, undefined],
  [`${evm}\n${evm.replace('a', 'A')}\n`, undefined],
  [`${evm}\n${evm.replace('0x', '0X')}\n`, undefined],
  [`${evm}\n${evm.replace('0x', '1x')}\n`, undefined],
  [`${evm}\n${evm.slice(0, -1)}g\n`, undefined],
  [`${evm}\n${evm.slice(0, -1)}\n\n`, undefined],
  [`${evm}\r\n`, undefined],
])('%j are %s lines that need no further look', (text, count) => {
  expect(hashEvmLines(Buffer.from(text))?.count).toBe(count);
});

test('the first of equal addresses stays where it is', () => {
  const lines = linesOf(['a', 'ext:Zoë'], [], ['b', 'a'], ['ext:Zoë', 'c']);
  expect([lines.count, chunks(lines, 3)]).toEqual([4, [['a', 'ext:Zoë', 'b'], ['c']]]);
});

test('a chunk is written as JSON, whatever its ids hold', () => {
  const ids = ['ext:a"b', 'ext:c\\d\\"', 'ext:Zoë', evm];
  expect(JSON.parse(toJson(linesOf(ids.slice(0, 2), ids.slice(2))))).toEqual(ids);
});

test('an EVM address is the same in a batch of its own and among others', () => {
  const read = [hashLines(['ext:1', evm]), hashEvmLines(Buffer.from(`${evm}\n`))].filter(
    (lines) => lines !== undefined,
  );
  expect(dropRepeats(read).count).toBe(2);
});

test.each([
  { list: 'a b c d', others: 'a b', missing: 'c d', surplus: '' },
  { list: 'new a b c', others: 'a b c', missing: 'new', surplus: '' },
  { list: 'b c new', others: 'gone b c', missing: 'new', surplus: 'gone' },
  { list: 'a b c d', others: 'c d a b', missing: '', surplus: '' },
  { list: 'a b', others: 'd c b a', missing: '', surplus: 'd c' },
  { list: '', others: 'a', missing: '', surplus: 'a' },
  { list: 'a b c d', others: 'a b a b gone', missing: 'c d', surplus: 'gone' },
])('the list "$list" against "$others": missing "$missing", surplus "$surplus"', async (given) => {
  const list = linesOf(given.list.split(' ').filter(Boolean));
  const { missing, surplus } = await compareLines(list, read(given.others.split(' ')));
  expect(chunks(missing, 10).flat()).toEqual(given.missing.split(' ').filter(Boolean));
  expect([missing.count, surplus]).toEqual([
    given.missing.split(' ').filter(Boolean).length,
    given.surplus.split(' ').filter(Boolean),
  ]);
});
