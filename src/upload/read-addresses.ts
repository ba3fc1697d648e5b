import { createHash } from 'node:crypto';
import { showUnseen } from '../api/safe-text.ts';
import type { Context } from '../context.ts';
import { SotraError, usageError } from '../errors.ts';
import { openOutput, openSource } from '../lib/files/source.ts';
import { quoted, written } from '../lib/files/text-file.ts';
import { confirmReplace } from '../lib/output/confirm.ts';
import { counted, formatCount } from '../lib/output/format.ts';
import { readAddress, wrongChecksum } from './address.ts';
import { type AddressBatch, type AddressLine, type EvmLines, linesOf, readAddressFile } from './address-file.ts';
import { type AddressLines, dropRepeats, type HashedLines, hashLines } from './address-lines.ts';

export interface AddressInput {
  file?: string | undefined;
  walletAddresses?: readonly string[] | undefined;
  column?: string | undefined;
  allowBadChecksum?: boolean | undefined;
  skipInvalid?: boolean | undefined;
  rejects?: string | undefined;
}

export interface AddressList {
  /** The normalized addresses; confirmed ones are removed before the rest is sent. */
  left: AddressLines;
  /** How many distinct addresses the input has. */
  size: number;
  duplicates: number;
  rejected: number;
  /** SHA-256 of the input. */
  digest: string;
}

interface BadLine {
  line: number;
  text: string;
  reason: string;
}

/** Bad lines shown on stderr, and listed in a JSON error. */
const maxShown = 20;
const maxListed = 100;

interface ReadOptions {
  /** A few addresses of one chain among many of another are bad lines too. */
  refusesStrays: boolean;
  onRead: (addresses: number) => void;
}

/** The distinct addresses of a command line, all of them checked. Errors: `usage` for bad lines that may not be skipped, and for none left; `interrupted`. */
export async function readAddresses(
  input: AddressInput,
  context: Context,
  { refusesStrays, onRead }: ReadOptions,
): Promise<AddressList> {
  const { name, batches } = openBatches(input, context);
  const rejects = await openOutput(
    '--rejects',
    context.options.preview ? undefined : input.rejects,
    [input.file],
    (path) => confirmReplace('--rejects', path, context),
  );
  const reading: Reading = { lines: [], count: 0, rejected: 0, bad: [], EVM: noWallets(), Solana: noWallets() };
  try {
    for await (const batch of batches) {
      if (context.io.signal.aborted) throw new SotraError('interrupted', 'interrupted; nothing was sent');
      if ('hashes' in batch) takeEvmLines(batch, reading);
      else {
        const rejected = takeLines(batch, input, reading);
        await rejects?.appendFile(rejected);
      }
      onRead(reading.count);
    }
  } finally {
    await rejects?.close();
  }
  const left = dropRepeats(reading.lines);
  const list: AddressList = {
    left,
    size: left.count,
    duplicates: reading.count - left.count,
    rejected: reading.rejected,
    digest: left.pieces.reduce((hash, piece) => hash.update(piece), createHash('sha256')).digest('hex'),
  };
  const strays = refusesStrays ? findStrays(reading) : { count: 0, lines: [] };
  const lines = [...reading.bad, ...strays.lines].sort((a, b) => a.line - b.line);
  if (lines.length > 0) refuseBadLines({ name, lines, strays: strays.count, list }, input, context);
  if (list.size > 0) return list;
  throw usageError(
    `${name} has no addresses`,
    input.file === undefined ? undefined : 'One a line, CSV with a header, NDJSON or a JSON array.',
  );
}

/** What was read so far. */
interface Reading {
  lines: HashedLines[];
  count: number;
  rejected: number;
  /** The first of the rejected lines. */
  bad: BadLine[];
  EVM: Wallets;
  Solana: Wallets;
}

/** The wallets of a chain: how many, and the first of them. */
interface Wallets {
  count: number;
  lines: AddressLine[];
}

const noWallets = (): Wallets => ({ count: 0, lines: [] });

function takeEvmLines(block: EvmLines, reading: Reading): void {
  reading.lines.push(block);
  reading.count += block.count;
  reading.EVM.count += block.count;
  if (reading.EVM.lines.length < maxListed) reading.EVM.lines.push(...linesOf(block));
}

/** Checks lines; returns the rejected ones as NDJSON. */
function takeLines(lines: readonly AddressLine[], input: AddressInput, reading: Reading): string {
  const addresses: string[] = [];
  let rejected = '';
  for (const { line, text, problem } of lines) {
    const read = problem === undefined ? readAddress(text, input) : { reason: problem };
    if (typeof read === 'string') {
      addresses.push(read);
      if (!read.startsWith('ext:'))
        countWallet(reading[read.startsWith('0x') ? 'EVM' : 'Solana'], { line, text: read });
      continue;
    }
    reading.rejected += 1;
    const { reason } = read;
    if (reading.bad.length < maxListed) reading.bad.push({ line, text: showUnseen(quoted(text.trim())), reason });
    rejected += `${JSON.stringify({ line, text: written(text.trim()), reason })}\n`;
  }
  reading.lines.push(hashLines(addresses));
  reading.count += addresses.length;
  return rejected;
}

function countWallet(wallets: Wallets, line: AddressLine): void {
  wallets.count += 1;
  if (wallets.lines.length < maxListed) wallets.lines.push(line);
}

/** The lines of a command line's addresses, unchecked. Errors: `usage`. */
function openBatches(
  { file, walletAddresses, column }: AddressInput,
  { io }: Context,
): { name: string; batches: AsyncIterable<AddressBatch> } {
  if (file !== undefined && walletAddresses !== undefined)
    throw usageError('--file cannot be used with --wallet-addresses', 'Omit one of them.');
  if (walletAddresses !== undefined && column !== undefined) throw usageError('--column needs --file', 'Omit it.');
  if (walletAddresses !== undefined) return { name: '--wallet-addresses', batches: typedLines(walletAddresses) };
  if (file === undefined)
    throw usageError('--file or --wallet-addresses is required', 'Give a file, - for stdin, or --wallet-addresses.');
  const source = openSource(file, io, `--file ${file}`);
  return { name: source.name, batches: readAddressFile(source, column) };
}

async function* typedLines(addresses: readonly string[]): AsyncGenerator<AddressLine[]> {
  yield addresses.map((text, index) => ({ line: index + 1, text }));
}

interface BadLines {
  name: string;
  /** The first of them. */
  lines: readonly BadLine[];
  strays: number;
  list: AddressList;
}

/** Names the first bad lines. Errors: `usage`, unless they may be skipped. */
function refuseBadLines(
  { name, lines, strays, list: { rejected, size } }: BadLines,
  { skipInvalid }: AddressInput,
  { warn }: Context,
): void {
  for (const { line, text, reason } of lines.slice(0, maxShown)) warn(`line ${line}: ${text}: ${reason}`);
  const more = rejected + strays - maxShown;
  const all = strays === 0 ? 'them all' : 'those that are not addresses';
  if (more > 0) warn(`${counted(more, 'more bad line')}; --rejects <file> writes ${all}`);
  if (skipInvalid) return;
  const wrong = rejected === 1 ? '1 line is not an address' : `${formatCount(rejected)} lines are not addresses`;
  const mixed = `${counted(strays, 'address')} may be of another chain`;
  const what = [...(rejected > 0 ? [wrong] : []), ...(strays > 0 ? [mixed] : [])].join(', ');
  const rest = strays === 0 ? `send the rest (${formatCount(size)})` : 'check the rest';
  const isMistyped = lines.some(({ reason }) => reason === wrongChecksum);
  const accept = isMistyped ? ' A wrong checksum is accepted with --allow-bad-checksum.' : '';
  throw new SotraError('usage', `${name}: ${what}; nothing was sent`, {
    hint: `Correct them, or ${rest} with --skip-invalid.${accept}`,
    details: { rejected: lines },
  });
}

/** Wallets of a chain that are fewer than this part of the list are likely from another list. */
const strayPart = 0.1;

function findStrays({ EVM, Solana }: Reading): { count: number; lines: BadLine[] } {
  const [few, many] = EVM.count < Solana.count ? [EVM, Solana] : [Solana, EVM];
  if (few.count >= (few.count + many.count) * strayPart) return { count: 0, lines: [] };
  const reason = `${few === EVM ? 'EVM' : 'Solana'}, but ${formatCount(many.count)} others are ${few === EVM ? 'Solana' : 'EVM'}`;
  return { count: few.count, lines: few.lines.slice(0, maxListed).map((each) => ({ ...each, reason })) };
}
