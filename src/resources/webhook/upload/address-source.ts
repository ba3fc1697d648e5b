import type { Context } from '../../../context.ts';
import { SotraError, usageError } from '../../../errors.ts';
import { openRejects, openSource } from '../../../files/source.ts';
import type { Block } from '../../../files/text-file.ts';
import { quoted, written } from '../../../model/quoted.ts';
import { formatCount } from '../../../output/format.ts';
import { type AddressLine, readAddressFile } from './address-file.ts';
import type { AddressSet } from './address-set.ts';
import { type FirstPass, type Rejected, runFirstPass } from './first-pass.ts';

/** Where addresses come from and how they are judged, as the commands take it. */
export interface AddressInput {
  file?: string | undefined;
  walletAddresses?: readonly string[] | undefined;
  column?: string | undefined;
  allowBadChecksum?: boolean | undefined;
  skipInvalid?: boolean | undefined;
  rejects?: string | undefined;
}

/** Rejected lines shown on stderr, and listed in a JSON error. */
const shownRejects = 20;
const listedRejects = 100;

/**
 * Checks the addresses of a command line and writes the distinct ones to a file. Errors: `usage` naming the bad lines unless they may be
 * skipped, for a file that is missing or unreadable, and where no address is left.
 */
export async function takeAddresses(
  input: AddressInput,
  context: Context,
  more: { to: string; onRead: (addresses: number) => void; known?: Pick<AddressSet, 'has'> },
): Promise<FirstPass> {
  const { lines, name } = openLines(input, context);
  const rejects = await openRejects(context.options.preview ? undefined : input.rejects, [input.file]);
  const rejected: Rejected[] = [];
  const unwritten: string[] = [];
  const onRejected = (each: Rejected) => {
    if (rejected.length < listedRejects) rejected.push({ ...each, text: quoted(each.text) });
    if (rejects !== undefined) unwritten.push(`${JSON.stringify({ ...each, text: written(each.text) })}\n`);
  };
  try {
    const allowBadChecksum = input.allowBadChecksum === true;
    const { signal } = context.world;
    // What is wrong with the service is told where something is asked of it.
    const meanwhile = () => context.ready().catch(() => undefined);
    const pass = await runFirstPass({ lines, allowBadChecksum, onRejected, meanwhile, signal, ...more });
    await rejects?.appendFile(unwritten.join(''));
    for (const { line, text, reason } of rejected.slice(0, shownRejects))
      context.warn(`line ${line}: ${text}: ${reason}`);
    const hidden = pass.rejected - Math.min(pass.rejected, shownRejects);
    if (hidden > 0) context.warn(`${formatCount(hidden)} more bad lines; --rejects <file> writes them all`);
    if (pass.rejected > 0 && input.skipInvalid !== true) throw refusal(name, pass, rejected);
    if (pass.addresses === 0 && more.known === undefined)
      throw usageError(`${name} holds no address`, 'One a line, CSV with a header, NDJSON or a JSON array.');
    return pass;
  } finally {
    await rejects?.close();
  }
}

function refusal(name: string, { rejected, addresses }: FirstPass, listed: readonly Rejected[]): SotraError {
  const lines = rejected === 1 ? '1 line is not an address' : `${formatCount(rejected)} lines are not addresses`;
  return new SotraError('usage', `${name}: ${lines}; nothing was sent`, {
    hint: `Correct them, or send the rest (${formatCount(addresses)}) with --skip-invalid.`,
    details: { rejected: listed },
  });
}

function openLines(
  { file, walletAddresses, column }: AddressInput,
  { world }: Context,
): { lines: AsyncIterable<readonly AddressLine[] | Block>; name: string } {
  if (file !== undefined && walletAddresses !== undefined)
    throw usageError('--file and --wallet-addresses both give addresses', 'Leave one of them out.');
  if (walletAddresses !== undefined && column !== undefined)
    throw usageError('--column is for --file', 'Leave it out.');
  if (walletAddresses !== undefined) return { lines: typedLines(walletAddresses), name: '--wallet-addresses' };
  if (file === undefined)
    throw usageError('--file is required: which addresses?', 'Give a file, - for stdin, or --wallet-addresses.');
  const source = openSource(file, world, `--file ${file}`);
  return { lines: readAddressFile(source, column), name: source.name };
}

async function* typedLines(addresses: readonly string[]): AsyncGenerator<AddressLine[]> {
  yield addresses.map((text, index) => ({ line: index + 1, text }));
}
