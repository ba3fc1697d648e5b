import { isEvmAddress, isSolanaAddress, isUuid, textProblem } from '../api/address.ts';
import { hasWrongChecksum } from '../api/checksum.ts';
import { showUnseen } from '../api/safe-text.ts';

export const wrongChecksum = 'wrong EIP-55 checksum: a letter or digit is mistyped';

type ReadAddress = string | { reason: string };

const maxExternalId = 1024;
const normalEvm = /^0x[0-9a-f]{40}$/;

/** A subscriber: EVM lowercase, Solana and `ext:` ids unchanged; or why the text is none, without what may be a private key. */
export function readAddress(
  raw: string,
  { allowBadChecksum }: { allowBadChecksum?: boolean | undefined },
): ReadAddress {
  // Most lines, without any further look.
  if (normalEvm.test(raw)) return raw;
  const text = raw.trim();
  if (isEvmAddress(text)) {
    const lower = text.toLowerCase();
    return lower === text || allowBadChecksum || !hasWrongChecksum(text) ? lower : { reason: wrongChecksum };
  }
  if (text.startsWith('ext:')) return readExternal(text);
  return isSolanaAddress(text) ? text : { reason: reasonFor(text) };
}

function readExternal(text: string): ReadAddress {
  if (text.length === 'ext:'.length) return { reason: 'ext: without an id behind it' };
  if (text.length > maxExternalId) return { reason: `ext: id longer than ${maxExternalId} characters` };
  if (/[\u0000-\u001f\u007f]/.test(text)) return { reason: 'ext: id with a control character' };
  const problem = textProblem(text);
  if (problem !== undefined) return { reason: `ext: id that ${problem}` };
  return text;
}

function reasonFor(text: string): string {
  if (text === '') return 'empty';
  if (text.startsWith('\\x')) return 'starts with \\x, the way databases print bytes: an address starts with 0x';
  if (text.startsWith('0X')) return 'starts with 0X: an address starts with 0x';
  if (text.startsWith('0x')) return hexReason(text.slice(2));
  if (/^[0-9a-fA-F]{40}$/.test(text)) return '0x is missing in front of the 40 hex digits';
  if (/^[0-9a-fA-F]{64}$/.test(text)) return 'wrong length: 64 hex digits are a transaction hash or a private key';
  if (isUuid(text)) return 'a profile UUID: webhooks take addresses';
  if (/^[^\s.]+(\.[^\s.]+)+$/.test(text) && /\.(eth|sol|xyz|lens|fc)$/i.test(text))
    return 'a name: give the address behind it';
  if (/\s/.test(text)) return 'has a space in it: give one address a line';
  return base58Reason(text);
}

function hexReason(digits: string): string {
  const wrong = /[^0-9a-fA-F]/u.exec(digits);
  if (wrong) return `not hexadecimal: ${quoteCharacter(wrong[0])} at character ${wrong.index + 3}`;
  const hash = digits.length === 64 ? ': a transaction hash or a private key' : ': an EVM address has 40';
  return `wrong length: ${digits.length} hex digits${hash}`;
}

function base58Reason(text: string): string {
  const wrong = /[^1-9A-HJ-NP-Za-km-z]/u.exec(text);
  if (wrong) return `not base58, nor 0x and 40 hex digits: ${quoteCharacter(wrong[0])} at character ${wrong.index + 1}`;
  if (text.length >= 80) return `wrong length: ${text.length} base58 characters are a signature or a private key`;
  return `wrong length: ${text.length} base58 characters that are not the 32 bytes of a Solana address`;
}

/** `"g"`, and `<U+200B>` for an invisible character. */
function quoteCharacter(character: string): string {
  const shown = showUnseen(character);
  return shown === character ? JSON.stringify(character) : shown;
}
