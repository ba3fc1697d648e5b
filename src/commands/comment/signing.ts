import { isEvmAddress, isSolanaAddress, plainAddress } from '../../api/address.ts';
import { type ChainFamily, findFamily } from '../../api/chain.ts';
import type { TextFields, TextForm } from '../../api/signed-text.ts';
import type { Context } from '../../context.ts';
import { usageError } from '../../errors.ts';
import { askKey, checkKeySource, type KeyInput, keySources } from '../../keys/open-key.ts';
import { mayAsk } from '../../lib/output/confirm.ts';
import type { PageInput } from '../../pages/show-address.ts';
import type { WalletFacts } from '../../pages/wallet.ts';
import type { CommentLine } from './read-comment.ts';
import type { SignedComment } from './signed.ts';

/** How to sign: with a key, a command or a browser wallet. */
export interface WayInput extends KeyInput, PageInput {
  signer?: string | undefined;
}

/** The comments to sign, and how. */
export interface Signing {
  lines: readonly Pick<CommentLine, 'line' | 'fields'>[];
  form: TextForm;
  family: ChainFamily;
  purpose: WalletFacts['purpose'];
  way: WayInput;
}

/** Signs comments until it is closed. */
export interface CommentSigner {
  address: string;
  sign: (fields: TextFields) => Promise<SignedComment>;
  /** Shows the outcome of a line on the page of a browser wallet. */
  show: (line: number, outcome: string) => void;
  /** Wipes the key, or shows on the page how it ended. */
  close: (thrown?: unknown) => Promise<void>;
}

const orBrowser = ' Or sign with a wallet: --browser.';
const offer = 'Press Enter to sign with your wallet in the browser, or type the key.\n';

/** Errors: `usage` for options of the page without `--browser`. */
export function checkPageFlags({ browser, open, readyFile }: WayInput): void {
  const flag = open ? '--open' : readyFile === undefined ? undefined : '--ready-file';
  if (flag !== undefined && !browser) throw usageError(`${flag} needs --browser`, 'Omit it, or add --browser.');
}

/**
 * How the lines are signed. If the input names no way, a terminal asks: Enter opens the browser. Errors: `usage` for several ways or none, for
 * lines that one key cannot sign, and for a second use of stdin.
 */
export async function chooseSigning(
  { way, ...given }: Omit<Signing, 'family'>,
  stdinUse: string | undefined,
  context: Context,
): Promise<Signing> {
  const family = commonFamily(given.lines);
  checkKeySource(way, context, stdinUse, orBrowser);
  if (way.signerCommand !== undefined && way.signer === undefined)
    throw usageError('--signer-command needs --signer', 'Add --signer <address>: the address that it signs for.');
  if (way.browser || way.signerCommand !== undefined) checkSigner(way.signer, family);
  const signing = { ...given, family };
  if (keySources(way).length > 0 || !mayAsk(context)) return { ...signing, way };
  const typed = await askKey(family, context, offer);
  return { ...signing, way: typed === '' ? { ...way, browser: true, open: true } : { ...way, typed } };
}

/** The kind of key that signs all lines. Errors: `usage` if one key cannot. */
export function commonFamily(lines: Signing['lines']): ChainFamily {
  const [first] = lines;
  const family = findFamily(first?.fields.chain ?? '');
  const other = lines.find(({ fields }) => findFamily(fields.chain) !== family);
  if (other === undefined) return family;
  throw usageError(
    `line ${other.line} is on ${other.fields.chain} and line ${first?.line} on ${first?.fields.chain}: one key cannot sign both`,
    'Split the file by kind of chain.',
  );
}

/** Errors: `usage` for an address of the other kind of chain. */
function checkSigner(signer: string | undefined, family: ChainFamily): void {
  if (signer === undefined || (family === 'evm' ? isEvmAddress(signer) : isSolanaAddress(plainAddress(signer)))) return;
  const form = family === 'evm' ? 'an EVM address (0x and 40 hex digits)' : 'a Solana address (32 bytes in base58)';
  throw usageError(`--signer ${signer}: must be ${form} on this chain`);
}
