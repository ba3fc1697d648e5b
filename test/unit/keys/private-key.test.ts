import { chmodSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import nacl from 'tweetnacl';
import { expect, test } from 'vitest';
import { encodeBase58 } from '../../../src/api/address.ts';
import { nameKeyFile, storeKey } from '../../../src/keys/keystore.ts';
import { checkEvmKey, readKeyContent } from '../../../src/keys/private-key.ts';
import { temporaryFolder } from '../../support/harness.ts';
import { keystore, solanaTrader } from '../../support/traders.ts';

const digits = `${'0123456789abcdef'.repeat(3)}0123456789ABCDEF`;
const pair = solanaTrader.keypair;
const read = (text: string | Uint8Array) => readKeyContent(Buffer.from(text), 'the file');
const evm = { kind: 'plain', key: { family: 'evm', bytes: Uint8Array.from(Buffer.from(digits, 'hex')) } };
/** A seed of zeros and a one: short in base58, with zeros in its list. */
const seed = Uint8Array.from([...new Array(31).fill(0), 1]);
const short = nacl.sign.keyPair.fromSeed(seed).secretKey;
const solana = { kind: 'plain', key: { family: 'solana', bytes: Uint8Array.from(pair.slice(0, 32)) } };

const keys: readonly [what: string, text: string | Uint8Array, content: unknown][] = [
  ['64 hex digits', digits, evm],
  ['0x and 64 hex digits', `0x${digits}`, evm],
  ['0X and 64 hex digits', `0X${digits}`, evm],
  ['space around them', ` \t\r\n${digits}\n\r\t `, evm],
  ['a byte order mark before them', `\uFEFF${digits}`, evm],
  ['a list of numbers', JSON.stringify(pair), solana],
  ['a list of numbers with spaces', `[\n ${pair.join(' ,\t\r\n ')} ]\n`, solana],
  ['base58 of a keypair', encodeBase58(Uint8Array.from(pair)), solana],
  ['a list with zeros in it', JSON.stringify([...short]), { kind: 'plain', key: { family: 'solana', bytes: seed } }],
  [
    'base58 of a keypair that begins with zeros',
    encodeBase58(short),
    { kind: 'plain', key: { family: 'solana', bytes: seed } },
  ],
  ['a keystore', '{"version":3}', { kind: 'keystore', json: { version: 3 } }],
];

test.each(keys)('a key is read: %s', (_, text, content) => expect(read(text)).toEqual(content));

const unknown = 'the file holds no private key in a known form';
const damaged = 'the keypair in the file is damaged: its public half does not belong to its private half';
const phrase = `${unknown}: it looks like a recovery phrase, which opens more than one account; export the key of one`;
const words = 'test test test test test test test test test test test junk';
const notKeys: readonly [what: string, text: string | Uint8Array, message: string][] = [
  ['nothing', '', unknown],
  ['63 hex digits', digits.slice(1), unknown],
  ['65 hex digits', `${digits}0`, unknown],
  ['a wrong last digit', `${digits.slice(1)}g`, unknown],
  ['zero', '0'.repeat(64), 'the key in the file is not a valid EVM private key'],
  ['a list with words', '["a"]', unknown],
  ['a list with a comma missing', `[0 ${[...short].join(',')}]`, unknown],
  ['a list with a number above 255', `[256,${pair.slice(1).join(',')}]`, unknown],
  [
    'a list of 63',
    JSON.stringify(pair.slice(1)),
    'the keypair in the file has 63 bytes, a Solana keypair has 64: the file is damaged',
  ],
  ['a list of a wrong half', JSON.stringify([...pair.slice(0, 63), 27]), damaged],
  ['base58 of a wrong half', encodeBase58(Uint8Array.from([...pair.slice(0, 63), 27])), damaged],
  ['base58 of 63 bytes', encodeBase58(Uint8Array.from(pair.slice(1))), unknown],
  ['JSON that does not end', '{"version":3', 'the file is neither a key nor complete JSON'],
  ['twelve words', words, phrase],
  ['twelve words with more than one space between them', words.replaceAll(' ', ' \n'), phrase],
  ['eleven words', words.slice(5), unknown],
  ['twelve words, one of them a number', words.replace('junk', '12'), unknown],
];

test.each(notKeys)('text that is not a key is refused without being shown: %s', (_, text, message) => {
  expect(() => read(text)).toThrow(expect.objectContaining({ code: 'signing-key', message }));
});

test.each([
  ['efbb', 1],
  ['01bbbf', 2],
  ['ef01bf', 1],
  ['efbb01', 1],
])('a file that begins with the bytes %s is not UTF-8, as byte %d shows', (start, byte) => {
  const bytes = Buffer.concat([Buffer.from(start, 'hex'), Buffer.from(digits)]);
  expect(() => read(bytes)).toThrow(
    expect.objectContaining({ code: 'usage', message: `the file is not UTF-8 text: see byte ${byte}` }),
  );
});

test('a key of EVM is above zero and below the order of the curve', () => {
  const bytes = (hex: string) => Buffer.from(hex, 'hex');
  const order = 'fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141';
  for (const good of [`${'0'.repeat(63)}1`, `${order.slice(0, -1)}0`, '01'.repeat(32)])
    expect(checkEvmKey(bytes(good), 'k')).toEqual(bytes(good));
  for (const bad of [
    '0'.repeat(64),
    order,
    `${order.slice(0, -1)}2`,
    'ff'.repeat(32),
    '01'.repeat(31),
    '01'.repeat(33),
    '',
  ])
    expect(() => checkEvmKey(bytes(bad), 'k')).toThrow('the key in k is not a valid EVM private key');
});

const once = { replace: false, nowMs: Date.UTC(2026, 10, 23) };
const permissions = (path: string) => statSync(path).mode & 0o777;

test('a key is named by letters, digits, dots, dashes and underscores', () => {
  const good = ['a', 'A.b-c_9', 'Z9', '0', '0._-', 'x'.repeat(64), 'json.a', 'a.jsonx', 'a.json.b'];
  expect(good.map((name) => nameKeyFile('/keys', name))).toEqual(good.map((name) => `/keys/${name}.json`));
  for (const name of ['', '.a', '-a', '_a', 'a/b', '../a', 'a b', 'a\n', 'ä', 'ü', 'x'.repeat(65), 'a.json', '.json'])
    expect(() => nameKeyFile('/keys', name)).toThrow(
      expect.objectContaining({
        code: 'usage',
        message: `${name}: a key's name is 1 to 64 letters, digits, dots, dashes or underscores`,
      }),
    );
});

test('a key is stored in a folder and a file of its owner alone, whatever the folder was', () => {
  const folder = join(temporaryFolder(), 'deep', 'keys');
  const { file, backup } = storeKey(folder, 'main', keystore, once);
  expect([file, backup]).toEqual([join(folder, 'main.json'), undefined]);
  expect(readFileSync(file, 'utf8')).toBe(`${JSON.stringify(keystore, null, 2)}\n`);
  expect([permissions(folder), permissions(file)]).toEqual([0o700, 0o600]);
  chmodSync(folder, 0o755);
  storeKey(folder, 'other', keystore, once);
  expect(permissions(folder)).toBe(0o700);
  // What its owner denies himself stays so.
  chmodSync(folder, 0o501);
  if (process.getuid?.() === 0) storeKey(folder, 'third', keystore, once);
  else chmodSync(folder, 0o500);
  expect(permissions(folder)).toBe(0o500);
  chmodSync(folder, 0o700);
});
