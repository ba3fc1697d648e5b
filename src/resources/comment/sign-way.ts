import type { Context } from '../../context.ts';
import { usageError } from '../../errors.ts';
import { askKey, checkKeySource, type KeyInput, keySources } from '../../keys/open-key.ts';
import { isEvmAddress, isSolanaAddress, plainAddress } from '../../model/address.ts';
import type { ChainFamily } from '../../model/chain.ts';
import { mayAsk } from '../../output/confirm.ts';
import type { PageInput } from '../../pages/show-address.ts';

/** What makes the signatures: a key, or a wallet in the browser. */
export interface WayInput extends KeyInput, PageInput {
  signer?: string | undefined;
}

const orBrowser = ' Or sign with a wallet: --browser.';
const offer = 'Press Enter to sign with your wallet in the browser, or type the key.\n';

/** Errors: `usage` for flags of the page without it. */
export function checkPageFlags({ browser, open, readyFile }: WayInput): void {
  const [flag] = [...(open ? ['--open'] : []), ...(readyFile === undefined ? [] : ['--ready-file'])];
  if (flag !== undefined && !browser)
    throw usageError(`${flag} would do nothing without --browser`, 'Omit it, or add --browser.');
}

/** Errors: `usage` for an account that no wallet could choose. */
function checkSigner(signer: string | undefined, family: ChainFamily): void {
  if (signer === undefined || (family === 'evm' ? isEvmAddress(signer) : isSolanaAddress(plainAddress(signer)))) return;
  const form = family === 'evm' ? 'an EVM address (0x and 40 hex digits)' : 'a Solana address (32 bytes in base58)';
  throw usageError(`--signer ${signer}: must be ${form}, as the chain of the comment has it`);
}

/**
 * The input with the one way to sign that it names; on a terminal, where it names none, the user is asked: nothing typed is the browser,
 * which is opened. Errors: `usage` for none or several, and for a second use of stdin.
 */
export async function chooseWay<Input extends WayInput>(
  input: Input,
  { family, stdinUse }: { family: ChainFamily; stdinUse: string | undefined },
  context: Context,
): Promise<Input> {
  checkKeySource(input, context, stdinUse, orBrowser);
  if (input.signerCommand !== undefined && input.signer === undefined)
    throw usageError('--signer-command needs --signer', 'Say which address it signs for: --signer <address>.');
  if (input.browser || input.signerCommand !== undefined) checkSigner(input.signer, family);
  if (keySources(input).length > 0 || !mayAsk(context)) return input;
  const typed = await askKey(family, context, offer);
  return typed === '' ? { ...input, browser: true, open: true } : { ...input, typed };
}
