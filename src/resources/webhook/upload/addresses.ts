import { isSolanaAddress } from '../../../model/address.ts';
import { hasWrongChecksum } from '../../../model/checksum.ts';

export interface AddressRules {
  /** Takes EVM addresses whose letters do not fit EIP-55. */
  allowBadChecksum: boolean;
}

/** The address, or why there is none. */
export type ReadAddress = string | { reason: string };

const evmPattern = /^0x[0-9a-fA-F]{40}$/;
const longestExternalId = 1024;

/**
 * One subscriber as the service takes it: EVM lowercase, Solana and `ext:` ids as they are; or why the text is none. Surrounding
 * space is dropped. Never throws; a reason never repeats what may be a private key.
 */
export function readAddress(raw: string, { allowBadChecksum }: AddressRules): ReadAddress {
  const text = raw.trim();
  if (evmPattern.test(text)) {
    if (!allowBadChecksum && hasWrongChecksum(text))
      return { reason: 'wrong EIP-55 checksum: a letter or digit is mistyped; --allow-bad-checksum takes it' };
    return text.toLowerCase();
  }
  if (text.startsWith('ext:')) return readExternal(text);
  return isSolanaAddress(text) ? text : { reason: reasonFor(text) };
}

function readExternal(text: string): ReadAddress {
  if (text.length === 'ext:'.length) return { reason: 'ext: without an id behind it' };
  if (text.length > longestExternalId) return { reason: `ext: id longer than ${longestExternalId} characters` };
  if (/[\u0000-\u001f\u007f]/.test(text)) return { reason: 'ext: id with a control character' };
  return text;
}

/** Why a text is no address, in the words that lead to the mistake. */
function reasonFor(text: string): string {
  if (text === '') return 'empty';
  if (text.startsWith('\\x')) return 'starts with \\x, the way databases print bytes: an address starts with 0x';
  if (text.startsWith('0X')) return 'starts with 0X: an address starts with 0x';
  if (text.startsWith('0x')) return hexReason(text.slice(2));
  if (/^[0-9a-fA-F]{40}$/.test(text)) return '0x is missing in front of the 40 hex digits';
  if (/^[0-9a-fA-F]{64}$/.test(text)) return 'wrong length: 64 hex digits are a transaction hash or a private key';
  if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)) return 'a profile UUID: webhooks take addresses';
  if (/^[^\s.]+(\.[^\s.]+)+$/.test(text) && /\.(eth|sol|xyz|lens|fc)$/i.test(text))
    return 'a name: give the address behind it';
  if (/\s/.test(text)) return 'holds a space: one address a line';
  return base58Reason(text);
}

function hexReason(digits: string): string {
  const wrong = /[^0-9a-fA-F]/u.exec(digits);
  if (wrong) return `not hexadecimal: ${JSON.stringify(wrong[0])} at character ${wrong.index + 3}`;
  const hash = digits.length === 64 ? ': a transaction hash or a private key' : ': an EVM address has 40';
  return `wrong length: ${digits.length} hex digits${hash}`;
}

function base58Reason(text: string): string {
  const wrong = /[^1-9A-HJ-NP-Za-km-z]/u.exec(text);
  if (wrong) return `not base58, nor 0x and 40 hex digits: ${JSON.stringify(wrong[0])} at character ${wrong.index + 1}`;
  if (text.length >= 80) return `wrong length: ${text.length} base58 characters are a signature or a private key`;
  return `wrong length: ${text.length} base58 characters that are not the 32 bytes of a Solana address`;
}
