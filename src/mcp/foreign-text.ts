import { isEvmAddress, isSolanaAddress, isUuid } from '../model/address.ts';
import { chains } from '../model/chain.ts';

const plainWords: ReadonlySet<string> = new Set([
  ...chains,
  ...'all unknown buy sell enter exit spot perp send receive long short open closed user unnamed backfilling active'.split(
    ' ',
  ),
  ...'deleted follow unfollow typed settings service true false yes no'.split(' '),
]);

/** Whether a text may have been written by anybody: it is neither an address, an id, a number nor a word of the interface. */
export function isForeign(value: unknown): boolean {
  if (typeof value !== 'string' || value === '' || plainWords.has(value)) return false;
  return !value.split(' ').every(isIdentifier);
}

const numberForm = /^(?:0x[\da-f]+|\d[\d.:TZdhm-]*)$/i;
/** 64 bytes in base58: a transaction on Solana. */
const signatureForm = /^[1-9A-HJ-NP-Za-km-z]{86,88}$/;

function isIdentifier(text: string): boolean {
  return (
    isEvmAddress(text) || isSolanaAddress(text) || isUuid(text) || numberForm.test(text) || signatureForm.test(text)
  );
}
