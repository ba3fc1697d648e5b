import { base58 } from '@scure/base';

const evmPattern = /^0x[0-9a-fA-F]{40}$/;
const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export function isEvmAddress(text: string): boolean {
  return evmPattern.test(text);
}

export function isSolanaAddress(text: string): boolean {
  return decodeBase58(text, 32) !== undefined;
}

export function isWalletAddress(text: string): boolean {
  return isEvmAddress(text) || isSolanaAddress(text);
}

export function isUuid(text: string): boolean {
  return uuidPattern.test(text);
}

/** `ext:` and an id of the partner's own, which can be stored as it is. */
export function isExternalId(text: string): boolean {
  return /^ext:./s.test(text) && textProblem(text) === undefined;
}

/** 64 hex digits, with or without 0x: a transaction hash or a private key. */
export function isHashOrKey(text: string): boolean {
  return /^(0x)?[0-9a-f]{64}$/i.test(text);
}

/** What is wrong with the address of a token for its chain; `undefined` if nothing is. */
export function tokenProblem(chain: string, text: string): string | undefined {
  if (chain === 'solana')
    return isSolanaAddress(text) ? undefined : 'a token on solana is a mint: 32 bytes in base58 (43 or 44 letters)';
  if (isEvmAddress(text)) return undefined;
  if (chain === 'hyperliquid')
    return /^[!-~]{1,64}$/.test(text) ? undefined : 'a token on hyperliquid is a coin such as ETH, or an address';
  const other = isSolanaAddress(text) ? 'that is a Solana mint; ' : '';
  return `${other}a token on ${chain} is 0x and 40 hex digits`;
}

/** The address without the `solana:` that some clients put before it (wire-facts 3.6). */
export function plainAddress(address: string): string {
  return address.startsWith('solana:') ? address.slice('solana:'.length) : address;
}

/** The address as it is signed and sent, and as the service returns it: EVM lowercase, everything else unchanged. */
export function normalizeAddress(text: string): string {
  return isEvmAddress(text) ? text.toLowerCase() : text;
}

export function encodeBase58(bytes: Uint8Array): string {
  return base58.encode(bytes);
}

/** The bytes of a base58 text if they are `size`, 32 or 64. Texts of another length are not decoded: long ones take long. */
export function decodeBase58(text: string, size: number): Uint8Array | undefined {
  if (text.length < size || text.length > size * 1.375) return undefined;
  try {
    const bytes = base58.decode(text);
    return bytes.length === size ? bytes : undefined;
  } catch {
    return undefined;
  }
}

export function encodeHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** The bytes of hex digits, with or without 0x before them. */
export function decodeHex(text: string): Uint8Array {
  return Uint8Array.from(text.replace(/^0x/, '').match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}

export function isIdentifier(text: string): boolean {
  return isUuid(text) || isWalletAddress(text) || isExternalId(text);
}

/** What is wrong with a mistyped address; `undefined` for text that looks like none. */
export function addressProblem(text: string): string | undefined {
  const unstorable = textProblem(text);
  if (unstorable !== undefined) return unstorable;
  if (/…|\.\.\./.test(text)) return 'is shortened: the whole address is needed';
  const [, digits = ''] = /^0x(\w+)$/i.exec(text) ?? [];
  const wrong = /[^0-9a-f]/i.exec(digits)?.[0];
  if (digits.length >= 20 && wrong !== undefined) return `has the letter ${wrong}, which is not a hex digit`;
  if (digits !== '' && digits.length !== 40)
    return `has ${digits.length} hex digit${digits.length === 1 ? '' : 's'}, 40 are needed`;
  return digits !== '' && !text.startsWith('0x') ? 'must begin with 0x' : undefined;
}

/** Section "Limits". */
export const honoredViewers = 10;

/** Why a text cannot be stored or signed as it is; `undefined` if it can. */
export function textProblem(text: string): string | undefined {
  if (text.includes('\0')) return 'holds a NUL character';
  return /\p{Surrogate}/u.test(text) ? 'holds half of a character (a lone surrogate)' : undefined;
}
