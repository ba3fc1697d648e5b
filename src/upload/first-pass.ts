import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import type { Context } from '../context.ts';
import { SotraError, usageError } from '../errors.ts';
import { openOutput, openSource } from '../files/source.ts';
import type { Block } from '../files/text-file.ts';
import { type AddressSet, type ByteAddressSet, createAddressSet } from '../model/address-set.ts';
import { quoted, written } from '../model/quoted.ts';
import { formatCount } from '../output/format.ts';
import { type AddressLine, type AddressRules, readAddress, readAddressFile } from './address-file.ts';

export interface AddressInput {
  file?: string | undefined;
  walletAddresses?: readonly string[] | undefined;
  column?: string | undefined;
  allowBadChecksum?: boolean | undefined;
  skipInvalid?: boolean | undefined;
  rejects?: string | undefined;
}

/** Rejected lines shown on stderr, and listed in a JSON error. */
const maxShown = 20;
const maxListed = 100;

/** Writes the distinct addresses of a command line to a file. Errors: `usage` for bad lines that may not be skipped, and for none left. */
export async function checkAddresses(
  input: AddressInput,
  context: Context,
  more: Pick<FirstPassOptions, 'to' | 'onRead' | 'known'>,
): Promise<FirstPass> {
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
    const { signal } = context.world;
    // A failure shows again with the first request.
    const meanwhile = () => context.ready().catch(() => undefined);
    const pass = await runFirstPass({ lines, allowBadChecksum, onRejected, meanwhile, signal, ...more });
    await rejects?.appendFile(unwritten.join(''));
    for (const { line, text, reason } of rejected.slice(0, maxShown)) context.warn(`line ${line}: ${text}: ${reason}`);
    const hidden = pass.rejected - Math.min(pass.rejected, maxShown);
    if (hidden > 0) context.warn(`${formatCount(hidden)} more bad lines; --rejects <file> writes them all`);
    if (pass.rejected > 0 && input.skipInvalid !== true) throw badLines(name, pass, rejected);
    if (pass.addresses === 0)
      throw usageError(`${name} holds no address`, 'One a line, CSV with a header, NDJSON or a JSON array.');
    return pass;
  } finally {
    await rejects?.close();
  }
}

function badLines(name: string, { rejected, addresses }: FirstPass, listed: readonly RejectedLine[]): SotraError {
  const lines = rejected === 1 ? '1 line is not an address' : `${formatCount(rejected)} lines are not addresses`;
  return new SotraError('usage', `${name}: ${lines}; nothing was sent`, {
    hint: `Correct them, or send the rest (${formatCount(addresses)}) with --skip-invalid.`,
    details: { rejected: listed },
  });
}

type Lines = AsyncIterable<readonly AddressLine[] | Block>;

function openLines(
  { file, walletAddresses, column }: AddressInput,
  { world }: Context,
): { lines: Lines; name: string } {
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

export interface RejectedLine {
  line: number;
  text: string;
  reason: string;
}

interface Counts {
  addresses: number;
  duplicates: number;
  rejected: number;
}

export interface FirstPass extends Counts {
  /** SHA-256 of the normalized list. */
  digest: string;
}

interface FirstPassOptions extends AddressRules {
  lines: Lines;
  /** File for the normalized list. */
  to: string;
  onRejected: (rejected: RejectedLine) => void;
  onRead: (addresses: number) => void;
  /** Runs while the list is synced to disk. */
  meanwhile: () => Promise<void>;
  /** Addresses that are skipped without being counted as duplicates. */
  known?: AddressSet | undefined;
  signal: AbortSignal;
}

/** Writes the distinct normalized addresses to a file, safe on disk. Memory: some 30 bytes an address. */
export async function runFirstPass(options: FirstPassOptions): Promise<FirstPass> {
  const seen = createAddressSet();
  const hash = createHash('sha256');
  const file = await open(options.to, 'wx', 0o600);
  const counts: Counts = { addresses: 0, duplicates: 0, rejected: 0 };
  let writing: Promise<void> = Promise.resolve();
  try {
    for await (const batch of options.lines) {
      if (options.signal.aborted) throw new SotraError('interrupted', 'interrupted; nothing was sent');
      const kept = 'bytes' in batch ? keepPlain(batch, seen, options, counts) : keepTexts(batch, seen, options, counts);
      if (kept.length === 0) continue;
      hash.update(kept);
      await writing;
      // The next lines are checked while these are written.
      writing = file.appendFile(kept);
      writing.catch(() => undefined);
      options.onRead(counts.addresses);
    }
    await writing;
    await Promise.all([file.sync(), options.meanwhile()]);
  } finally {
    await writing.catch(() => undefined);
    await file.close();
  }
  return { ...counts, digest: hash.digest('hex') };
}

function keepTexts(lines: readonly AddressLine[], seen: AddressSet, options: FirstPassOptions, counts: Counts): Buffer {
  const kept: string[] = [];
  for (const line of lines) {
    const address = keepText(line, seen, options, counts);
    if (address !== undefined) kept.push(address);
  }
  return Buffer.from(kept.length === 0 ? '' : `${kept.join('\n')}\n`);
}

/** The address of a text if it is one, new, and not known; otherwise counted. */
function keepText(
  { line, text, problem }: AddressLine,
  seen: AddressSet,
  options: FirstPassOptions,
  counts: Counts,
): string | undefined {
  const read = problem === undefined ? readAddress(text, options) : { reason: problem };
  if (typeof read !== 'string') {
    counts.rejected += 1;
    options.onRejected({ line, text, reason: read.reason });
  } else if (!seen.add(read)) counts.duplicates += 1;
  else if (options.known?.has(read) !== true) {
    counts.addresses += 1;
    return read;
  }
  return undefined;
}

const evmLine = 43;

/** The same for plain lines: the usual one, 0x and 40 lowercase digits, never becomes a string. */
function keepPlain(block: Block, seen: ByteAddressSet, options: FirstPassOptions, counts: Counts): Buffer {
  const kept: Buffer[] = [];
  const { bytes } = block;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let [from, run, line] = [0, 0, block.firstLine - 1];
  const endRun = (at: number) => {
    if (at > run) kept.push(bytes.subarray(run, at));
  };
  while (from < bytes.length) {
    line += 1;
    const isUsual =
      bytes[from + evmLine - 1] === 0x0a &&
      bytes[from] === 0x30 &&
      bytes[from + 1] === 0x78 &&
      options.known === undefined;
    const isNew = isUsual ? seen.addHex(view, from + 2) : undefined;
    const next = isNew === undefined ? bytes.indexOf(0x0a, from) + 1 : from + evmLine;
    if (isNew === true) counts.addresses += 1;
    else {
      endRun(from);
      run = next;
      if (isNew === false) counts.duplicates += 1;
      else {
        const text = bytes.toString('utf8', from, next - 1).trim();
        const address = text === '' ? undefined : keepText({ line, text }, seen, options, counts);
        if (address !== undefined) kept.push(Buffer.from(`${address}\n`));
      }
    }
    from = next;
  }
  endRun(from);
  block.lineCount = line - block.firstLine + 1;
  const [only] = kept;
  return kept.length === 1 && only !== undefined ? only : Buffer.concat(kept);
}
