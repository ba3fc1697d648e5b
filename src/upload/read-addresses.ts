import { createHash } from 'node:crypto';
import { showUnseen } from '../api/safe-text.ts';
import type { Context } from '../context.ts';
import { SotraError, usageError } from '../errors.ts';
import { openOutput, openSource } from '../lib/files/source.ts';
import { redactLine, redactText } from '../lib/files/text-file.ts';
import { confirmReplace } from '../lib/output/confirm.ts';
import { counted, formatCount } from '../lib/output/format.ts';
import {
  type AddressBatch,
  type AddressLine,
  linesOf,
  readAddress,
  readAddressFile,
  wrongChecksum,
} from './address-file.ts';
import { type AddressLines, dropRepeats, type HashedLines, hashLines } from './address-lines.ts';

export interface AddressInput {
  file?: string | undefined;
  walletAddresses?: readonly string[] | undefined;
  column?: string | undefined;
  allowBadChecksum?: boolean | undefined;
  skipInvalid?: boolean | undefined;
  rejects?: string | undefined;
  secretFile?: string | undefined;
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

/** Bad lines that are shown. */
const maxShown = 20;

interface ReadOptions {
  /** Duplicates are counted on stderr, and a few addresses of one chain among many of another are bad lines too. */
  isCheck: boolean;
  onRead: (addresses: number) => void;
}

/** The distinct addresses of a command line, all of them checked. Errors: `usage` for bad lines that may not be skipped, and for none left; `interrupted`. */
export async function readAddresses(
  input: AddressInput,
  context: Context,
  { isCheck, onRead }: ReadOptions,
): Promise<AddressList> {
  const { name, batches } = openBatches(input, context);
  const inputs = [input.file, input.secretFile];
  const rejects = await openOutput('--rejects', context.options.preview ? undefined : input.rejects, inputs, (path) =>
    confirmReplace('--rejects', path, context),
  );
  const reading: Reading = { lines: [], count: 0, bad: noLines(), EVM: noLines(), Solana: noLines() };
  try {
    for await (const batch of batches) {
      if (context.io.signal.aborted) throw new SotraError('interrupted', 'interrupted; nothing was sent');
      const rejected = takeBatch(batch, input, reading);
      await rejects?.appendFile(rejected);
      onRead(reading.count);
    }
  } finally {
    await rejects?.close();
  }
  const left = dropRepeats(reading.lines);
  const size = left.count;
  const duplicates = reading.count - size;
  if (isCheck && duplicates > 0) context.note(`${counted(duplicates, 'duplicate')} in the list.`);
  const strays = isCheck ? findStrays(reading) : noLines<BadLine>();
  refuseBadLines({ name, bad: reading.bad, strays, size }, input, context);
  if (size === 0)
    throw usageError(
      `${name} has no addresses`,
      input.file === undefined ? undefined : 'One a line, CSV with a header, NDJSON or a JSON array.',
    );
  const digest = left.pieces.reduce((hash, piece) => hash.update(piece), createHash('sha256')).digest('hex');
  return { left, size, duplicates, rejected: reading.bad.count, digest };
}

/** The lines of a command line's addresses, unchecked. Errors: `usage`. */
function openBatches(
  { file, walletAddresses, column }: AddressInput,
  { io }: Context,
): { name: string; batches: AsyncIterable<AddressBatch> } {
  if (walletAddresses !== undefined) return { name: '--wallet-addresses', batches: typedLines(walletAddresses) };
  if (file === undefined)
    throw usageError('--file or --wallet-addresses is required', 'Give a file, - for stdin, or --wallet-addresses.');
  const source = openSource(file, io, `--file ${file}`);
  return { name: source.name, batches: readAddressFile(source, column) };
}

async function* typedLines(addresses: readonly string[]): AsyncGenerator<AddressLine[]> {
  yield addresses.map((text, index) => ({ line: index + 1, text }));
}

/** How many lines of a kind there are, and the first of them. */
interface Lines<Line = AddressLine> {
  count: number;
  first: Line[];
}

interface BadLine {
  line: number;
  text: string;
  reason: string;
}

/** What was read so far: the addresses, the bad lines, and the wallets of each chain. */
interface Reading {
  lines: HashedLines[];
  count: number;
  bad: Lines<BadLine>;
  EVM: Lines;
  Solana: Lines;
}

function noLines<Line = AddressLine>(): Lines<Line> {
  return { count: 0, first: [] };
}

function addLine<Line>(lines: Lines<Line>, line: Line): void {
  lines.count += 1;
  if (lines.first.length < maxShown) lines.first.push(line);
}

/** Checks lines; returns the rejected ones as NDJSON. */
function takeBatch(batch: AddressBatch, input: AddressInput, reading: Reading): string {
  if ('hashes' in batch) {
    const { EVM, lines } = reading;
    lines.push(batch);
    reading.count += batch.count;
    EVM.count += batch.count;
    if (EVM.first.length < maxShown) EVM.first.push(...linesOf(batch).slice(0, maxShown));
    return '';
  }
  const addresses: string[] = [];
  let rejected = '';
  for (const { line, text, problem } of batch) {
    const read = problem === undefined ? readAddress(text, input) : { reason: problem };
    if (typeof read === 'string') {
      addresses.push(read);
      if (!read.startsWith('ext:')) addLine(reading[read.startsWith('0x') ? 'EVM' : 'Solana'], { line, text: read });
      continue;
    }
    const { reason } = read;
    addLine(reading.bad, { line, text: showUnseen(redactLine(text.trim())), reason });
    rejected += `${JSON.stringify({ line, text: redactText(text.trim()), reason })}\n`;
  }
  reading.lines.push(hashLines(addresses));
  reading.count += addresses.length;
  return rejected;
}

/** Wallets of a chain that are fewer than this part of the list are likely from another list. */
const strayPart = 0.1;

function findStrays({ EVM, Solana }: Reading): Lines<BadLine> {
  const [few, many, fewName, manyName] =
    EVM.count < Solana.count ? [EVM, Solana, 'EVM', 'Solana'] : [Solana, EVM, 'Solana', 'EVM'];
  if (few.count >= (few.count + many.count) * strayPart) return noLines();
  const reason = `${fewName}, but ${formatCount(many.count)} others are ${manyName}`;
  return { count: few.count, first: few.first.map((each) => ({ ...each, reason })) };
}

interface BadLines {
  name: string;
  bad: Lines<BadLine>;
  strays: Lines<BadLine>;
  size: number;
}

/** Names the first bad lines. Errors: `usage`, unless they may be skipped. */
function refuseBadLines(
  { name, bad, strays, size }: BadLines,
  { file, skipInvalid, rejects }: AddressInput,
  { warn }: Context,
): void {
  const unit = file === undefined ? 'item' : 'line';
  const shown = [...bad.first, ...strays.first].sort((a, b) => a.line - b.line).slice(0, maxShown);
  if (shown.length === 0) return;
  for (const { line, text, reason } of shown) warn(`${unit} ${line}: ${text}: ${reason}`);
  const more = bad.count + strays.count - shown.length;
  const all = strays.count === 0 ? 'them all' : 'those that are not addresses';
  if (more > 0)
    warn(`${counted(more, `more bad ${unit}`)}${rejects === undefined ? `; --rejects <file> writes ${all}` : ''}`);
  if (skipInvalid) return;
  const wrong =
    bad.count === 1 ? `1 ${unit} is not an address` : `${formatCount(bad.count)} ${unit}s are not addresses`;
  const mixed = `${counted(strays.count, 'address')} may be of another chain`;
  const what = [...(bad.count > 0 ? [wrong] : []), ...(strays.count > 0 ? [mixed] : [])].join(', ');
  const rest = strays.count === 0 ? `send the rest (${formatCount(size)})` : 'check the rest';
  const isMistyped = shown.some(({ reason }) => reason === wrongChecksum);
  const accept = isMistyped ? ' A wrong checksum is accepted with --allow-bad-checksum.' : '';
  const isNoList = file === undefined && size === 0;
  const correct = isNoList ? 'Separate addresses with commas; a file goes to --file' : 'Correct them';
  throw new SotraError('usage', `${name}: ${what}; nothing was sent`, {
    hint: `${correct}${size === 0 ? '' : `, or ${rest} with --skip-invalid`}.${accept}`,
    details: { rejected: shown },
  });
}
