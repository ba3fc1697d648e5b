import { createPrivateKey, createPublicKey } from 'node:crypto';
import { SotraError } from '../errors.ts';
import { decodeBase58 } from '../model/address.ts';
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
  if (trimmed[0] === 0x7b) return { kind: 'keystore', json: parseKeystore(trimmed, source) };
  const pair = decodeKeypair(Buffer.from(trimmed).toString('latin1'));
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

/** 32 bytes from 64 hex digits; `undefined` for anything else. */
function readHex(text: Uint8Array): Uint8Array | undefined {
  const digits = /^(?:0x)?([0-9a-f]{64})$/i.exec(Buffer.from(text).toString('latin1'))?.[1];
  return digits === undefined ? undefined : Uint8Array.from(Buffer.from(digits, 'hex'));
}

/** What 64 bytes take at most in base58. */
const maxPairLetters = 88;

/** The bytes of base58 that may be a keypair: longer texts take long. */
export function decodeKeypair(text: string): Uint8Array | undefined {
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

function parseKeystore(text: Uint8Array, source: string): Record<string, unknown> {
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

export function derivePublicKey(seed: Uint8Array): Uint8Array {
  const der = Buffer.concat([derPrefix, seed]);
  const key = createPublicKey(createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }));
  der.fill(0);
  return key.export({ format: 'der', type: 'spki' }).subarray(-32);
}

/** True where the second half of 64 bytes is the public key of the first: a Solana keypair, not a signature. */
export function isKeypair(bytes: Uint8Array): boolean {
  return Buffer.from(derivePublicKey(bytes.subarray(0, 32))).equals(bytes.subarray(32, 64));
}
