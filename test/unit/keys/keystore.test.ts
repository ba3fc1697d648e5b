import { createCipheriv, createDecipheriv, pbkdf2Sync, scryptSync } from 'node:crypto';
import { keccak256 } from 'viem';
import { expect, test } from 'vitest';
import { openKeystore, readKeystore, sealKey } from '../../../src/keys/keystore.ts';
import { long, size } from '../../support/size.ts';
import { solanaTrader } from '../../support/traders.ts';

const digits = `${'0123456789abcdef'.repeat(3)}0123456789ABCDEF`;
const pair = solanaTrader.keypair;
const password = 'pw';
const [salt, iv] = [Buffer.alloc(32, 7), Buffer.alloc(16, 9)];
const secret = Buffer.from(digits, 'hex');

type Json = Record<string, unknown> & { crypto: Record<string, unknown> };

/** A keystore as other wallets write it, with a cost of nearly nothing. */
function sealed(
  {
    bytes = secret,
    derived = pbkdf2Sync(password, salt, 2, 32, 'sha256'),
    vector = iv,
    kdfparams = {} as object,
    kdf = 'pbkdf2',
  } = {},
  more: Record<string, unknown> = {},
): Json {
  const cipher = createCipheriv('aes-128-ctr', derived.subarray(0, 16), iv);
  const ciphertext = Buffer.concat([cipher.update(bytes), cipher.final()]);
  const mac = keccak256(Buffer.concat([derived.subarray(16, 32), ciphertext])).slice(2);
  return {
    version: 3,
    ...more,
    crypto: {
      cipher: 'aes-128-ctr',
      ciphertext: ciphertext.toString('hex'),
      cipherparams: { iv: vector.toString('hex') },
      kdf,
      kdfparams: { c: 2, prf: 'hmac-sha256', dklen: 32, salt: salt.toString('hex'), ...kdfparams },
      mac,
    },
  };
}

const scryptOf = (n: number, r: number, p: number, dklen = 32) =>
  sealed({ derived: scryptSync(password, salt, dklen, { N: n, r, p }), kdf: 'scrypt', kdfparams: { n, r, p, dklen } });
const open = (json: Json, by = password) => openKeystore(readKeystore(json, 'k'), by, 'k');
const key = { family: 'evm', bytes: Uint8Array.from(secret) };

test('a keystore opens with its password, by either derivation, with 0x and Crypto as old wallets write them', async () => {
  expect(await open(sealed())).toStrictEqual(key);
  expect(await open(sealed(), 'pw2')).toBeUndefined();
  expect(await open(scryptOf(2, 8, 1))).toEqual(key);
  expect(await open(scryptOf(4, 1, 2))).toEqual(key);
  expect(await open(scryptOf(2, 8, 1, 128))).toEqual(key);
  // Each of the two needs some megabytes, one for its many rounds, the other for its many lanes.
  expect(await open(scryptOf(size(4096, 16_384), 8, 1))).toEqual(key);
  expect(await open(scryptOf(2, 8, size(2048, 8192)))).toEqual(key);
  const { crypto, ...rest } = sealed();
  expect(await open({ ...rest, Crypto: crypto } as unknown as Json)).toEqual(key);
  const hex = Object.fromEntries(['ciphertext', 'mac'].map((name) => [name, `0x${crypto[name]}`]));
  expect(await open({ ...rest, crypto: { ...crypto, ...hex } })).toEqual(key);
  const address = 'ab'.repeat(20);
  for (const stated of [address, `0x${address}`, `0x${address.toUpperCase()}`])
    expect(await open(sealed({}, { address: stated }))).toEqual({ ...key, statedAddress: stated });
});

const ofSolana = { sotra: { family: 'solana' } };

test('a key of solana is any 32 bytes; a short one gets its zeros back', async () => {
  const zeros = { bytes: Buffer.alloc(32) };
  expect(await open(sealed(zeros, ofSolana))).toEqual({ family: 'solana', bytes: new Uint8Array(32) });
  await expect(open(sealed(zeros))).rejects.toThrow('the key in k is not a valid EVM private key');
  const short = await open(sealed({ bytes: Buffer.from([1, 2]) }));
  expect(short?.bytes).toEqual(Uint8Array.from([...new Array(30).fill(0), 1, 2]));
  for (const address of [solanaTrader.address, '1'.repeat(32)])
    expect(readKeystore(sealed({}, { ...ofSolana, address }), 'k').address).toBe(address);
  expect(readKeystore(sealed(), 'k').sotra.family).toBe('evm');
  expect(readKeystore(sealed({}, ofSolana), 'k').sotra.family).toBe('solana');
});

const changed = (change: object) => ({ ...sealed(), crypto: { ...sealed().crypto, ...change } });
const params = (kdfparams: object) => sealed({ kdfparams });
const scryptParams = (n: number, r: number, p: number) => sealed({ kdf: 'scrypt', kdfparams: { n, r, p } });
const insane = (n: number, r: number, p: number) =>
  `k asks for too much memory or work (scrypt N ${n}, r ${r}, p ${p})`;
const refused: readonly [what: string, json: Json, message: string][] = [
  ['N of one', scryptParams(1, 8, 1), 'k: scrypt cannot run with N 1, r 8, p 1'],
  ['N of three', scryptParams(3, 8, 1), 'k: scrypt cannot run with N 3, r 8, p 1'],
  ['N of 65537 with r of one', scryptParams(65_537, 1, 1), 'k: scrypt cannot run with N 65537, r 1, p 1'],
  ['more memory than 1 GB', scryptParams(2_097_152, 8, 1), insane(2_097_152, 8, 1)],
  ['more work than eight sealings', scryptParams(262_144, 8, 9), insane(262_144, 8, 9)],
];

const { address: solana } = solanaTrader;
const damaged: readonly [what: string, json: Json, where: string][] = [
  ['no bytes', sealed({ bytes: Buffer.alloc(0) }), 'crypto.ciphertext'],
  ['33 bytes', sealed({ bytes: Buffer.alloc(33, 1) }), 'crypto.ciphertext'],
  ['an iv of 15 bytes', sealed({ vector: Buffer.alloc(15) }), 'crypto.cipherparams.iv'],
  ['dklen 31', params({ dklen: 31 }), 'crypto.kdfparams.dklen'],
  ['dklen 129', params({ dklen: 129 }), 'crypto.kdfparams.dklen'],
  ['too many rounds', params({ c: 10_000_001 }), 'crypto.kdfparams.c'],
  ['no rounds', params({ c: 0 }), 'crypto.kdfparams.c'],
  ['rounds that are no number', params({ c: null }), 'crypto.kdfparams.c'],
  ['a salt of a megabyte', params({ salt: '00'.repeat(1_000_000) }), 'crypto.kdfparams.salt'],
  ['a ciphertext of forty megabytes', changed({ ciphertext: '00'.repeat(20_000_000) }), 'crypto.ciphertext'],
  ...['', '0x12', ...['x', '0x0x', '0x0', 'ab', 'g'].map((before) => before + 'ab'.repeat(20))].map(
    (address): [string, Json, string] => [`the address "${address}"`, { ...sealed(), address }, 'address'],
  ),
  ...[`${solana}1`, solana.slice(0, 31), `0${solana.slice(1)}`].map((address): [string, Json, string] => [
    `the address ${address} of Solana`,
    { ...sealed(), ...ofSolana, address },
    'address',
  ]),
  ['another version', { ...sealed(), version: 4 }, 'version'],
  ['another cipher', changed({ cipher: 'aes-256-gcm' }), 'crypto.cipher'],
  ['half a byte', changed({ ciphertext: 'abc' }), 'crypto.ciphertext'],
  ['no hex before', changed({ mac: 'xab' }), 'crypto.mac'],
  ['no hex behind', changed({ mac: 'abx' }), 'crypto.mac'],
  ['another derivation', changed({ kdf: 'argon2' }), 'crypto.kdf'],
  ['the cost of the other derivation', changed({ kdf: 'scrypt' }), 'crypto.kdfparams.n'],
];

const all = [...refused, ...damaged.map(([what, json, where]) => [what, json, `or damaged: see ${where}`] as const)];

test.each(all)('a keystore is refused: %s', async (_, json, says) => {
  const message = expect.stringContaining(says);
  await expect((async () => open(json))()).rejects.toMatchObject({ code: 'signing-key', message });
});

test.each([
  ['as many rounds as are taken', params({ c: 10_000_000 })],
  ['as much memory and work as is taken', scryptParams(1_048_576, 8, 2)],
])('a keystore that asks for %s is not refused: its key is derived', async (_, json) => {
  // From no password nothing is derived, which takes no time.
  await expect(open(json, null as never)).rejects.toMatchObject({ code: 'ERR_INVALID_ARG_TYPE' });
});

test('a mac of another length is damage, not a wrong password', async () => {
  const { mac } = sealed().crypto;
  const opened = async (other: string) => open(changed({ mac: other }));
  await expect(opened(`${mac}00`)).rejects.toThrow('or damaged: see crypto.mac');
  await expect(opened('')).rejects.toThrow('or damaged: see crypto.mac');
});

test('a keystore of an old wallet with r = 1 and many rounds opens, which OpenSSL refuses', async () => {
  const cost = { n: 65_536, r: 1, p: 1, dklen: 32 };
  // By code written from RFC 7914 alone.
  const derived = Buffer.from('02ac9a3a19228008046a74aef927342a92306f7a1adae6d76e4a27e05d4d0e55', 'hex');
  expect(() => scryptSync(password, salt, 32, { N: cost.n, r: cost.r, p: cost.p })).toThrow();
  expect(await open(sealed({ derived, kdf: 'scrypt', kdfparams: cost }))).toEqual(key);
});

interface SealedParts {
  ciphertext: string;
  cipherparams: { iv: string };
  kdfparams: { n: number; r: number; p: number; dklen: number; salt: string };
  mac: string;
}

/** Opens a keystore by its parts alone, as another wallet would. */
function openByHand(crypto: unknown): Uint8Array {
  const { ciphertext, cipherparams, kdfparams, mac } = crypto as SealedParts;
  const { n, r, p, dklen } = kdfparams;
  const bytes = (hex: string) => Buffer.from(hex, 'hex');
  const derived = scryptSync(password, bytes(kdfparams.salt), dklen, { N: n, r, p, maxmem: 300_000_000 });
  const hidden = bytes(ciphertext);
  expect(`0x${mac}`).toBe(keccak256(Buffer.concat([derived.subarray(16, 32), hidden])));
  const cipher = createDecipheriv('aes-128-ctr', derived.subarray(0, 16), bytes(cipherparams.iv));
  return Uint8Array.from(Buffer.concat([cipher.update(hidden), cipher.final()]));
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const hexOf = (bytes: number) => expect.stringMatching(new RegExp(`^[0-9a-f]{${2 * bytes}}$`));
/** Nearly no work, instead of a second each time. */
const cheap = { n: 4, r: 8, p: 1 };
const sealedCrypto = {
  cipher: 'aes-128-ctr',
  cipherparams: { iv: hexOf(16) },
  ciphertext: hexOf(32),
  kdf: 'scrypt',
  kdfparams: { ...cheap, dklen: 32, salt: hexOf(32) },
  mac: hexOf(32),
};

long('a key is sealed at the cost of other wallets, so that a password is not quickly guessed', async () => {
  const store = (await sealKey({ family: 'evm', bytes: secret }, `0x${'ab'.repeat(20)}`, password)) as Json;
  expect(store.crypto['kdfparams']).toEqual({ n: 262_144, r: 8, p: 1, dklen: 32, salt: hexOf(32) });
  expect(openByHand(store.crypto)).toEqual(Uint8Array.from(secret));
});

test('a key of EVM is sealed as other wallets read it, each time with another salt and iv', async () => {
  const address = '0xFCAd0B19bB29D4674531d6f115237E16AfCE377c';
  const store = (await sealKey({ family: 'evm', bytes: secret }, address, password, cheap)) as Json;
  expect(store).toStrictEqual({
    version: 3,
    id: expect.stringMatching(uuid),
    address: 'fcad0b19bb29d4674531d6f115237e16afce377c',
    crypto: sealedCrypto,
  });
  expect(openByHand(store.crypto)).toEqual(Uint8Array.from(secret));
  const { crypto: other } = (await sealKey({ family: 'evm', bytes: secret }, address, password, cheap)) as Json;
  for (const part of ['ciphertext', 'cipherparams', 'kdfparams', 'mac'])
    expect(other[part]).not.toEqual(store.crypto[part]);
});

test('a key of solana is sealed with a word about its family and its address as it is', async () => {
  const bytes = Uint8Array.from(pair.slice(0, 32));
  const store = (await sealKey({ family: 'solana', bytes }, solanaTrader.address, password, cheap)) as Json;
  expect(store).toStrictEqual({
    version: 3,
    id: expect.stringMatching(uuid),
    address: solanaTrader.address,
    sotra: { family: 'solana' },
    crypto: sealedCrypto,
  });
  expect(openByHand(store.crypto)).toEqual(bytes);
});
