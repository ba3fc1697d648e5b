import type { Context } from '../../context.ts';
import { missingInputs, SotraError, usageError } from '../../errors.ts';
import { decodeUtf8, readWhole } from '../../files/source.ts';
import { secretIn } from '../../keys/secret-arguments.ts';
import { showUnseen } from '../../output/unseen.ts';
import { countCharacters, longestComment } from './endpoints.ts';
import type { CommentInput, FormInput } from './params.ts';
import type { TextFields, TextForm } from './signing.ts';
import { fieldProblem, isServiceName } from './swap-fields.ts';

const flagOf = { transactionHash: '--tx', tokenAddress: '--token', commentText: '--text' } as const;

/** The comment that was typed, checked for its chain. Errors: `usage` naming the flag, before any key is asked for; `local-file`. */
export async function readComment(input: CommentInput, context: Context): Promise<TextFields> {
  const { chain, transactionHash, tokenAddress } = input;
  const text = input.commentText ?? input.textFile;
  if (chain === undefined || transactionHash === undefined || tokenAddress === undefined || text === undefined)
    throw missingInputs(neededFor(input));
  const typed = { chain, transactionHash, tokenAddress, commentText: input.commentText ?? '' };
  checkFields(typed);
  const fields = { ...typed, commentText: await readText(input, context) };
  checkFields(fields);
  return fields;
}

/** The inputs without which there is no comment, for `missingInputs`. */
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
  throw usageError(`${flagOf[wrong.field]}${shown}: ${wrong.problem}`);
}

async function readText({ commentText, textFile }: CommentInput, { world }: Context): Promise<string> {
  if (commentText !== undefined && textFile !== undefined)
    throw usageError('--text and --text-file contradict each other');
  if (textFile === undefined) return commentText ?? '';
  const text = decodeUtf8(await readWhole(textFile, world.io), textFile);
  const what = await secretIn(text);
  if (what !== undefined)
    throw usageError(
      `--text-file ${textFile}: holds what looks like ${what} (not shown here), and a comment is public`,
    );
  const count = countCharacters(text);
  if (count >= 1 && count <= longestComment) return text;
  throw usageError(`--text-file ${textFile}: has ${count} characters, must be 1 to ${longestComment}`);
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
  if (isServiceName(name)) return name;
  throw usageError(`--service-name ${showUnseen(name)}: must be one line without spaces around it`);
}
