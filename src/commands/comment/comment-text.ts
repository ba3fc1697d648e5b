import { normalizeAddress, textProblem } from '../../api/address.ts';
import type { Chain } from '../../api/chain.ts';
import { chainKind, layouts } from '../../api/formats.ts';
import { isObject, tryParseJson } from '../../api/json.ts';
import { checkValue, choice, type Kind, text } from '../../api/kind.ts';
import { formatCodePoint, showUnseen, unseenIn } from '../../api/safe-text.ts';
import {
  commentProblem,
  fieldProblem,
  isServiceName,
  maxCommentCharacters,
  signedText,
  type TextFields,
  type TextForm,
} from '../../api/signed-text.ts';
import { verifySignature } from '../../api/verify-signature.ts';
import type { Context } from '../../context.ts';
import { inputError, missingInputs, orUndefined, SotraError, usageError } from '../../errors.ts';
import { isPrivateKey } from '../../keys/private-key.ts';
import { openBytes, readText } from '../../lib/files/source.ts';
import { openTextFile, readLines } from '../../lib/files/text-file.ts';
import type { Sink } from '../../lib/io.ts';
import { breakText } from '../../lib/output/text-width.ts';

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

const leakProblem = 'holds a private key, and a comment is public';

/** The comment from the options, checked for its chain. Errors: `usage` naming the option, before a key is asked for; `local-file`. */
export async function readComment(input: CommentInput, context: Context): Promise<TextFields> {
  const { chain, transactionHash, tokenAddress, textFile } = input;
  const text = input.commentText ?? textFile;
  if (chain === undefined || transactionHash === undefined || tokenAddress === undefined || text === undefined)
    throw missingComment(input);
  if (textFile === undefined) refuseKeyAsText(text);
  const commentText = textFile === undefined ? text : await readTextFile(textFile, context);
  const fields = { chain, transactionHash, tokenAddress, commentText };
  const wrong = fieldProblem(fields);
  if (wrong === undefined) return fields;
  const shown = wrong.field === 'commentText' ? '' : ` ${fields[wrong.field]}`;
  throw inputError((name) => ({ message: `${name(wrong.field)}${shown}: ${wrong.problem}` }));
}

/** Errors: `usage` for a private key instead of a comment. */
export function refuseKeyAsText(text: string): void {
  const hint = 'If it is the hash of a transaction, add a word to it.';
  if (isPrivateKey(text)) throw inputError((name) => ({ message: `${name('commentText')}: ${leakProblem}`, hint }));
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

async function readTextFile(file: string, { io }: Context): Promise<string> {
  const text = await readText(file, io, { flag: '--text-file' });
  const isLengthRight = text.length >= 1 && text.length <= maxCommentCharacters;
  const problem = isPrivateKey(text)
    ? leakProblem
    : (textProblem(text) ??
      (isLengthRight ? undefined : `has ${text.length} characters, must be 1 to ${maxCommentCharacters}`));
  if (problem === undefined) return text;
  throw usageError(`--text-file ${file}: ${problem}`);
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
  const found: CommentLine[] = [];
  for await (const lines of readLines(await openTextFile(openBytes(file, io, '--file')))) {
    if (io.signal.aborted) throw new SotraError('interrupted', 'interrupted; nothing was signed or sent');
    for (const { number: line, text } of lines) {
      const value = tryParseJson(text);
      const isSigned = isObject(value) && typeof value['signature'] === 'string';
      const problem = isSigned
        ? await signedProblem(value)
        : (fieldsProblem(fieldKinds, value) ?? contentProblem(value as TextFields));
      if (problem !== undefined) problems.push({ line, problem });
      else found.push({ line, fields: value as TextFields, signed: isSigned ? (value as never) : undefined });
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
  signature: text(),
  signerAddress: text(),
};

/** Which field of a JSON value is missing or wrong; `undefined` if none is. */
function fieldsProblem(kinds: Readonly<Record<string, Kind>>, value: unknown): string | undefined {
  if (!isObject(value)) return 'is not a JSON object';
  for (const [field, kind] of Object.entries(kinds)) {
    if (value[field] === undefined) return `${field} is missing`;
    const problem = checkValue(kind, value[field]);
    if (problem !== undefined) return `${field} ${JSON.stringify(value[field])}: ${problem.message}`;
  }
  return undefined;
}

function contentProblem(fields: TextFields): string | undefined {
  return commentProblem(fields) ?? (isPrivateKey(fields.commentText) ? `commentText ${leakProblem}` : undefined);
}

/** Why a JSON value must not be sent as a signed comment: its text does not match its fields, or its signature is not valid. */
async function signedProblem(value: unknown): Promise<string | undefined> {
  const wrong = fieldsProblem(signedKinds, value) ?? contentProblem(value as TextFields);
  if (wrong !== undefined) return wrong;
  const signed = value as SignedComment;
  if (!isServiceName(signed.serviceName)) return 'its serviceName must be one line of visible characters';
  if (signed.message !== signedText(signed, signed)) return 'its message does not match its fields';
  if (signed.tokenAddress !== normalizeAddress(signed.tokenAddress)) return 'its tokenAddress is not lowercase';
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

/** The signed comment in a file that `comment sign --out` wrote, not yet verified. Errors: `local-file`, `usage`. */
export async function readSignedFile(file: string, { io }: Context): Promise<SignedComment> {
  const value = tryParseJson(await readText(file, io, { flag: '--signed' }));
  const wrong = fieldsProblem(signedKinds, value);
  if (wrong === undefined) return value as SignedComment;
  const name = file === '-' ? 'stdin' : file;
  throw usageError(
    `${name}: ${wrong}`,
    `Write it with sotra comment sign --out <file>. To post many: sotra comment post --file ${file}.`,
  );
}

/** Errors: `verification` for a signed comment that must not be sent. */
export async function checkSigned(signed: SignedComment, file: string): Promise<void> {
  const problem = await signedProblem(signed);
  if (problem !== undefined) throw new SotraError('verification', `${file} was not posted: ${problem}`);
}

/** A text to be signed, with warnings about its comment. */
export interface Preview extends TextFields, TextForm {
  message: string;
  characters: number;
  warnings: string[];
}

export function previewText(fields: TextFields, form: TextForm): Preview {
  const { chain, tokenAddress, transactionHash, commentText } = fields;
  const { layout, serviceName } = form;
  const message = signedText(fields, form);
  const [characters, warnings] = [commentText.length, textWarnings(commentText)];
  const text = { message, layout, serviceName, chain, tokenAddress, transactionHash, commentText };
  return { ...text, characters, warnings };
}

/** Warns about invisible characters and other surprises in a comment. */
export function warnOfText(commentText: string, { warn }: Pick<Context, 'warn'>, before = ''): void {
  for (const warning of textWarnings(commentText)) warn(before + warning);
}

const maxCodesShown = 5;

function textWarnings(text: string): string[] {
  const found: string[] = [];
  if (/\r\n/.test(text)) found.push('the comment has Windows line endings (CR LF), which are signed unchanged');
  if (/\n$/.test(text)) found.push('the comment ends with a newline, which is signed too');
  else if (/\s$|^\s/u.test(text)) found.push('the comment begins or ends with a space');
  if (text.normalize('NFC') !== text)
    found.push('the comment is not in Unicode normal form NFC: an app that normalizes it breaks the signature');
  // Line feeds are shown as lines, and Windows line ends have a warning of their own.
  const hidden = unseenIn(text.replaceAll(/\r?\n/g, ' '));
  if (hidden.length > 0) {
    const codes = [...new Set(hidden)].map(formatCodePoint);
    const rest = codes.length > maxCodesShown ? ` and ${codes.length - maxCodesShown} more` : '';
    found.push(`the comment has invisible characters: ${codes.slice(0, maxCodesShown).join(', ')}${rest}`);
  }
  if (text.includes('\uFFFD'))
    found.push('the comment contains U+FFFD, the replacement for a character that could not be decoded');
  if (/\p{Bidi_Control}/u.test(text))
    found.push('the comment has bidirectional controls, which can show the text in another order');
  return found;
}

/** For people: lines with numbers, the comment behind a bar so that no line of it looks like a field, invisible characters as codes. */
export function describePreview(preview: Preview, { isTTY, width }: Pick<Sink, 'isTTY' | 'width'>): string {
  const { message, layout, characters, warnings, commentText } = preview;
  const lines = message.split('\n');
  const comment = commentText.split('\n');
  const fields = lines.slice(0, lines.length - comment.length);
  const digits = String(lines.length).length;
  const numbered = (index: number, text: string) => `  ${String(index + 1).padStart(digits)}  ${text}`;
  const label = 'Comment: ';
  const blank = ' '.repeat(digits + label.length + 4);
  const room = isTTY ? Math.max(20, width - blank.length - 2) : Number.POSITIVE_INFINITY;
  const shownComment = comment.flatMap((line, index) => {
    const [first = '', ...rest] = breakText(showUnseen(line), room);
    const before = index === 0 ? label : ' '.repeat(label.length);
    return [
      numbered(fields.length + index, before + (first === '' ? '|' : `| ${first}`)),
      ...rest.map((part) => `${blank}| ${part}`),
    ];
  });
  return [
    `Text to be signed (${layout}, ${lines.length} lines):`,
    ...fields.map((line, index) => numbered(index, line === '' ? '(empty line)' : showUnseen(line))),
    ...shownComment,
    `Comment: ${characters} of ${maxCommentCharacters} characters`,
    ...warnings.map((warning) => `warning: ${warning}`),
    '',
  ].join('\n');
}
