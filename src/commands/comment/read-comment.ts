import { z } from 'zod';
import { type Chain, type ChainFamily, chains, findFamily } from '../../api/chain.ts';
import { chainKind } from '../../api/formats.ts';
import { isObject, tryParseJson } from '../../api/json.ts';
import { kindSchema } from '../../api/kind-schema.ts';
import { showUnseen } from '../../api/safe-text.ts';
import {
  commentProblem,
  fieldProblem,
  isServiceName,
  maxCommentCharacters,
  type TextFields,
  type TextForm,
} from '../../api/signed-text.ts';
import { textProblem } from '../../api/text-problem.ts';
import type { Context } from '../../context.ts';
import { inputError, missingInputs, orUndefined, SotraError, usageError } from '../../errors.ts';
import { isPrivateKey } from '../../keys/private-key.ts';
import { openBytes, readText } from '../../lib/files/source.ts';
import { openTextFile, readLines } from '../../lib/files/text-file.ts';
import { readSigned, type SignedComment, signedProblem } from './signed.ts';

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
    throw missingComment(neededFor(input));
  const typed = { chain, transactionHash, tokenAddress, commentText: input.commentText ?? '' };
  checkFields(typed);
  return { ...typed, commentText: await readCommentText(input, context) };
}

export function hasComment({ chain, transactionHash, tokenAddress, commentText, textFile }: CommentInput): boolean {
  return [chain, transactionHash, tokenAddress, commentText, textFile].some((part) => part !== undefined);
}

/** Errors: `usage`, naming what has no value. */
export function missingComment(needed: Parameters<typeof missingInputs>[0]): SotraError {
  return missingInputs(needed, 'sotra help signing explains what is signed, and how.');
}

export function neededFor({ chain, transactionHash, tokenAddress, commentText, textFile }: CommentInput) {
  return [
    { label: '--chain', help: 'chain of the swap', value: chain },
    { label: '--tx', help: 'transaction hash of the swap, or an order id on hyperliquid', value: transactionHash },
    { label: '--token', help: 'token that was swapped', value: tokenAddress },
    { label: '--text (or --text-file)', help: 'the comment', value: commentText ?? textFile },
  ];
}

function checkFields(fields: TextFields): void {
  const wrong = fieldProblem(fields);
  if (wrong === undefined) return;
  const shown = wrong.field === 'commentText' ? '' : ` ${fields[wrong.field]}`;
  throw inputError((input) => ({ message: `${input(wrong.field)}${shown}: ${wrong.problem}` }));
}

async function readCommentText({ commentText, textFile }: CommentInput, { io }: Context): Promise<string> {
  if (commentText !== undefined && textFile !== undefined)
    throw usageError('--text and --text-file contradict each other');
  if (textFile === undefined) return commentText ?? '';
  const text = await readText(textFile, io);
  if (isPrivateKey(text)) throw usageError(`--text-file ${textFile}: holds a private key, and a comment is public`);
  const problem = textProblem(text);
  if (problem !== undefined) throw usageError(`--text-file ${textFile}: ${problem}`);
  const count = text.length;
  if (count >= 1 && count <= maxCommentCharacters) return text;
  throw usageError(`--text-file ${textFile}: has ${count} characters, must be 1 to ${maxCommentCharacters}`);
}

/** From the options, else from the context. Errors: `usage` without a service name: with a wrong one the signature is never accepted. */
export async function readTextForm(input: FormInput, context: Context): Promise<TextForm> {
  const service = await orUndefined(context.config.service(), 'no-service');
  const serviceName = input.serviceName ?? service?.serviceName;
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
  signed?: SignedComment;
}

const lineSchema = z.object({
  chain: kindSchema(chainKind),
  transactionHash: z.string().min(1),
  tokenAddress: z.string().min(1),
  commentText: z.string().min(1),
});

/** Names of the options, which a file may use too. */
const shortNames = { tx: 'transactionHash', token: 'tokenAddress', text: 'commentText' } as const;
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
  if (problems.length > 0) throw refuseLines(file, problems);
  if (found.length === 0) throw usageError(`${file === '-' ? 'stdin' : file} holds no comments`);
  return found;
}

type ReadLine = Omit<CommentLine, 'line'> | { problem: string };

async function readCommentLine(text: string): Promise<ReadLine> {
  const value = tryParseJson(text);
  if (!isObject(value)) return { problem: 'is not a JSON object' };
  if (typeof value['signature'] === 'string') {
    const read = readSigned(value);
    if (!read.ok) return { problem: read.problem };
    const problem = commentProblem(read.signed) ?? (await signedProblem(read.signed));
    return problem === undefined ? { fields: read.signed, signed: read.signed } : { problem };
  }
  const full = Object.fromEntries(
    Object.entries(value).map(([key, each]) => [shortNames[key as keyof typeof shortNames] ?? key, each]),
  );
  const checked = lineSchema.safeParse(full);
  if (!checked.success) return { problem: fieldMessage(String(checked.error.issues[0]?.path[0] ?? ''), full) };
  const problem = commentProblem(checked.data);
  return problem === undefined ? { fields: checked.data } : { problem };
}

function fieldMessage(field: string, value: Record<string, unknown>): string {
  if (value[field] === undefined) return `${field} is missing`;
  const rule = field === 'chain' ? `must be one of ${chains.join(', ')}` : 'must be text that is not empty';
  return `${field} ${JSON.stringify(value[field])}: ${rule}`;
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

function refuseLines(file: string, problems: readonly { line: number; problem: string }[]): SotraError {
  const shown = problems.slice(0, maxProblemsShown).map(({ line, problem }) => `line ${line}: ${problem}`);
  const more = problems.length > maxProblemsShown ? ` (and ${problems.length - maxProblemsShown} more)` : '';
  return new SotraError('usage', `${file === '-' ? 'stdin' : file}: ${shown.join('; ')}${more}`, {
    hint: 'Nothing was signed or sent. Each line is {"chain","transactionHash","tokenAddress","commentText"}.',
    details: { lines: problems },
  });
}

/** The kind of key that signs all lines. Errors: `usage` if one key cannot. */
export function commonFamily(lines: readonly CommentLine[]): ChainFamily {
  const [first] = lines;
  const family = findFamily(first?.fields.chain ?? '');
  const other = lines.find(({ fields }) => findFamily(fields.chain) !== family);
  if (other === undefined) return family;
  throw usageError(
    `line ${other.line} is on ${other.fields.chain} and line ${first?.line} on ${first?.fields.chain}: one key cannot sign both`,
    'Split the file by kind of chain.',
  );
}
