import { createHash } from 'node:crypto';
import type { Context } from '../context.ts';
import { inputError, SotraError } from '../errors.ts';
import { openOutput, openSource } from '../files/source.ts';
import { quoted, written } from '../model/quoted.ts';
import { counted, formatCount } from '../output/format.ts';
import { type AddressLine, readAddress, readAddressFile, wrongChecksum } from './address-file.ts';

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
    if (hidden > 0) context.warn(`${counted(hidden, 'more bad line')}; --rejects <file> writes them all`);
    if (list.rejected > 0 && input.skipInvalid !== true) throw badLines(name, list, rejected);
    if (list.addresses.size === 0)
      throw inputError((label) => ({
        message: `${name ?? label('walletAddresses')} holds no address`,
        hint: name && 'One a line, CSV with a header, NDJSON or a JSON array.',
      }));
    return list;
  } finally {
    await rejects?.close();
  }
}

function badLines(
  name: string | undefined,
  { rejected, addresses }: AddressList,
  listed: readonly RejectedLine[],
): SotraError {
  const lines = rejected === 1 ? '1 line is not an address' : `${formatCount(rejected)} lines are not addresses`;
  const accepts = listed.some(({ reason }) => reason === wrongChecksum);
  const error = inputError((label) => ({
    message: `${name ?? label('walletAddresses')}: ${lines}; nothing was sent`,
    hint:
      `Correct them, or send the rest (${formatCount(addresses.size)}) with ${label('skipInvalid')}.` +
      (accepts ? ` A wrong checksum is accepted with ${label('allowBadChecksum')}.` : ''),
  }));
  return Object.assign(error, { details: { rejected: listed } });
}

/** The lines of a command line's addresses, unchecked. Errors: `usage`. */
function openLines(
  { file, walletAddresses, column }: AddressInput,
  { world }: Context,
): { lines: AsyncIterable<readonly AddressLine[]>; name?: string } {
  if (file !== undefined && walletAddresses !== undefined)
    throw inputError((label) => ({
      message: `${label('file')} and ${label('walletAddresses')} both give addresses`,
      hint: 'Omit one of them.',
    }));
  if (walletAddresses !== undefined && column !== undefined)
    throw inputError((label) => ({ message: `${label('column')} is for ${label('file')}`, hint: 'Omit it.' }));
  if (walletAddresses !== undefined) return { lines: typedLines(walletAddresses) };
  if (file === undefined)
    throw inputError((label) => ({
      message: `${label('file')} is required: which addresses?`,
      hint: `Give a file, - for stdin, or ${label('walletAddresses')}.`,
    }));
  return openAddressFile(file, column, world);
}

/** The lines of a file of addresses, unchecked. Errors: `usage`. */
export function openAddressFile(file: string, column: string | undefined, world: Context['world']) {
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
      const { size } = addresses;
      if (typeof read !== 'string') {
        rejected += 1;
        options.onRejected({ line, text: text.trim(), reason: read.reason });
      } else if (addresses.add(read).size > size) fresh += `${read}\n`;
      else duplicates += 1;
    }
    hash.update(fresh);
    options.onRead(addresses.size);
  }
  return { addresses, duplicates, rejected, digest: hash.digest('hex') };
}
