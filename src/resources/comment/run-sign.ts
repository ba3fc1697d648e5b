import type { Result } from '../../cli/command.ts';
import type { Context } from '../../context.ts';
import { exitCodeOf, missingInputs, usageError } from '../../errors.ts';
import { writeSecretFile } from '../../keys/key-store.ts';
import { checkKeySource, type KeyInput, withSigner } from '../../keys/open-key.ts';
import type { Encoding } from '../../keys/signer.ts';
import { type ChainFamily, familyOf } from '../../model/chain.ts';
import { confirmReplace } from '../../output/confirm.ts';
import { describePreview, type Preview, previewOf, textWarnings } from './preview.ts';
import {
  type CommentInput,
  commonFamily,
  type FormInput,
  neededFor,
  readComment,
  readCommentFile,
  readForm,
} from './read-comment.ts';
import { readSignedFile, type SignedComment, signComment } from './signed.ts';
import { signedText } from './signing.ts';
import { type Verdict, verifySignature } from './verify.ts';
import { preview as previewView, sign as signView, verify as verifyView } from './view.ts';

interface SignInput extends CommentInput, FormInput, KeyInput {
  preview?: boolean | undefined;
  signer?: string | undefined;
  encoding?: Encoding | undefined;
  file?: string | undefined;
  out?: string | undefined;
}

/** One signed comment, many with `--file`, or with `--preview` what would be signed. */
export async function runSign(input: SignInput, context: Context): Promise<Result> {
  if (input.file !== undefined) return signMany(input, input.file, context);
  const fields = await readComment(input, context);
  const form = await readForm(input, context);
  const family = familyOf(fields.chain);
  checkEncoding(input.encoding, family);
  const preview = previewOf(fields, form);
  if (input.preview === true || context.options.dryRun) {
    noteOut(input, context);
    return asText([preview], context) ?? { kind: 'answer', answer: preview, view: previewView };
  }
  checkKeySource(input, context, input.textFile === '-' ? '--text-file -' : undefined);
  if (input.out !== undefined) await confirmReplace('--out', input.out, context);
  warnOfText(fields.commentText, context);
  const { encoding, signer: expected } = input;
  const signed = await withSigner(input, { family, encoding, expected }, context, (signer) =>
    signComment(fields, form, { signer, encoding }),
  );
  return input.out === undefined
    ? { kind: 'answer', answer: signed, view: signView }
    : writeOut(input.out, `${JSON.stringify(signed, null, 2)}\n`, 1, context);
}

function checkEncoding(encoding: Encoding | undefined, family: ChainFamily): void {
  if (encoding !== undefined && family === 'evm')
    throw usageError(`--encoding ${encoding}: only for solana; a signature of an EVM chain is 0x and hex digits`);
}

async function signMany(input: SignInput, file: string, context: Context): Promise<Result> {
  const only = ['chain', 'transactionHash', 'tokenAddress', 'commentText', 'textFile'] as const;
  if (only.some((key) => input[key] !== undefined) || input.preview === true)
    throw usageError('--file takes the comments from the file: omit --chain, --tx, --token, --text and --preview');
  const lines = await readCommentFile(file, context);
  const form = await readForm(input, context);
  const family = commonFamily(lines);
  checkEncoding(input.encoding, family);
  if (context.options.dryRun) {
    noteOut(input, context);
    const previews = lines.map(({ fields }) => previewOf(fields, form));
    return asText(previews, context) ?? { kind: 'items', batches: oneBatch(previews), view: previewView };
  }
  checkKeySource(input, context, file === '-' ? '--file -' : undefined);
  if (input.out !== undefined) await confirmReplace('--out', input.out, context);
  for (const { line, fields } of lines)
    for (const warning of textWarnings(fields.commentText)) context.warn(`line ${line}: ${warning}`);
  const { encoding, signer: expected } = input;
  const signed = await withSigner(input, { family, encoding, expected }, context, async (signer) => {
    const done: SignedComment[] = [];
    for (const { fields } of lines) done.push(await signComment(fields, form, { signer, encoding }));
    return done;
  });
  if (input.out === undefined) return { kind: 'items', batches: oneBatch(signed), view: signView };
  return writeOut(input.out, signed.map((each) => `${JSON.stringify(each)}\n`).join(''), signed.length, context);
}

function noteOut({ out }: SignInput, { options, note }: Context): void {
  if (options.dryRun && out !== undefined) note(`Would sign and write to ${out}.`);
}

/** For people; `undefined` where another format is asked for. */
function asText(previews: readonly Preview[], { options: { format, jq }, world }: Context): Result | undefined {
  if (jq !== undefined || (format !== undefined && format !== 'table')) return undefined;
  return { kind: 'text', text: previews.map((each) => describePreview(each, world.io.out)).join('\n') };
}

async function* oneBatch<T>(items: readonly T[]): AsyncGenerator<readonly T[]> {
  yield items;
}

function writeOut(file: string, text: string, count: number, context: Context): Result {
  writeSecretFile(file, text, { exclusive: false });
  const [what, flag] = count === 1 ? ['the comment', '--signed'] : [`${count} comments`, '--file'];
  context.note(`Signed ${what} into ${file}. Post with: sotra comment post ${flag} ${file}`);
  return { kind: 'none' };
}

interface VerifyInput extends CommentInput, FormInput {
  signature?: string | undefined;
  signer?: string | undefined;
  encoding?: Encoding | undefined;
  signed?: string | undefined;
}

/** Yes or no with the address that signed; exit 12 for no. */
export async function runVerify(input: VerifyInput, context: Context): Promise<Result> {
  const verdict =
    input.signed === undefined ? await verifyTyped(input, context) : await verifyFile(input, input.signed, context);
  return { kind: 'answer', answer: verdict, view: verifyView, exitCode: verdict.valid ? 0 : exitCodeOf.verification };
}

async function verifyTyped(input: VerifyInput, context: Context): Promise<Verdict> {
  const { signature, signer, encoding } = input;
  if (signature === undefined || signer === undefined)
    throw missingInputs([
      ...neededFor(input),
      { label: '--signature', help: 'the signature, or --signed <file>', value: signature },
      { label: '--signer', help: 'the address that signed', value: signer },
    ]);
  const fields = await readComment(input, context);
  const message = signedText(fields, await readForm(input, context));
  warnOfText(fields.commentText, context);
  return verifySignature({ chain: fields.chain, message, signature, signerAddress: signer, encoding });
}

function warnOfText(commentText: string, { warn }: Context): void {
  for (const warning of textWarnings(commentText)) warn(warning);
}

async function verifyFile(input: VerifyInput, file: string, context: Context): Promise<Verdict> {
  const signed = await readSignedFile(file, context);
  const { message, signerAddress, layout, serviceName } = signed;
  const form = { layout: input.layout ?? layout, serviceName: input.serviceName ?? serviceName };
  warnOfText(signed.commentText, context);
  if (signedText(signed, form) !== message)
    return { valid: false, signerAddress, reason: 'the message is not the text that the fields make' };
  return verifySignature({ ...signed, encoding: input.encoding });
}
