import { z } from 'zod';
import type { Context } from '../../context.ts';
import { SotraError, usageError } from '../../errors.ts';
import { bytesOf } from '../../files/source.ts';
import { openTextFile, readLines } from '../../files/text-file.ts';
import { chainSchema, chains } from '../../model/chain.ts';
import { parseJson } from '../../model/json.ts';
import { countCharacters, longestComment } from './endpoints.ts';
import { readSigned, type SignedComment, signedProblem } from './signed.ts';
import type { TextFields } from './signing.ts';
import { type Family, familyOf, fieldProblem } from './swap-fields.ts';

/** One comment of a file, by its line. */
export interface ManyLine {
  line: number;
  fields: TextFields;
  /** Where the line is a signed comment already. */
  signed?: SignedComment;
}

const lineSchema = z.looseObject({
  chain: chainSchema,
  transactionHash: z.string().min(1),
  tokenAddress: z.string().min(1),
  commentText: z.string().min(1),
});

/** Short names, as the flags have them. */
const shortNames = { tx: 'transactionHash', token: 'tokenAddress', text: 'commentText' } as const;
const problemsShown = 5;

/**
 * The comments of an NDJSON file, in its order, all of them checked: also the signatures of those that are signed. Errors: `usage` naming the
 * lines that are wrong, before any key is asked for and anything is sent; `local-file`.
 */
export async function readMany(file: string, { world }: Context): Promise<ManyLine[]> {
  const problems: { line: number; problem: string }[] = [];
  const seen = new Map<string, number>();
  const found: ManyLine[] = [];
  for await (const lines of readLines(await openTextFile(bytesOf(file, world.io)))) {
    if (world.signal.aborted) throw new SotraError('interrupted', 'interrupted; nothing was signed or sent');
    for (const { number: line, text } of lines) {
      const read = readLine(text);
      const problem = 'problem' in read ? read.problem : repeatProblem(read, line, seen);
      if (problem !== undefined) problems.push({ line, problem });
      if (!('problem' in read)) found.push({ line, ...read });
    }
  }
  if (problems.length > 0) throw refusal(file, problems);
  if (found.length === 0) throw usageError(`${file === '-' ? 'stdin' : file} holds no comments`);
  return found;
}

type Read = { fields: TextFields; signed?: SignedComment } | { problem: string };

function readLine(content: string): Read {
  const value = parse(content);
  if (value === undefined) return { problem: 'is not a JSON object' };
  if (typeof value['signature'] === 'string') {
    const read = readSigned(value);
    if (!read.ok) return { problem: read.problem };
    const problem = checkFields(read.signed) ?? signedProblem(read.signed);
    return problem === undefined ? { fields: read.signed, signed: read.signed } : { problem };
  }
  const full = Object.fromEntries(
    Object.entries(value).map(([key, each]) => [shortNames[key as keyof typeof shortNames] ?? key, each]),
  );
  const checked = lineSchema.safeParse(full);
  if (!checked.success) return { problem: fieldMessage(String(checked.error.issues[0]?.path[0] ?? ''), full) };
  const { chain, transactionHash, tokenAddress, commentText } = checked.data;
  const fields = { chain, transactionHash, tokenAddress, commentText };
  const problem = checkFields(fields);
  return problem === undefined ? { fields } : { problem };
}

function parse(content: string): Record<string, unknown> | undefined {
  try {
    const value = parseJson(content);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}

function fieldMessage(field: string, value: Record<string, unknown>): string {
  if (value[field] === undefined) return `${field} is missing`;
  const rule = field === 'chain' ? `must be one of ${chains.join(', ')}` : 'must be text that is not empty';
  return `${field} ${JSON.stringify(value[field])}: ${rule}`;
}

function checkFields(fields: TextFields): string | undefined {
  const count = countCharacters(fields.commentText);
  if (count > longestComment) return `commentText has ${count} characters, at most ${longestComment} are allowed`;
  const wrong = fieldProblem(fields);
  if (wrong === undefined) return undefined;
  return wrong.field === 'commentText'
    ? `commentText ${wrong.problem}`
    : `${wrong.field} ${fields[wrong.field]}: ${wrong.problem}`;
}

/** One trade has one comment, so a second one in the same file is a mistake. */
function repeatProblem(
  { fields, signed }: Exclude<Read, { problem: string }>,
  line: number,
  seen: Map<string, number>,
) {
  const { chain, transactionHash, tokenAddress } = fields;
  const key = JSON.stringify([chain, transactionHash, tokenAddress, signed?.signerAddress.toLowerCase()]);
  const first = seen.get(key);
  if (first !== undefined) return `is about the same trade as line ${first}, and there is one comment per trade`;
  seen.set(key, line);
  return undefined;
}

function refusal(file: string, problems: readonly { line: number; problem: string }[]): SotraError {
  const shown = problems.slice(0, problemsShown).map(({ line, problem }) => `line ${line}: ${problem}`);
  const more = problems.length > problemsShown ? ` (and ${problems.length - problemsShown} more)` : '';
  return new SotraError('usage', `${file === '-' ? 'stdin' : file}: ${shown.join('; ')}${more}`, {
    hint: 'Nothing was signed or sent. Each line is {"chain","transactionHash","tokenAddress","commentText"}.',
    details: { lines: problems },
  });
}

/** The family of the lines that are to be signed. Errors: `usage` where one key cannot sign them all. */
export function commonFamily(lines: readonly ManyLine[]): Family {
  const [first] = lines;
  const family = familyOf(first?.fields.chain ?? '');
  const other = lines.find(({ fields }) => familyOf(fields.chain) !== family);
  if (other === undefined) return family;
  throw usageError(
    `line ${other.line} is on ${other.fields.chain} and line ${first?.line} on ${first?.fields.chain}: one key cannot sign both`,
    'Split the file by kind of chain.',
  );
}
