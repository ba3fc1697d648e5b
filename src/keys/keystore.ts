import { pbkdf2 as pbkdf2WithCallback, randomBytes, scrypt as scryptWithCallback } from 'node:crypto';
import { chmodSync, existsSync, readdirSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { decrypt, encrypt, scrypt as scryptOfOx } from 'ox/Keystore';
import { z } from 'zod';
import type { ChainFamily } from '../api/chain.ts';
import { checksumAddress } from '../api/checksum.ts';
import { isObject, parseJson } from '../api/json.ts';
import { command } from '../client/shell.ts';
import type { Context } from '../context.ts';
import { readMessage, SotraError, usageError } from '../errors.ts';
import { createFile, makeFolder, readStateBytes, readStateFile, replaceFile } from '../lib/files/durable-file.ts';
import { decodeText } from '../lib/files/source.ts';
import { checkEvmKey, keyError, type PrivateKey, refuseKeyAsName } from './private-key.ts';

export interface ScryptCost {
  n: number;
  r: number;
  p: number;
}

/** About 256 MB and a second, as geth and cast do. */
const sealCost: ScryptCost = { n: 262_144, r: 8, p: 1 };
/** N and p together: a hostile file must not take the machine down. */
const maxMemoryBytes = 1040 * 1024 * 1024;
/** Limit of N * r * p: eight times what sealing costs. */
const maxWork = 8 * sealCost.n * sealCost.r;
const maxRounds = 10_000_000;
const keyBytes = 32;

/** Hex of `min` to `max` bytes, without 0x. The length comes first: a pattern with a group that repeats overflows on a very long text. */
const hex = (min: number, max = min) =>
  z
    .string()
    .max(2 * max + 2, { abort: true })
    .regex(/^(0x)?([0-9a-fA-F]{2})*$/)
    .transform((text) => text.replace(/^0x/, ''))
    .refine(({ length }) => length >= 2 * min && length <= 2 * max);
const count = z.int().min(1);
const dklen = z.int().min(32).max(128);
const salt = hex(0, 1024);
const sealed = {
  cipher: z.literal('aes-128-ctr'),
  ciphertext: hex(1, keyBytes),
  cipherparams: z.looseObject({ iv: hex(16) }),
  mac: hex(32),
};
const keystoreSchema = z.looseObject({
  version: z.literal(3),
  address: z.string().optional(),
  /** Which kind of key it holds: EVM, unless sotra sealed a Solana key in it. */
  sotra: z.looseObject({ family: z.enum(['evm', 'solana']) }).default({ family: 'evm' }),
  crypto: z.discriminatedUnion('kdf', [
    z.looseObject({
      ...sealed,
      kdf: z.literal('scrypt'),
      kdfparams: z.looseObject({ n: count, r: count, p: count, dklen, salt }),
    }),
    z.looseObject({
      ...sealed,
      kdf: z.literal('pbkdf2'),
      kdfparams: z.looseObject({ c: count.max(maxRounds), prf: z.literal('hmac-sha256'), dklen, salt }),
    }),
  ]),
});

const addressForms = { evm: /^(0x)?[0-9a-fA-F]{40}$/, solana: /^[1-9A-HJ-NP-Za-km-z]{32,44}$/ };

export type Keystore = z.output<typeof keystoreSchema>;

/** A JSON value as a keystore. Errors: `signing-key` naming the source and the invalid field, before any password is asked for. */
export function readKeystore(json: Record<string, unknown>, source: string): Keystore {
  const { Crypto, crypto = Crypto, ...rest } = json;
  const checked = keystoreSchema.safeParse({ ...rest, crypto });
  const address = checked.data?.address;
  if (checked.success && (address === undefined || addressForms[checked.data.sotra.family].test(address)))
    return checked.data;
  const where = checked.success ? 'address' : checked.error.issues[0]?.path.join('.');
  throw keyError(`${source} is not a Web3 Secret Storage V3 keystore, or damaged: see ${where || 'its form'}`);
}

/**
 * The key in a keystore; `undefined` if the password does not open it. Errors: `signing-key` if the file is damaged, or asks for too much
 * memory or work.
 */
export async function openKeystore(
  keystore: Keystore,
  password: string,
  source: string,
): Promise<PrivateKey | undefined> {
  const { address, crypto, sotra } = keystore;
  const derived = await deriveKey(crypto, password, source);
  const opened = tryDecrypt(keystore, derived);
  if (opened === undefined) return undefined;
  // Some wallets leave out leading zeros of a key.
  const bytes = new Uint8Array(keyBytes);
  bytes.set(opened, keyBytes - opened.length);
  opened.fill(0);
  if (sotra.family === 'evm') checkEvmKey(bytes, source);
  return { family: sotra.family, bytes, ...(address === undefined ? {} : { statedAddress: address }) };
}

/** `undefined` if the MAC does not fit: the form of everything else was checked before. */
function tryDecrypt(keystore: Keystore, derived: `0x${string}`): Uint8Array | undefined {
  try {
    return decrypt({ version: 3, id: '', crypto: keystore.crypto }, derived, { as: 'Bytes' });
  } catch {
    return undefined;
  }
}

const pbkdf2 = promisify(pbkdf2WithCallback);
const scrypt = promisify<string, Buffer, number, object, Buffer>(scryptWithCallback);

/** By Node, whose functions leave the thread free to take signals; those of ox block it, or ignore r and p. */
async function deriveKey(crypto: Keystore['crypto'], password: string, source: string): Promise<`0x${string}`> {
  const salt = Buffer.from(crypto.kdfparams.salt, 'hex');
  if (crypto.kdf === 'pbkdf2') return toHex(await pbkdf2(password, salt, crypto.kdfparams.c, keyBytes, 'sha256'));
  const { n, r, p } = crypto.kdfparams;
  if (128 * r * (n + p) > maxMemoryBytes || n * r * p > maxWork)
    throw keyError(`${source} asks for too much memory or work (scrypt N ${n}, r ${r}, p ${p})`);
  try {
    return await deriveByScrypt(password, salt, { n, r, p });
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    throw keyError(`${source}: scrypt cannot run with N ${n}, r ${r}, p ${p}`);
  }
}

/** Errors: a `RangeError` for a cost that does not fit. */
async function deriveByScrypt(password: string, salt: Buffer, { n, r, p }: ScryptCost): Promise<`0x${string}`> {
  // OpenSSL refuses N >= 2^(16 r), which old wallets wrote (r = 1).
  if (r === 1 && n >= 65_536 && Number.isInteger(Math.log2(n))) {
    const [key] = scryptOfOx({ password, salt, n, r, p });
    return typeof key === 'function' ? key() : key;
  }
  const maxmem = 128 * n * r + 128 * r * p + 1024 * 1024;
  return toHex(await scrypt(password, salt, keyBytes, { N: n, r, p, maxmem }));
}

function toHex(bytes: Buffer): `0x${string}` {
  return `0x${bytes.toString('hex')}`;
}

/** A key sealed with a password: a V3 keystore, which other wallets open too if the key is of EVM. */
export async function sealKey(
  { family, bytes }: PrivateKey,
  address: string,
  password: string,
  cost: ScryptCost = sealCost,
): Promise<object> {
  const [salt, iv] = [randomBytes(32), randomBytes(16)];
  const derived = await deriveByScrypt(password, salt, cost);
  const kdfparams = { ...cost, dklen: keyBytes, salt: salt.toString('hex') };
  return {
    ...encrypt(bytes, derived, { kdf: 'scrypt', kdfparams, iv }),
    address: family === 'evm' ? address.slice(2).toLowerCase() : address,
    ...(family === 'evm' ? {} : { sotra: { family } }),
  };
}

export interface StoredKey {
  name: string;
  family: ChainFamily;
  address: string;
  file: string;
}

/** A keystore need not name its address. */
export function describeStoredKey({ name, address }: StoredKey): string {
  return address === '' ? `key ${name}` : `key ${name} (${address})`;
}

export async function keyFolder({ config }: Pick<Context, 'config'>): Promise<string> {
  return join((await config.settings()).path, '..', 'keys');
}

const namePattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

export function nameKeyFile(folder: string, name: string): string {
  refuseKeyAsName('name of a key', name);
  if (namePattern.test(name) && !name.endsWith('.json')) return join(folder, `${name}.json`);
  throw usageError(`${name}: a key's name is 1 to 64 letters, digits, dots, dashes or underscores`);
}

/** The stored keys, sorted by name; may be empty. A file that is not a keystore is skipped with a warning. */
export function listKeys(folder: string, warn: (problem: string) => void): StoredKey[] {
  return keyNames(folder).flatMap((name) => {
    try {
      return [readStoredKey(folder, name).stored];
    } catch (error) {
      if (!(error instanceof SotraError)) throw error;
      warn(error.message);
      return [];
    }
  });
}

function keyNames(folder: string): string[] {
  if (!existsSync(folder)) return [];
  const files = readdirSync(folder).filter((file) => file.endsWith('.json'));
  return files.map((file) => file.slice(0, -'.json'.length)).sort();
}

/** One stored key with its sealed form. Errors: `usage` if there is none, naming the known ones; `local-file`, `signing-key`. */
export function readStoredKey(folder: string, name: string): { stored: StoredKey; json: Record<string, unknown> } {
  const file = nameKeyFile(folder, name);
  if (!existsSync(file)) {
    const known = keyNames(folder);
    const hint = command`No stored keys. Generate one: sotra key generate ${name}, or sotra key import ${name} --key-file <file>.`;
    throw usageError(`key ${name} does not exist`, known.length === 0 ? hint : `Known keys: ${known.join(', ')}.`);
  }
  const json = readJson(file);
  const { address, sotra } = readKeystore(json, file);
  const hasChecksum = address !== undefined && sotra.family === 'evm';
  const shown = hasChecksum ? checksumAddress(address.replace(/^0x/, '')) : (address ?? '');
  return { stored: { name, family: sotra.family, address: shown, file }, json };
}

function readJson(file: string): Record<string, unknown> {
  try {
    const json = parseJson(decodeText(readStateBytes(file), file));
    if (isObject(json)) return json;
    throw new Error('it is not an object');
  } catch (cause) {
    // The parser's message would quote the file.
    const why = cause instanceof SyntaxError ? 'it is not JSON' : readMessage(cause);
    throw new SotraError('local-file', `cannot read the key in ${file}: ${why}`, {
      hint: 'Restore a backup of it (replaced keys end in .bak), or import the key again with --replace.',
      cause,
    });
  }
}

/**
 * Stores a sealed key, mode 0600, completely or not at all. With `replace` a file of this name stays beside it as a backup, whose path is
 * returned; without, it is an error: `usage`.
 */
export function storeKey(
  folder: string,
  name: string,
  sealed: object,
  { replace, nowMs }: { replace: boolean; nowMs: number },
): { file: string; backup: string | undefined } {
  const file = nameKeyFile(folder, name);
  makeFolder(folder);
  const { mode } = statSync(folder);
  // Takes permissions away from others; gives the owner none.
  if ((mode & 0o077) !== 0) chmodSync(folder, mode & 0o700);
  if (existsSync(file) && !replace)
    throw usageError(
      `key ${name} already exists`,
      'Replace it with --replace (the old one is kept as a backup), or choose another name.',
    );
  const backup = existsSync(file) ? `${file}.${new Date(nowMs).toISOString().replaceAll(':', '-')}.bak` : undefined;
  if (backup !== undefined) writePrivateFile(backup, readStateFile(file), { exclusive: true });
  writePrivateFile(file, `${JSON.stringify(sealed, null, 2)}\n`, { exclusive: backup === undefined });
  return { file, backup };
}

/** The files of keys that the key in a file replaced. */
export function listBackups(file: string): string[] {
  const names = readdirSync(dirname(file)).filter((name) => name.startsWith(`${basename(file)}.`));
  return names.filter((name) => name.endsWith('.bak')).map((name) => join(dirname(file), name));
}

/** Writes a file that only its owner may read, completely or not at all. Errors: `local-file` naming it. */
export function writePrivateFile(file: string, text: string, { exclusive }: { exclusive: boolean }): void {
  try {
    if (!exclusive) replaceFile(file, text);
    else if (!createFile(file, text)) throw usageError(`${file} already exists`, 'Choose another name, or remove it.');
  } catch (cause) {
    if (cause instanceof SotraError) throw cause;
    throw new SotraError('local-file', `cannot write ${file}: ${readMessage(cause)}`, {
      hint: 'Free some disk space, or correct the permissions of its folder.',
      cause,
    });
  }
}
