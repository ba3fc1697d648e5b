import { createHash } from 'node:crypto';
import type { Context } from '../context.ts';
import { SotraError, usageError } from '../errors.ts';
import { openOutput, openSource } from '../files/source.ts';
import { quoted, written } from '../model/quoted.ts';
import { formatCount } from '../output/format.ts';
import { type AddressLine, readAddress, readAddressFile } from './address-file.ts';

export interface AddressInput {
  file?: string | undefined;
  walletAddresses?: readonly string[] | undefined;
  column?: string | undefined;
  allowBadChecksum?: boolean | undefined;
  skipInvalid?: boolean | undefined;
  rejects?: string | undefined;
}

export interface AddressList {
  /** Distinct and normalized, in the order of the input. */
  addresses: ReadonlySet<string>;
  duplicates: number;
  rejected: number;
  /** SHA-256 of the addresses, a line each. */
  digest: string;
}

interface RejectedLine {
  line: number;
  text: string;
  reason: string;
}

/** Rejected lines shown on stderr, and listed in a JSON error. */
const maxShown = 20;
const maxListed = 100;

/**
 * The distinct addresses of a command line, all of them checked. Memory: some 150 bytes an address. Errors: `usage` for bad lines that may
 * not be skipped, and for none left; `interrupted`.
 */
export async function readAddresses(
  input: AddressInput,
  context: Context,
  onRead: (addresses: number) => void = () => undefined,
): Promise<AddressList> {
  const { lines, name } = openLines(input, context);
  const rejects = await openOutput('--rejects', context.options.preview ? undefined : input.rejects, [input.file]);
  const rejected: RejectedLine[] = [];
  const unwritten: string[] = [];
  const onRejected = (each: RejectedLine) => {
    if (rejected.length < maxListed) rejected.push({ ...each, text: quoted(each.text) });
    if (rejects !== undefined) unwritten.push(`${JSON.stringify({ ...each, text: written(each.text) })}\n`);
  };
  try {
    const allowBadChecksum = input.allowBadChecksum === true;
    const list = await collectAddresses(lines, { allowBadChecksum, onRejected, onRead, signal: context.world.signal });
    await rejects?.appendFile(unwritten.join(''));
    for (const { line, text, reason } of rejected.slice(0, maxShown)) context.warn(`line ${line}: ${text}: ${reason}`);
    const hidden = list.rejected - Math.min(list.rejected, maxShown);
    if (hidden > 0) context.warn(`${formatCount(hidden)} more bad lines; --rejects <file> writes them all`);
    if (list.rejected > 0 && input.skipInvalid !== true) throw badLines(name, list, rejected);
    if (list.addresses.size === 0)
      throw usageError(`${name} holds no address`, 'One a line, CSV with a header, NDJSON or a JSON array.');
    return list;
  } finally {
    await rejects?.close();
  }
}

function badLines(name: string, { rejected, addresses }: AddressList, listed: readonly RejectedLine[]): SotraError {
  const lines = rejected === 1 ? '1 line is not an address' : `${formatCount(rejected)} lines are not addresses`;
  return new SotraError('usage', `${name}: ${lines}; nothing was sent`, {
    hint: `Correct them, or send the rest (${formatCount(addresses.size)}) with --skip-invalid.`,
    details: { rejected: listed },
  });
}

/** The lines of a command line's addresses, unchecked. Errors: `usage`. */
export function openLines(
  { file, walletAddresses, column }: AddressInput,
  { world }: Context,
): { lines: AsyncIterable<readonly AddressLine[]>; name: string } {
  if (file !== undefined && walletAddresses !== undefined)
    throw usageError('--file and --wallet-addresses both give addresses', 'Omit one of them.');
  if (walletAddresses !== undefined && column !== undefined) throw usageError('--column is for --file', 'Omit it.');
  if (walletAddresses !== undefined) return { lines: typedLines(walletAddresses), name: '--wallet-addresses' };
  if (file === undefined)
    throw usageError('--file is required: which addresses?', 'Give a file, - for stdin, or --wallet-addresses.');
  const source = openSource(file, world, `--file ${file}`);
  return { lines: readAddressFile(source, column), name: source.name };
}

async function* typedLines(addresses: readonly string[]): AsyncGenerator<AddressLine[]> {
  yield addresses.map((text, index) => ({ line: index + 1, text }));
}

interface CollectOptions {
  allowBadChecksum: boolean;
  onRejected: (rejected: RejectedLine) => void;
  onRead: (addresses: number) => void;
  signal: AbortSignal;
}

async function collectAddresses(
  lines: AsyncIterable<readonly AddressLine[]>,
  options: CollectOptions,
): Promise<AddressList> {
  const addresses = new Set<string>();
  const hash = createHash('sha256');
  let [duplicates, rejected] = [0, 0];
  for await (const batch of lines) {
    if (options.signal.aborted) throw new SotraError('interrupted', 'interrupted; nothing was sent');
    let fresh = '';
    for (const { line, text, problem } of batch) {
      const read = problem === undefined ? readAddress(text, options) : { reason: problem };
      if (typeof read !== 'string') {
        rejected += 1;
        options.onRejected({ line, text: text.trim(), reason: read.reason });
      } else if (addresses.has(read)) duplicates += 1;
      else {
        addresses.add(read);
        fresh += `${read}\n`;
      }
    }
    hash.update(fresh);
    options.onRead(addresses.size);
  }
  return { addresses, duplicates, rejected, digest: hash.digest('hex') };
}
