import { textProblem } from '../../api/address.ts';
import type { Chain } from '../../api/chain.ts';
import { commentTextKind } from '../../api/comment.ts';
import { chainKind, layouts } from '../../api/formats.ts';
import { isObject, tryParseJson } from '../../api/json.ts';
import { checkValue, choice, type Kind, text } from '../../api/kind.ts';
import { showUnseen } from '../../api/safe-text.ts';
import {
  commentProblem,
  fieldProblem,
  isServiceName,
  maxCommentCharacters,
  signedText,
  signedToken,
  type TextFields,
  type TextForm,
} from '../../api/signed-text.ts';
import { verifySignature } from '../../api/verify-signature.ts';
import type { Context } from '../../context.ts';
import { inputError, missingInputs, orUndefined, SotraError, usageError } from '../../errors.ts';
import { isPrivateKey } from '../../keys/private-key.ts';
import { openBytes, readText } from '../../lib/files/source.ts';
import { openTextFile, readLines } from '../../lib/files/text-file.ts';

export interface CommentInput {
  chain?: Chain | undefined;
  transactionHash?: string | undefined;
  tokenAddress?: string | undefined;
  commentText?: string | undefined;
  textFile?: string | undefined;
}

export interface FormInput {
  serviceName?: string | undefined;
  layout?: TextForm['layout'] | undefined;
}

/** The comment from the options, checked for its chain. Errors: `usage` naming the option, before a key is asked for; `local-file`. */
export async function readComment(input: CommentInput, context: Context): Promise<TextFields> {
  const { chain, transactionHash, tokenAddress } = input;
  const text = input.commentText ?? input.textFile;
  if (chain === undefined || transactionHash === undefined || tokenAddress === undefined || text === undefined)
    throw missingComment(input);
  const fields = { chain, transactionHash, tokenAddress, commentText: input.commentText ?? '' };
  const wrong = fieldProblem(fields);
  if (wrong === undefined) return { ...fields, commentText: await readCommentText(input, context) };
  const shown = wrong.field === 'commentText' ? '' : ` ${fields[wrong.field]}`;
  throw inputError((name) => ({ message: `${name(wrong.field)}${shown}: ${wrong.problem}` }));
}

/** Errors: `usage`, naming the missing inputs. */
export function missingComment(
  { chain, transactionHash, tokenAddress, commentText, textFile }: CommentInput,
  ...more: Parameters<typeof missingInputs>[0]
): SotraError {
  const parts = [
    { label: '--chain', help: 'chain of the swap', value: chain },
    { label: '--tx', help: 'transaction hash of the swap, or an order id on hyperliquid', value: transactionHash },
    { label: '--token', help: 'token that was swapped', value: tokenAddress },
    { label: '--text (or --text-file)', help: 'the comment', value: commentText ?? textFile },
  ];
  return missingInputs(
    [...parts, ...more],
    'sotra comment post --last finds the swap; sotra help signing explains what is signed.',
  );
}

async function readCommentText({ commentText, textFile }: CommentInput, { io }: Context): Promise<string> {
  if (textFile === undefined) return commentText ?? '';
  const text = await readText(textFile, io);
  const isLengthRight = text.length >= 1 && text.length <= maxCommentCharacters;
  const problem = isPrivateKey(text)
    ? 'holds a private key, and a comment is public'
    : (textProblem(text) ??
      (isLengthRight ? undefined : `has ${text.length} characters, must be 1 to ${maxCommentCharacters}`));
  if (problem === undefined) return text;
  throw usageError(`--text-file ${textFile}: ${problem}`);
}

/** From the options, else from the context. Errors: `usage` without a service name: with a wrong one the signature is never accepted. */
export async function readTextForm(input: FormInput, context: Context, signedFor?: SignedComment): Promise<TextForm> {
  const service = await orUndefined(context.config.service(), 'no-service');
  const serviceName = input.serviceName ?? service?.serviceName ?? signedFor?.serviceName;
  const layout = input.layout ?? service?.layout ?? 'five-line';
  if (serviceName !== undefined) {
    if (isServiceName(serviceName)) return { serviceName, layout };
    throw usageError(`--service-name ${showUnseen(serviceName)}: must be one line without spaces around it`);
  }
  const where = service?.context === undefined ? 'no context is in use' : `context ${service.context} has none`;
  throw usageError(
    `the service name is not known (${where}): it is the first word of the signed text`,
    'Give it with --service-name <name>, or store it: sotra context set <name> --service-name <name>.',
  );
}

export interface CommentLine {
  line: number;
  fields: TextFields;
  /** If the line is already signed. */
  signed?: SignedComment | undefined;
}

const maxProblemsShown = 5;

/** The comments of an NDJSON file, all checked, signatures too. Errors: `usage` naming the bad lines before any key is asked for. */
export async function readCommentFile(file: string, { io }: Context): Promise<CommentLine[]> {
  const problems: { line: number; problem: string }[] = [];
  const firstLines = new Map<string, number>();
  const found: CommentLine[] = [];
  for await (const lines of readLines(await openTextFile(openBytes(file, io)))) {
    if (io.signal.aborted) throw new SotraError('interrupted', 'interrupted; nothing was signed or sent');
    for (const { number: line, text } of lines) {
      const read = await readCommentLine(text);
      const problem = 'problem' in read ? read.problem : repeatProblem(read, line, firstLines);
      if (problem !== undefined) problems.push({ line, problem });
      if (!('problem' in read)) found.push({ line, ...read });
    }
  }
  const name = file === '-' ? 'stdin' : file;
  if (problems.length > 0) {
    const shown = problems.slice(0, maxProblemsShown).map(({ line, problem }) => `line ${line}: ${problem}`);
    const more = problems.length > maxProblemsShown ? ` (and ${problems.length - maxProblemsShown} more)` : '';
    throw new SotraError('usage', `${name}: ${shown.join('; ')}${more}`, {
      hint: 'Nothing was signed or sent. Each line is {"chain","transactionHash","tokenAddress","commentText"}.',
      details: { lines: problems },
    });
  }
  if (found.length === 0) throw usageError(`${name} holds no comments`);
  return found;
}

/** A comment, signed or not. */
async function readCommentLine(json: string): Promise<Omit<CommentLine, 'line'> | { problem: string }> {
  const value = withFullNames(tryParseJson(json));
  const isSigned = isObject(value) && typeof value['signature'] === 'string';
  const wrong = findWrongField(isSigned ? signedKinds : fieldKinds, value);
  if (wrong !== undefined) return { problem: wrong };
  const fields = value as TextFields;
  const signed = isSigned ? (value as unknown as SignedComment) : undefined;
  const problem = commentProblem(fields) ?? (signed && (await signedProblem(signed)));
  return problem === undefined ? { fields, signed } : { problem };
}

/** A comment that may name its fields like the options: `tx`, `token` and `text`. */
function withFullNames(value: unknown): unknown {
  if (!isObject(value)) return value;
  const { tx, token, text: commentText, ...rest } = value;
  return { transactionHash: tx, tokenAddress: token, commentText, ...rest };
}

/** A trade takes one comment, so a second one in the same file is a mistake. */
function repeatProblem(
  { fields, signed }: Omit<CommentLine, 'line'>,
  line: number,
  firstLines: Map<string, number>,
): string | undefined {
  const { chain, transactionHash, tokenAddress } = fields;
  const key = JSON.stringify([chain, transactionHash, tokenAddress, signed?.signerAddress.toLowerCase()]);
  const first = firstLines.get(key);
  if (first !== undefined) return `is on the same trade as line ${first}: a trade takes one comment`;
  firstLines.set(key, line);
  return undefined;
}

/** The output of `comment sign`: the text, the fields that it was made from, and the signature. */
export interface SignedComment extends TextFields, TextForm {
  message: string;
  signature: string;
  signerAddress: string;
}

const fieldKinds: Readonly<Record<keyof TextFields, Kind>> = {
  chain: chainKind,
  transactionHash: text(),
  tokenAddress: text(),
  commentText: text(),
};

const signedKinds: Readonly<Record<keyof SignedComment, Kind>> = {
  message: text(),
  layout: choice(layouts),
  serviceName: text(),
  ...fieldKinds,
  commentText: commentTextKind,
  signature: text(),
  signerAddress: text(),
};

/** Which field of a JSON value is missing or wrong; `undefined` if none is. */
function findWrongField(kinds: Readonly<Record<string, Kind>>, value: unknown): string | undefined {
  if (!isObject(value)) return 'is not a JSON object';
  for (const [field, kind] of Object.entries(kinds)) {
    if (value[field] === undefined) return `${field} is missing`;
    const problem = checkValue(kind, value[field]);
    if (problem !== undefined) return `${field} ${JSON.stringify(value[field])}: ${problem.message}`;
  }
  return undefined;
}

/** Why a signed comment must not be sent: its text does not match its fields, or its signature is not valid. */
export async function signedProblem(signed: SignedComment): Promise<string | undefined> {
  const wrong = fieldProblem(signed);
  if (wrong !== undefined) return `its ${wrong.field} is wrong: ${wrong.problem}`;
  if (!isServiceName(signed.serviceName)) return 'its serviceName must be one line of visible characters';
  if (signed.message !== signedText(signed, signed)) return 'its message does not match its fields';
  if (signed.tokenAddress !== signedToken(signed.tokenAddress)) return 'its tokenAddress is not lowercase';
  // The service accepts only base58 on solana.
  const verdict = await verifySignature({ ...signed, encoding: 'base58' });
  return verdict.valid ? undefined : verdict.reason;
}

/** Errors: `usage` for a comment that was signed for another service name or layout. */
export function checkForm(name: string, signed: SignedComment, { serviceName, layout }: TextForm): void {
  if (signed.serviceName === serviceName && signed.layout === layout) return;
  throw usageError(
    `${name} is signed for service ${signed.serviceName} in the ${signed.layout} layout, not for ${serviceName} in ${layout}`,
    'Sign it again for this service, or post it with the --service-name and --layout that it was signed with.',
  );
}

/** The signed comment in a file that `comment sign --out` wrote, its signature not yet checked. Errors: `local-file`, `usage`. */
export async function readSignedFile(file: string, { io }: Context): Promise<SignedComment> {
  const text = await readText(file, io);
  const name = file === '-' ? 'stdin' : file;
  const value = tryParseJson(text);
  const wrong = findWrongField(signedKinds, value);
  if (wrong === undefined) return value as unknown as SignedComment;
  throw usageError(`${name}: ${wrong}`, `Write it with sotra comment sign --out <file>. To post many: --file ${file}.`);
}
