import { expect, test } from 'vitest';
import { checksumAddress, hasWrongChecksum } from '../../../src/model/keccak.ts';
import { checksummed } from '../../support/eip55.ts';

test.each(checksummed)('the letters of %s are those of its checksum', (address) => {
  const digits = address.slice(2);
  expect(checksumAddress(digits.toLowerCase())).toBe(address);
  expect(checksumAddress(digits.toUpperCase())).toBe(address);
  expect(hasWrongChecksum(address)).toBe(false);
});

test('letters of both cases that are not the right ones are told, one case alone is not', () => {
  expect(hasWrongChecksum('0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAeD')).toBe(true);
  expect(hasWrongChecksum('0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed')).toBe(false);
  expect(hasWrongChecksum('0x5AAEB6053F3E94C9B9A09F33669435E7EF1BEAED')).toBe(false);
});
