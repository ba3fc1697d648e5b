import type { Result } from '../../cli/command.ts';
import type { Context } from '../../context.ts';
import { usageError } from '../../errors.ts';
import { writeSecretFile } from '../../keys/key-store.ts';
import { checkKeySource } from '../../keys/open-key.ts';
import { withSigner } from '../../keys/open-signer.ts';
import { confirmReplace } from '../../output/confirm.ts';
import type { CommentInput, FormInput, KeyInput } from './params.ts';
import { describePreview, oddities, type Preview, previewOf } from './preview.ts';
import { readComment, readForm } from './read-comment.ts';
import { commonFamily, readMany } from './read-many.ts';
import { type SignedComment, signComment } from './signed.ts';
import { type Family, familyOf } from './swap-fields.ts';
import type { Encoding } from './verify-forms.ts';
import { preview as previewView, sign as view } from './view.ts';

export interface SignInput extends CommentInput, FormInput, KeyInput {
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
    tellOut(input, context);
    return asText([preview], context) ?? { kind: 'answer', answer: preview, view: previewView };
  }
  checkKeySource(input, context, input.textFile === '-' ? '--text-file -' : undefined);
  if (input.out !== undefined) await confirmReplace('--out', input.out, context);
  for (const warning of preview.warnings) context.warn(warning);
  const { encoding, signer: expected } = input;
  const signed = await withSigner(input, { family, encoding, expected }, context, (signer) =>
    signComment(fields, form, { signer, encoding }),
  );
  return input.out === undefined
    ? { kind: 'answer', answer: signed, view }
    : writeOut(input.out, `${JSON.stringify(signed, null, 2)}\n`, 1, context);
}

function checkEncoding(encoding: Encoding | undefined, family: Family): void {
  if (encoding !== undefined && family === 'evm')
    throw usageError(`--encoding ${encoding}: is for solana; a signature of an EVM chain is 0x and hex digits`);
}

async function signMany(input: SignInput, file: string, context: Context): Promise<Result> {
  const only = ['chain', 'transactionHash', 'tokenAddress', 'commentText', 'textFile'] as const;
  if (only.some((key) => input[key] !== undefined) || input.preview === true)
    throw usageError('--file takes the comments from the file: leave --chain, --tx, --token, --text and --preview out');
  const lines = await readMany(file, context);
  const form = await readForm(input, context);
  const family = commonFamily(lines);
  checkEncoding(input.encoding, family);
  if (context.options.dryRun) {
    tellOut(input, context);
    const previews = lines.map(({ fields }) => previewOf(fields, form));
    return asText(previews, context) ?? { kind: 'items', batches: once(previews), view: previewView };
  }
  checkKeySource(input, context, file === '-' ? '--file -' : undefined);
  if (input.out !== undefined) await confirmReplace('--out', input.out, context);
  for (const { line, fields } of lines)
    for (const warning of oddities(fields.commentText)) context.warn(`line ${line}: ${warning}`);
  const { encoding, signer: expected } = input;
  const signed = await withSigner(input, { family, encoding, expected }, context, async (signer) => {
    const done: SignedComment[] = [];
    for (const { fields } of lines) done.push(await signComment(fields, form, { signer, encoding }));
    return done;
  });
  if (input.out === undefined) return { kind: 'items', batches: once(signed), view };
  return writeOut(input.out, signed.map((each) => `${JSON.stringify(each)}\n`).join(''), signed.length, context);
}

function tellOut({ out }: SignInput, { options, note }: Context): void {
  if (options.dryRun && out !== undefined) note(`Would be signed and written to ${out}.`);
}

/** For people; `undefined` where another form is asked for. */
function asText(previews: readonly Preview[], { options: { format, jq }, world }: Context): Result | undefined {
  if (jq !== undefined || (format !== undefined && format !== 'table')) return undefined;
  return { kind: 'text', text: previews.map((each) => describePreview(each, world.io.out)).join('\n') };
}

async function* once<T>(items: readonly T[]): AsyncGenerator<readonly T[]> {
  yield items;
}

function writeOut(file: string, text: string, count: number, context: Context): Result {
  writeSecretFile(file, text, { exclusive: false });
  const how = count === 1 ? `sotra comment post --signed ${file}` : `sotra comment post --file ${file}`;
  context.note(`Signed ${count === 1 ? 'the comment' : `${count} comments`} into ${file}. Post with: ${how}`);
  return { kind: 'none' };
}
