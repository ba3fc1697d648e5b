import { isEvmAddress, isSolanaAddress, normalizeAddress, plainAddress } from '../../api/address.ts';
import { type ChainFamily, findFamily } from '../../api/chain.ts';
import { signedText, type TextFields, type TextForm } from '../../api/signed-text.ts';
import { checkMadeSignature, type Verdict, verifySignature } from '../../api/verify-signature.ts';
import { flagWords, shellLine } from '../../client/shell.ts';
import type { Context } from '../../context.ts';
import { errorExitCodes, usageError } from '../../errors.ts';
import { writePrivateFile } from '../../keys/keystore.ts';
import { askKey, checkKeySource, type KeyInput, keySources, openKeySigner, readTypedKey } from '../../keys/open-key.ts';
import type { Signer } from '../../keys/signer.ts';
import { confirmReplace, mayAsk } from '../../lib/output/confirm.ts';
import { inSlices, type Result } from '../../lib/output/view.ts';
import type { PageInput } from '../../pages/serve.ts';
import {
  type CommentInput,
  describePreview,
  type FormInput,
  missingComment,
  previewText,
  readComment,
  readCommentFile,
  readSignedFile,
  readTextForm,
  type SignedComment,
  warnOfText,
} from './comment-text.ts';
import { previews as previewsView, preview as previewView, sign as view } from './view.ts';
import type { WalletSigning } from './wallet-page.ts';

interface SignInput extends CommentInput, FormInput, WayInput {
  file?: string | undefined;
  out?: string | undefined;
}

/** One signed comment, many with `--file`, or with `--dry-run` what would be signed. */
export async function runSign(input: SignInput, context: Context): Promise<Result> {
  const { file, textFile, out } = input;
  const { dryRun } = context.options;
  const isMany = file !== undefined;
  const lines = isMany
    ? await readCommentFile(file, context)
    : [{ line: 1, fields: await readComment(input, context) }];
  const form = await readTextForm(input, context);
  commonFamily(lines);
  if (dryRun && out !== undefined) context.note(`Would sign and write to ${out}.`);
  if (dryRun) return showPreviews(lines, form, context, isMany);
  const stdinUse = file === '-' ? '--file -' : textFile === '-' ? '--text-file -' : undefined;
  const signing = await chooseSigning({ lines, form, purpose: 'sign', way: input }, stdinUse, context);
  if (out !== undefined) await confirmReplace('--out', out, context);
  for (const { line, fields } of lines) warnOfText(fields.commentText, context, isMany ? `line ${line}: ` : '');
  const signed = await withSigner(signing, context, async (signer) => {
    const done: SignedComment[] = [];
    for (const { fields } of lines) done.push(await signer.sign(fields));
    return done;
  });
  if (out === undefined)
    return isMany ? { kind: 'items', batches: inSlices(signed), view } : { kind: 'answer', answer: signed[0] };
  const texts = signed.map((each) => `${isMany ? JSON.stringify(each) : JSON.stringify(each, null, 2)}\n`);
  writePrivateFile(out, texts.join(''), { exclusive: false });
  const [what, flag] =
    signed.length === 1 ? ['the signed comment', '--signed'] : [`${signed.length} signed comments`, '--file'];
  context.note(`Wrote ${what} to ${out}. To post: sotra comment post ${shellLine(flagWords(flag, out))}`);
  return { kind: 'none' };
}

/** The texts to be signed. */
export function showPreviews(lines: Signing['lines'], form: TextForm, { io }: Context, isMany: boolean): Result {
  const previews = lines.map(({ fields }) => previewText(fields, form));
  const drawn = previews.map((each) => describePreview(each, io.out)).join('\n');
  return isMany
    ? { kind: 'answer', answer: previews, view: previewsView, drawn }
    : { kind: 'answer', answer: previews[0], view: previewView, drawn };
}

interface VerifyInput extends CommentInput, FormInput {
  signature?: string | undefined;
  signer?: string | undefined;
  signed?: string | undefined;
}

export async function runVerify(input: VerifyInput, context: Context): Promise<Result> {
  const { signed } = input;
  const answer = signed === undefined ? await verifyTyped(input, context) : await verifyFile(input, signed, context);
  return { kind: 'answer', answer, exitCode: answer.valid ? 0 : errorExitCodes.verification };
}

async function verifyTyped(input: VerifyInput, context: Context): Promise<Verdict> {
  const { signature, signer } = input;
  if (signature === undefined || signer === undefined)
    throw missingComment(
      input,
      { label: '--signature', help: 'the signature, or --signed <file>', value: signature },
      { label: '--signer', help: 'the address that signed', value: signer },
    );
  const fields = await readComment(input, context);
  const message = signedText(fields, await readTextForm(input, context));
  warnOfText(fields.commentText, context);
  return verifySignature({ chain: fields.chain, message, signature, signerAddress: signer });
}

async function verifyFile(input: VerifyInput, file: string, context: Context): Promise<Verdict> {
  const signed = await readSignedFile(file, context);
  const { serviceName = signed.serviceName, layout = signed.layout } = input;
  warnOfText(signed.commentText, context);
  if (signedText(signed, { serviceName, layout }) === signed.message) return verifySignature(signed);
  return { valid: false, signerAddress: signed.signerAddress, reason: 'the message does not match the fields' };
}

/** How to sign: with a key, a command or a browser wallet. */
export type WayInput = KeyInput & PageInput;

/** The comments to sign, and how. */
export interface Signing extends WalletSigning {
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
  if (way.browser || way.signerCommand !== undefined) checkSigner(way.signer, family);
  const signing = { ...given, family };
  if (keySources(way).length > 0 || !mayAsk(context)) return { ...signing, way };
  const typed = await askKey(family, context, offer);
  return {
    ...signing,
    way: typed === '' ? { ...way, browser: true, open: true } : { ...way, read: readTypedKey(typed) },
  };
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

/** A signer, which the caller closes. Errors: those of `openKeySigner` and `openWalletPage`. */
export async function openSigner(signing: Signing, context: Context): Promise<CommentSigner> {
  const { way, family, form } = signing;
  if (way.browser) {
    const wallet = await (await import('./wallet-page.ts')).openWalletPage(signing, context);
    return { ...wallet, sign: (fields) => makeSignedComment(fields, form, wallet) };
  }
  const signer = await openKeySigner(way, family, context);
  return {
    address: signer.address,
    sign: (fields) => makeSignedComment(fields, form, signer),
    show: () => undefined,
    close: async () => signer.wipe(),
  };
}

/** The result of `act`, called with a signer that is closed afterwards. Errors: those of `openSigner` and `act`. */
export async function withSigner<T>(
  signing: Signing,
  context: Context,
  act: (signer: CommentSigner) => Promise<T>,
): Promise<T> {
  const signer = await openSigner(signing, context);
  try {
    const made = await act(signer);
    await signer.close();
    return made;
  } catch (thrown) {
    await signer.close(thrown);
    throw thrown;
  }
}

/** Signs a comment, and verifies the signature. Errors: `signing-key` if that check fails. */
export async function makeSignedComment(
  { chain, tokenAddress, transactionHash, commentText }: TextFields,
  { serviceName, layout }: TextForm,
  signer: Omit<Signer, 'wipe'>,
): Promise<SignedComment> {
  const fields = { chain, tokenAddress: normalizeAddress(tokenAddress), transactionHash, commentText };
  const message = signedText(fields, { serviceName, layout });
  const signerAddress = signer.address;
  const made = await signer.sign(message);
  const signature = await checkMadeSignature({ chain, message, signature: made, signerAddress });
  return { message, layout, serviceName, ...fields, signature, signerAddress };
}
