import { readFile } from 'node:fs/promises';
import type { Context } from '../../context.ts';
import { SotraError, usageError } from '../../errors.ts';
import { countCharacters, longestComment } from './endpoints.ts';
import type { CommentInput, FormInput } from './params.ts';
import { secretIn } from './secret-arguments.ts';
import type { TextFields, TextForm } from './signing.ts';
import { fieldProblem } from './swap-fields.ts';

const flagOf = { transactionHash: '--tx', tokenAddress: '--token', commentText: '--text' } as const;

/** The comment that was typed, checked for its chain. Errors: `usage` naming the flag, before any key is asked for; `local-file`. */
export async function readComment(input: CommentInput, context: Context): Promise<TextFields> {
  const { chain, transactionHash, tokenAddress } = input;
  if (chain === undefined) throw missing('--chain', 'chain of the swap');
  if (transactionHash === undefined)
    throw missing('--tx', 'transaction hash of the swap, on hyperliquid or an order id');
  if (tokenAddress === undefined) throw missing('--token', 'token that was swapped');
  const typed = { chain, transactionHash, tokenAddress, commentText: input.commentText ?? '' };
  checkFields(typed);
  const fields = { ...typed, commentText: await readText(input, context) };
  checkFields(fields);
  return fields;
}

function checkFields(fields: TextFields): void {
  const wrong = fieldProblem(fields);
  if (wrong === undefined) return;
  const shown = wrong.field === 'commentText' ? '' : ` ${fields[wrong.field]}`;
  throw usageError(`${flagOf[wrong.field]}${shown}: ${wrong.problem}`);
}

function missing(flag: string, what: string): SotraError {
  return usageError(`${flag} is required: ${what}`, 'See the command with --help.');
}

async function readText({ commentText, textFile }: CommentInput, { world }: Context): Promise<string> {
  if (commentText !== undefined && textFile !== undefined)
    throw usageError('--text and --text-file contradict each other');
  if (commentText !== undefined) return commentText;
  if (textFile === undefined) throw missing('--text or --text-file', 'the comment');
  const text = decodeUtf8(await readBytes(textFile, world), textFile);
  const what = await secretIn(text);
  if (what !== undefined)
    throw usageError(
      `--text-file ${textFile}: holds what looks like ${what} (not shown here), and a comment is public`,
    );
  const count = countCharacters(text);
  if (count >= 1 && count <= longestComment) return text;
  throw usageError(`--text-file ${textFile}: has ${count} characters, must be 1 to ${longestComment}`);
}

/** The bytes of a file, or of stdin for `-`. Errors: `local-file` naming it. */
export async function readBytes(file: string, { io }: Context['world']): Promise<Buffer> {
  if (file !== '-')
    return readFile(file).catch((cause: Error) => {
      throw new SotraError('local-file', `cannot read ${file}: ${cause.message}`, { cause });
    });
  const chunks: Uint8Array[] = [];
  for await (const chunk of io.in) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** The bytes as text, none lost or replaced. Errors: `usage` where they are not UTF-8. */
export function decodeUtf8(bytes: Uint8Array, file: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw new SotraError('usage', `${file === '-' ? 'stdin' : file} is not UTF-8 text`, { cause });
  }
}

/**
 * The form of the signed text: from the flags, else from the context; without a service only what the flags say. Errors: `usage` where no
 * service name is known: none is invented, because a wrong one makes a signature that nobody accepts.
 */
export async function readForm(input: FormInput, context: Context): Promise<TextForm> {
  const service = await context.service().catch((thrown: unknown) => {
    if (thrown instanceof SotraError && thrown.code === 'no-service') return undefined;
    throw thrown;
  });
  const serviceName = input.serviceName ?? service?.serviceName;
  const layout = input.layout ?? service?.layout ?? 'five-line';
  if (serviceName !== undefined) return { serviceName: checkName(serviceName), layout };
  const where = service?.context === undefined ? 'no context is in use' : `context ${service.context} has none`;
  throw usageError(
    `the service name is not known (${where}): it is the first word of the signed text`,
    'Give it with --service-name <name>, or store it: sotra context set <name> --service-name <name>.',
  );
}

function checkName(name: string): string {
  if (/^\P{C}+$/u.test(name) && name.trim() === name) return name;
  throw usageError(`--service-name ${name}: must be one line without spaces around it`);
}
