import { createPrivateKey, createPublicKey } from 'node:crypto';
import { decodeBase58 } from '../api/address.ts';
import type { ChainFamily } from '../api/chain.ts';
import { isObject, tryParseJson } from '../api/json.ts';
import { SotraError, usageError } from '../errors.ts';
import { decodeText } from '../lib/files/source.ts';

/** A private key: 32 bytes, on EVM the number, on solana the ed25519 seed. Its owner wipes it with `fill(0)`. */
export interface PrivateKey {
  family: ChainFamily;
  bytes: Uint8Array;
  /** Of a keystore, if it states one. */
  statedAddress?: string;
  /** That opened its keystore. */
  password?: string | undefined;
}

export type KeyContent = { kind: 'plain'; key: PrivateKey } | { kind: 'keystore'; json: Record<string, unknown> };

/**
 * Reads a key: 64 hex digits (EVM), a Solana CLI keypair (JSON list of 64 numbers) or its base58 form, or a V3 keystore. Errors: `signing-key`
 * naming the source, never quoting its content.
 */
export function readKeyContent(content: Buffer, source: string): KeyContent {
  const text = decodeText(content, source).trim();
  const digits = /^(?:0x)?([0-9a-f]{64})$/i.exec(text)?.[1];
  if (digits !== undefined) {
    const bytes = checkEvmKey(Uint8Array.from(Buffer.from(digits, 'hex')), source);
    return { kind: 'plain', key: { family: 'evm', bytes } };
  }
  if (text.startsWith('{')) {
    const json = tryParseJson(text);
    if (isObject(json)) return { kind: 'keystore', json };
    throw keyError(`${source} is neither a key nor complete JSON`);
  }
  const list = text.startsWith('[') ? readByteList(text) : undefined;
  if (list !== undefined) return { kind: 'plain', key: splitKeypair(list, source) };
  const pair = decodeBase58(text, 64);
  if (pair !== undefined) return { kind: 'plain', key: splitKeypair(pair, source) };
  throw keyError(`${source} holds no private key in a known form${phraseHint(text)}`);
}

/** Whether a text is a private key, so that nobody publishes one by mistake. */
export function isPrivateKey(text: string): boolean {
  try {
    return readKeyContent(Buffer.from(text), 'it').kind === 'plain';
  } catch {
    return false;
  }
}

/** Refuses a private key where its file or its name belongs, without showing it. Errors: `usage`. */
export function refuseKeyAsName(input: string, text: string): void {
  if (isPrivateKey(text))
    throw usageError(
      `${input}: that is a private key, which is never an argument`,
      'Other programs can read arguments, and the shell keeps them: put it into a file, for --key-file <file>.',
    );
}

function phraseHint(text: string): string {
  const words = text.split(/\s+/);
  const isPhrase = words.length >= 12 && words.every((word) => /^[a-z]+$/.test(word));
  return isPhrase ? ': it looks like a recovery phrase, which opens more than one account; export the key of one' : '';
}

const knownForms =
  'Known forms: 64 hex digits, a Solana keypair (CLI JSON or base58), a Web3 Secret Storage V3 keystore (JSON).';

export function keyError(message: string, hint = knownForms): SotraError {
  return new SotraError('signing-key', message, { hint });
}

/** The numbers of a JSON list of bytes; `undefined` for anything else. */
function readByteList(text: string): Uint8Array | undefined {
  const list = tryParseJson(text);
  if (!Array.isArray(list) || list.length === 0) return undefined;
  const areBytes = list.every((each) => Number.isInteger(each) && each >= 0 && each <= 255);
  return areBytes ? Uint8Array.from(list) : undefined;
}

const order = Buffer.from('fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141', 'hex');

/** The bytes, if they are an EVM key: 32 of them, above zero and below the order of the curve. Errors: `signing-key`. */
export function checkEvmKey(bytes: Uint8Array, source: string): Uint8Array {
  if (bytes.length === 32 && bytes.some((byte) => byte !== 0) && Buffer.compare(bytes, order) < 0) return bytes;
  throw keyError(`the key in ${source} is not a valid EVM private key`);
}

function splitKeypair(pair: Uint8Array, source: string): PrivateKey {
  if (pair.length !== 64)
    throw keyError(`the keypair in ${source} has ${pair.length} bytes, a Solana keypair has 64: the file is damaged`);
  const bytes = pair.slice(0, 32);
  if (!Buffer.from(derivePublicKey(bytes)).equals(pair.subarray(32)))
    throw keyError(`the keypair in ${source} is damaged: its public half does not belong to its private half`);
  pair.fill(0);
  return { family: 'solana', bytes };
}

/** DER header of a 32-byte ed25519 seed. Source: RFC 8410. */
const derPrefix = Buffer.from('302e020100300506032b657004220420', 'hex');

/** By Node: a command that signs for EVM loads no library for Solana. */
export function derivePublicKey(seed: Uint8Array): Uint8Array {
  const der = Buffer.concat([derPrefix, seed]);
  const key = createPublicKey(createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }));
  der.fill(0);
  return key.export({ format: 'der', type: 'spki' }).subarray(-32);
}
