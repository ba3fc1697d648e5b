import type { Result } from '../../cli/command.ts';
import type { Context } from '../../context.ts';
import { SotraError, usageError } from '../../errors.ts';
import { RequestPreview } from '../../http/preview.ts';
import { checkKeySource, type KeyInput, keySources, withSigner } from '../../keys/open-key.ts';
import { familyOf } from '../../model/chain.ts';
import { confirm } from '../../output/confirm.ts';
import { showUnseen } from '../../output/safe-text.ts';
import { post } from './endpoints.ts';
import { describePreview, previewOf, warnOfText } from './preview.ts';
import { type CommentInput, type FormInput, hasComment, readComment, readForm } from './read-comment.ts';
import { bodyOf, type SendableComment, send } from './send.ts';
import { readSignedFile, signComment, signedProblem } from './signed.ts';
import { signedText, type TextForm } from './signing.ts';
import { verifySignature } from './verify.ts';
import { post as view } from './view.ts';

interface PostInput extends CommentInput, FormInput, KeyInput {
  signature?: string | undefined;
  signer?: string | undefined;
  signed?: string | undefined;
  file?: string | undefined;
}

/** A comment ready to be sent, with the form of its text where that is known. */
interface Prepared {
  comment: SendableComment;
  form: TextForm | undefined;
}

/** Posts one comment: signed here, signed elsewhere, or many with `--file`. */
export async function runPost(input: PostInput, context: Context): Promise<Result> {
  checkWays(input);
  if (input.file !== undefined) return (await import('./post-many.ts')).postMany(input, input.file, context);
  const { comment, form } = await prepare(input, context);
  warnOfText(comment.commentText, context);
  const { dryRun, curl } = context.options;
  if (dryRun && !curl) return showRequest(comment, form, context);
  if (!curl) {
    await context.ready();
    await confirmPost(comment, form, context);
  }
  const { comment: answer, ...more } = await send(comment, context);
  return { kind: 'answer', answer, view, ...more };
}

function checkWays(input: PostInput): void {
  const ways = [
    ...(input.signature === undefined ? [] : ['--signature']),
    ...(input.signed === undefined ? [] : ['--signed']),
    ...(input.file === undefined ? [] : ['--file']),
  ];
  const [way, other] = ways.concat(input.file === undefined ? keySources(input) : []);
  if (way !== undefined && other !== undefined && way !== other && !way.startsWith('--key'))
    throw usageError(`${way} and ${other} contradict each other`, 'Post what is signed already, or sign with a key.');
  if ((way === '--signed' || way === '--file') && hasComment(input))
    throw usageError(`${way} takes the comment from the file: omit --chain, --tx, --token and --text`);
}

async function prepare(input: PostInput, context: Context): Promise<Prepared> {
  if (input.signed !== undefined) return prepareFile(input, input.signed, context);
  const fields = await readComment(input, context);
  if (input.signature !== undefined) {
    if (input.signer === undefined) throw usageError('--signer is required with --signature: the address that signed');
    const comment = { ...fields, signature: input.signature, signerAddress: input.signer };
    const form = await readForm(input, context).catch((thrown: unknown) => {
      if (input.serviceName !== undefined) throw thrown;
      return undefined;
    });
    if (form !== undefined) warnOfSignature(comment, form, context);
    return { comment, form };
  }
  const form = await readForm(input, context);
  await context.ready();
  checkKeySource(input, context, input.textFile === '-' ? '--text-file -' : undefined);
  const wanted = { family: familyOf(fields.chain), expected: input.signer };
  const comment = await withSigner(input, wanted, context, (signer) => signComment(fields, form, { signer }));
  return { comment, form };
}

/** A signature made elsewhere is sent as it is, but its sender should know if it is not valid. */
function warnOfSignature(comment: SendableComment, form: TextForm, { warn }: Context): void {
  const verdict = verifySignature({ ...comment, message: signedText(comment, form) });
  if (!verdict.valid)
    warn(`the signature does not fit the ${form.layout} text of service ${form.serviceName}: ${verdict.reason}`);
}

async function prepareFile(input: PostInput, file: string, context: Context): Promise<Prepared> {
  const signed = await readSignedFile(file, context);
  const problem = signedProblem(signed);
  if (problem !== undefined) throw new SotraError('verification', `${file} was not posted: ${problem}`);
  if (familyOf(signed.chain) === 'solana' && !verifySignature({ ...signed, encoding: 'base58' }).valid)
    context.warn('the signature is not in base58, which is what the service takes');
  const { serviceName, layout } = await context.service();
  const form = { serviceName: input.serviceName ?? serviceName ?? signed.serviceName, layout: input.layout ?? layout };
  if (form.serviceName !== signed.serviceName || form.layout !== signed.layout)
    throw usageError(
      `${file} is signed for service ${signed.serviceName} in the ${signed.layout} layout, not for ${form.serviceName} in ${form.layout}`,
      'Sign it again for this service, or post it with the --service-name and --layout that it was signed with.',
    );
  return { comment: signed, form: signed };
}

async function confirmPost(comment: SendableComment, form: TextForm | undefined, context: Context): Promise<void> {
  if (context.world.io.in.isTTY !== true || context.options.yes) return;
  const { baseUrl, kind } = await context.service();
  const where = kind === 'sandbox' ? 'the sandbox' : new URL(baseUrl).origin;
  const text = form === undefined ? '' : describePreview(previewOf(comment, form), context.world.io.err);
  await confirm(`post this comment to ${where}`, context, `${text}Signer: ${showUnseen(comment.signerAddress)}\n`);
}

/** Throws the request with the text that was signed, to be shown. */
async function showRequest(comment: SendableComment, form: TextForm | undefined, context: Context): Promise<Result> {
  try {
    await context.call(post, bodyOf(comment));
  } catch (thrown) {
    if (!(thrown instanceof RequestPreview)) throw thrown;
    const preview = form && previewOf(comment, form);
    const { signerAddress } = comment;
    const lines = preview ? `${describePreview(preview, context.world.io.out)}\n` : '';
    const text = `${lines}Signer: ${showUnseen(signerAddress)}\n\n`;
    throw new RequestPreview(thrown.request, { text, facts: { ...preview, signerAddress } });
  }
  throw new SotraError('internal', 'a request was sent that was only to be shown');
}
