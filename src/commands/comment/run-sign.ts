import type { TextForm } from '../../api/signed-text.ts';
import { flagWords, shellLine } from '../../client/shell.ts';
import type { Context } from '../../context.ts';
import { usageError } from '../../errors.ts';
import { writeSecretFile } from '../../keys/keystore.ts';
import { withSigner } from '../../keys/open-key.ts';
import type { Signer } from '../../keys/signer.ts';
import { confirmReplace } from '../../lib/output/confirm.ts';
import type { Result } from '../../lib/output/result.ts';
import { inSlices, type View } from '../../lib/output/view.ts';
import { describePreview, type Preview, previewText, warnOfText } from './preview.ts';
import {
  type CommentInput,
  type CommentLine,
  commonFamily,
  type FormInput,
  hasComment,
  readComment,
  readCommentFile,
  readTextForm,
} from './read-comment.ts';
import { checkPageFlags, chooseSigner, makeSignedComment, type SignedComment, type WayInput } from './signed.ts';
import { preview as previewView, sign as signView } from './view.ts';

interface SignInput extends CommentInput, FormInput, WayInput {
  preview?: boolean | undefined;
  file?: string | undefined;
  out?: string | undefined;
}

/** One signed comment, many with `--file`, or with `--preview` what would be signed. */
export async function runSign(input: SignInput, context: Context): Promise<Result> {
  const { file, textFile, out, signer: expected } = input;
  const isMany = file !== undefined;
  checkPageFlags(input);
  if (input.preview === true && out !== undefined)
    throw usageError('--preview and --out contradict each other', 'A preview signs nothing: omit one of them.');
  const lines = isMany
    ? await readMany(input, file, context)
    : [{ line: 1, fields: await readComment(input, context) }];
  const form = await readTextForm(input, context);
  const family = commonFamily(lines);
  const { dryRun } = context.options;
  if (input.preview === true || dryRun) {
    if (dryRun && out !== undefined) context.note(`Would sign and write to ${out}.`);
    return showPreviews(lines, form, context, isMany);
  }
  const stdinUse = (file ?? textFile) === '-' ? (isMany ? '--file -' : '--text-file -') : undefined;
  const way = await chooseSigner(input, { family, stdinUse }, context);
  if (out !== undefined) await confirmReplace('--out', out, context);
  for (const { line, fields } of lines) warnOfText(fields.commentText, context, isMany ? `line ${line}: ` : '');
  const signAll = async (signer: Signer) => {
    const done: SignedComment[] = [];
    for (const { fields } of lines) done.push(await makeSignedComment(fields, form, signer));
    return done;
  };
  const signed = way.browser
    ? await (await import('./browser-wallet.ts')).signInBrowser(
        { lines, form, family, purpose: 'sign', input: way },
        context,
        signAll,
      )
    : await withSigner(way, { family, expected }, context, signAll);
  if (out === undefined) return makeSignResult(signed, signView, isMany);
  const texts = signed.map((each) => `${isMany ? JSON.stringify(each) : JSON.stringify(each, null, 2)}\n`);
  writeSecretFile(out, texts.join(''), { exclusive: false });
  const [what, flag] =
    signed.length === 1 ? ['the signed comment', '--signed'] : [`${signed.length} signed comments`, '--file'];
  context.note(`Wrote ${what} to ${out}. To post: sotra comment post ${shellLine(flagWords(flag, out))}`);
  return { kind: 'none' };
}

function readMany(input: SignInput, file: string, context: Context): Promise<CommentLine[]> {
  if (hasComment(input) || input.preview === true)
    throw usageError('--file reads the comments from the file: omit --chain, --tx, --token, --text and --preview');
  return readCommentFile(file, context);
}

/** What would be signed. */
export function showPreviews(
  lines: readonly Pick<CommentLine, 'fields'>[],
  form: TextForm,
  context: Context,
  isMany: boolean,
): Result {
  const previews = lines.map(({ fields }) => previewText(fields, form));
  return asText(previews, context) ?? makeSignResult(previews, previewView, isMany);
}

/** For people; `undefined` if another format is asked for. */
function asText(previews: readonly Preview[], { options: { format, jq }, io }: Context): Result | undefined {
  if (jq !== undefined || (format !== undefined && format !== 'table')) return undefined;
  return { kind: 'text', text: previews.map((each) => describePreview(each, io.out)).join('\n') };
}

function makeSignResult<T>(items: readonly T[], view: View<T, T>, isMany: boolean): Result {
  return isMany ? { kind: 'items', batches: inSlices(items), view } : { kind: 'answer', answer: items[0], view };
}
