import { expect, test } from 'vitest';
import { readAddress } from '../../../src/upload/address-file.ts';

const strict = { allowBadChecksum: false };
const evm = '0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed';
const checksummed = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
const mistyped = '0x5AAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
const mint = 'So11111111111111111111111111111111111111112';
const hex64 = '0123456789abcdef'.repeat(4);

test.each([
  [evm, evm],
  [checksummed, evm],
  [`0x${'A'.repeat(40)}`, `0x${'a'.repeat(40)}`],
  [` \t${evm}\r\n`, evm],
  [mint, mint],
  [` ${mint} `, mint],
  ['ext:a', 'ext:a'],
  ['ext:A b\u00fc', 'ext:A b\u00fc'],
  [` ext:a `, 'ext:a'],
  [`ext:${'x'.repeat(1020)}`, `ext:${'x'.repeat(1020)}`],
])('%j is the address %s', (text, address) => {
  expect(readAddress(text, strict)).toBe(address);
});

test('a wrong checksum is refused, unless it is allowed', () => {
  expect(readAddress(mistyped, strict)).toEqual({ reason: 'wrong EIP-55 checksum: a letter or digit is mistyped' });
  expect(readAddress(mistyped, { allowBadChecksum: true })).toBe(evm);
});

const missing = '0x is missing in front of the 40 hex digits';
const secret = 'wrong length: 64 hex digits are a transaction hash or a private key';
const name = 'a name: give its address';

/** What a text that is neither hex nor base58 is refused for: its first wrong character. */
const notBase58 = (sign: string, at: number) =>
  `not base58, nor 0x and 40 hex digits: ${JSON.stringify(sign)} at character ${at}`;
const tooFew = (count: number) =>
  `wrong length: ${count} base58 characters that are not the 32 bytes of a Solana address`;

const refused: readonly [text: string, reason: string][] = [
  ['', 'empty'],
  [' \n', 'empty'],
  ['0x', 'wrong length: 0 hex digits: an EVM address has 40'],
  [evm.slice(0, -1), 'wrong length: 39 hex digits: an EVM address has 40'],
  [`${evm}0`, 'wrong length: 41 hex digits: an EVM address has 40'],
  [`0x${hex64}`, 'wrong length: 64 hex digits: a transaction hash or a private key'],
  ['0xg', 'not hexadecimal: "g" at character 3'],
  ['0xa\u{1F600}', 'not hexadecimal: "\u{1F600}" at character 4'],
  [evm.slice(2), missing],
  [hex64, secret],
  ['vitalik.eth', name],
  ['{"address":"0x', 'not JSON'],
  ['{"wallet":{"address":"0x"}}', 'has no text in a field named like an address: see --column'],
  ['a.b.SOL', name],
  ['x.ethx', notBase58('.', 2)],
  ['gm', tooFew(2)],
  ['1'.repeat(79), tooFew(79)],
  ['1'.repeat(80), 'wrong length: 80 base58 characters are a signature or a private key'],
  ['az0', notBase58('0', 3)],
  ['HJNPkml', notBase58('l', 7)],
  ['\u{1F600}', notBase58('\u{1F600}', 1)],
  ['ext:', 'ext: without an id'],
  [`ext:${'x'.repeat(1021)}`, 'ext: id longer than 1024 characters'],
  ['ext:a\u0000', 'ext: id with a control character'],
  ['ext:a\u007fb', 'ext: id with a control character'],
];

test.each(refused)('%j is no address: %s', (text, reason) => expect(readAddress(text, strict)).toEqual({ reason }));
