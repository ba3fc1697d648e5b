import { expect, test } from 'vitest';
import { checksumAddress, hasWrongChecksum } from '../../../src/api/checksum.ts';

/** Addresses with their checksums. Source: the test cases of EIP-55. */
const checksummed = [
  '0x52908400098527886E0F7030069857D2E4169EE7',
  '0x8617E340B3D01FA5F11F306F4090FD50E238070D',
  '0xde709f2102306220921060314715629080e2fb77',
  '0x27b1fdb04752bbc536007a920d24acb045561c26',
  '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
  '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359',
  '0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB',
  '0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb',
];

test.each(checksummed)('the letters of %s are those of its checksum', (address) => {
  const digits = address.slice(2);
  expect(checksumAddress(digits.toLowerCase())).toBe(address);
  expect(checksumAddress(digits.toUpperCase())).toBe(address);
  expect(hasWrongChecksum(address)).toBe(false);
});

test('one letter of the wrong case is found, an address in a single case is accepted', () => {
  for (const each of checksummed.slice(4)) {
    const at = 2 + each.slice(2).search(/[a-f]/);
    const changed = each.slice(0, at) + (each[at] ?? '').toUpperCase() + each.slice(at + 1);
    expect([changed, hasWrongChecksum(changed)]).toEqual([changed, true]);
  }
  expect(hasWrongChecksum('0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed')).toBe(false);
  expect(hasWrongChecksum('0x5AAEB6053F3E94C9B9A09F33669435E7EF1BEAED')).toBe(false);
});
