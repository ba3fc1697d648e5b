import { expect, test } from 'vitest';
import { batchesOf, compareLines, dropRepeats, hashAddress, packLines } from '../../../src/upload/address-lines.ts';

const linesOf = (...batches: string[][]) => {
  const addresses = batches.flat();
  return dropRepeats(
    batches.map((batch) => packLines(batch)),
    addresses.map(hashAddress),
  );
};

async function* read(addresses: readonly string[]) {
  yield addresses;
}

test('the first of equal addresses stays where it is', () => {
  const { count, ...lines } = linesOf(['a', 'ext:Zoë'], [], ['b', 'a'], ['ext:Zoë', 'c']);
  expect([count, [...batchesOf({ count, ...lines }, 3)]]).toEqual([4, [['a', 'ext:Zoë', 'b'], ['c']]]);
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
  expect([...batchesOf(missing, 10)].flat()).toEqual(given.missing.split(' ').filter(Boolean));
  expect([missing.count, surplus]).toEqual([
    given.missing.split(' ').filter(Boolean).length,
    given.surplus.split(' ').filter(Boolean),
  ]);
});
