import { createPrivateKey, createPublicKey } from 'node:crypto';
import { SotraError, usageError } from '../errors.ts';
import { decodeBase58, isHashOrKey } from '../model/address.ts';
import type { ChainFamily } from '../model/chain.ts';
import { parseJson } from '../model/json.ts';

/** A private key: 32 bytes, on EVM the number, on solana the ed25519 seed. Whoever holds it wipes it with `fill(0)`. */
export interface PrivateKey {
  family: ChainFamily;
  bytes: Uint8Array;
  statedAddress?: string;
}

export type KeyContent = { kind: 'plain'; key: PrivateKey } | { kind: 'keystore'; json: Record<string, unknown> };

/**
 * Reads a key: 64 hex digits (EVM), a Solana CLI keypair (JSON list of 64 numbers) or its base58 form, or a V3 keystore. The bytes given are
 * not kept. Errors: `signing-key` naming the source, never showing what it holds.
 */
export function readKeyContent(content: Uint8Array, source: string): KeyContent {
  const trimmed = trim(content);
  const hex = readHex(trimmed);
  if (hex !== undefined) return { kind: 'plain', key: { family: 'evm', bytes: checkEvmKey(hex, source) } };
  const list = trimmed[0] === 0x5b ? readByteList(trimmed) : undefined;
  if (list !== undefined) return { kind: 'plain', key: solanaKey(list, source) };
  if (trimmed[0] === 0x7b) return { kind: 'keystore', json: readJson(trimmed, source) };
  const pair = base58Bytes(Buffer.from(trimmed).toString('latin1'));
  if (pair?.length === 64) return { kind: 'plain', key: solanaKey(pair, source) };
  throw keyError(`${source} holds no private key in a known form${phraseHint(trimmed)}`);
}

function phraseHint(bytes: Uint8Array): string {
  const words = Buffer.from(bytes).toString('latin1').split(/\s+/);
  const isPhrase = words.length >= 12 && words.every((word) => /^[a-z]+$/.test(word));
  return isPhrase ? ': it looks like a recovery phrase, which opens more than one account; export the key of one' : '';
}

const knownForms =
  'Known forms: 64 hex digits, a Solana keypair (CLI JSON or base58), a Web3 Secret Storage V3 keystore (JSON).';

export function keyError(message: string, hint = knownForms): SotraError {
  return new SotraError('signing-key', message, { hint });
}

const isSpace = (byte: number | undefined) => byte === 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d;

function trim(bytes: Uint8Array): Uint8Array {
  let [start, end] = [0, bytes.length];
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) start = 3;
  while (isSpace(bytes[start])) start += 1;
  while (isSpace(bytes[end - 1])) end -= 1;
  return bytes.subarray(start, end);
}

function nibble(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}

/** 32 bytes from 64 hex digits, without making text of them; `undefined` for anything else. */
function readHex(text: Uint8Array): Uint8Array | undefined {
  const digits = text[0] === 0x30 && ((text[1] ?? 0) | 0x20) === 0x78 ? text.subarray(2) : text;
  if (digits.length !== 64) return undefined;
  const bytes = new Uint8Array(32);
  for (let index = 0; index < 32; index += 1) {
    const [high, low] = [nibble(digits[2 * index] ?? 0), nibble(digits[2 * index + 1] ?? 0)];
    if (high < 0 || low < 0) return undefined;
    bytes[index] = high * 16 + low;
  }
  return bytes;
}

/** What 64 bytes take at most in base58. */
const maxPairLetters = 88;

/** The bytes of base58 that may be a keypair: longer texts take long. */
function base58Bytes(text: string): Uint8Array | undefined {
  return text.length <= maxPairLetters ? decodeBase58(text) : undefined;
}

/** The numbers of a JSON list of bytes, without making text of them; `undefined` for anything else. */
function readByteList(text: Uint8Array): Uint8Array | undefined {
  const numbers: number[] = [];
  let current = -1;
  for (const byte of text.subarray(1)) {
    if (byte >= 0x30 && byte <= 0x39) current = Math.max(0, current) * 10 + byte - 0x30;
    else if (byte === 0x2c || byte === 0x5d) {
      if (current < 0 || current > 255) return undefined;
      numbers.push(current);
      current = -1;
    } else if (!isSpace(byte)) return undefined;
  }
  const bytes = current === -1 ? Uint8Array.from(numbers) : undefined;
  numbers.fill(0);
  return bytes;
}

function readJson(text: Uint8Array, source: string): Record<string, unknown> {
  try {
    return parseJson(Buffer.from(text).toString('utf8')) as Record<string, unknown>;
  } catch {
    throw keyError(`${source} is neither a key nor complete JSON`);
  }
}

const order = Buffer.from('fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141', 'hex');

/** The bytes, if they are an EVM key: 32 of them, above zero and below the order of the curve. Errors: `signing-key`. */
export function checkEvmKey(bytes: Uint8Array, source: string): Uint8Array {
  if (bytes.length === 32 && bytes.some((byte) => byte !== 0) && Buffer.compare(bytes, order) < 0) return bytes;
  throw keyError(`the key in ${source} is not a valid EVM private key`);
}

function solanaKey(pair: Uint8Array, source: string): PrivateKey {
  if (pair.length !== 64)
    throw keyError(`the keypair in ${source} has ${pair.length} bytes, a Solana keypair has 64: the file is damaged`);
  if (!isKeypair(pair))
    throw keyError(`the keypair in ${source} is damaged: its public half does not belong to its private half`);
  const bytes = pair.slice(0, 32);
  pair.fill(0);
  return { family: 'solana', bytes };
}

/** DER header of a 32-byte ed25519 seed. Source: RFC 8410. */
const derPrefix = Buffer.from('302e020100300506032b657004220420', 'hex');

export function publicKeyOf(seed: Uint8Array): Uint8Array {
  const der = Buffer.concat([derPrefix, seed]);
  const key = createPublicKey(createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }));
  der.fill(0);
  return key.export({ format: 'der', type: 'spki' }).subarray(-32);
}

/** True where the second half of 64 bytes is the public key of the first: a Solana keypair, not a signature. */
export function isKeypair(bytes: Uint8Array): boolean {
  return Buffer.from(publicKeyOf(bytes.subarray(0, 32))).equals(bytes.subarray(32, 64));
}

export const safeWays =
  'Give it with --key-file <file>, --key-env <NAME>, --key-stdin or --key <name>, or type it at the question on a terminal.';

/** Refuses a command line with what looks like a private key, without showing it. `--tx` may be 64 hex digits. Errors: `usage`. */
export async function refuseSecretArguments(argv: readonly string[]): Promise<void> {
  for (const [index, token] of argv.entries()) {
    const joined = /^(--[\w-]+)=(.*)/s.exec(token);
    const before = argv[index - 1] ?? '';
    const flag = joined?.[1] ?? (before.startsWith('--') && !before.includes('=') ? before : undefined);
    const value = joined?.[2] ?? token;
    if (flag === '--tx' && isHashOrKey(value)) continue;
    const what = await secretInAny(flag === '--signer-command' ? [value, ...value.split(/[\s'"]/)] : [value]);
    // 64 zero bytes in base58 are 64 ones: an invalid signature in the form of a key.
    if (what === undefined || (flag === '--signature' && value === '1'.repeat(64))) continue;
    const where = flag ?? 'an argument';
    throw usageError(
      `${where} holds what looks like ${what} (not shown here): other processes see arguments, and the shell keeps them`,
      `${safeWays} Treat the one you typed as compromised.`,
    );
  }
}

async function secretInAny(texts: readonly string[]): Promise<string | undefined> {
  for (const text of texts) {
    const what = await secretIn(text);
    if (what !== undefined) return what;
  }
  return undefined;
}

/** What kind of secret a text looks like: `a private key`; `undefined` where it looks like none. */
export async function secretIn(value: string): Promise<string | undefined> {
  const text = value.trim();
  if (isHashOrKey(text)) return 'a private key';
  if (/^\[\s*(\d{1,3}\s*,\s*){31,63}\d{1,3}\s*\]$/.test(text)) return 'a Solana keypair';
  const bytes = keypairBytes(text);
  if (bytes?.length === 64 && isKeypair(bytes)) return 'a Solana keypair';
  const words = text.split(/\s+/);
  if (![12, 15, 18, 21, 24].includes(words.length) || !words.every((word) => /^[a-z]{3,8}$/.test(word)))
    return undefined;
  const { areRecoveryWords } = await import('./signer.ts');
  return (await areRecoveryWords(words)) ? 'a recovery phrase' : undefined;
}

function keypairBytes(text: string): Uint8Array | undefined {
  const bytes = Buffer.from(text.replace(/^0x/i, ''), 'hex');
  return bytes.length === 64 ? bytes : base58Bytes(text);
}
