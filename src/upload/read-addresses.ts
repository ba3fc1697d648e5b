import { createHash, type Hash } from 'node:crypto';
import { showUnseen } from '../api/safe-text.ts';
import type { Context } from '../context.ts';
import { inputError, SotraError } from '../errors.ts';
import { openOutput, openSource } from '../lib/files/source.ts';
import { confirmReplace } from '../lib/output/confirm.ts';
import { counted, formatCount } from '../lib/output/format.ts';
import { quoted, written } from '../lib/quoted.ts';
import { type AddressLine, readAddress, readAddressFile, wrongChecksum } from './address-file.ts';
import { type AddressLines, dropRepeats, hashAddress, packLines } from './address-lines.ts';

export interface AddressInput {
  file?: string | undefined;
  walletAddresses?: readonly string[] | undefined;
  column?: string | undefined;
  allowBadChecksum?: boolean | undefined;
  skipInvalid?: boolean | undefined;
  /** A few addresses of one chain among many of another are bad lines too. */
  refusesStrays?: boolean | undefined;
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

/** The distinct addresses of a command line, all of them checked. Errors: `usage` for bad lines that may not be skipped, and for none left; `interrupted`. */
export async function readAddresses(
  input: AddressInput,
  context: Context,
  onRead: (addresses: number) => void = () => undefined,
): Promise<AddressList> {
  const hash = createHash('sha256').update(input.column ?? '');
  const { batches, name } = openBatches(input, context, hash);
  const rejects = await openOutput(
    '--rejects',
    context.options.preview ? undefined : input.rejects,
    [input.file],
    (path) => confirmReplace('--rejects', path, context),
  );
  const pieces: Buffer[] = [];
  const hashes: number[] = [];
  const bad: BadLine[] = [];
  const chains = { EVM: { count: 0, lines: [] }, Solana: { count: 0, lines: [] } };
  let unwritten = '';
  let rejected = 0;
  const reject = (line: number, text: string, reason: string) => {
    rejected += 1;
    if (bad.length < maxListed) bad.push({ line, text: showUnseen(quoted(text)), reason });
    if (rejects !== undefined) unwritten += `${JSON.stringify({ line, text: written(text), reason })}\n`;
  };
  try {
    for await (const batch of batches) {
      if (context.io.signal.aborted) throw new SotraError('interrupted', 'interrupted; nothing was sent');
      const addresses: string[] = [];
      for (const { line, text, problem } of batch) {
        const read = problem === undefined ? readAddress(text, input) : { reason: problem };
        if (typeof read !== 'string') reject(line, text.trim(), read.reason);
        else {
          addresses.push(read);
          hashes.push(hashAddress(read));
          if (input.refusesStrays) countWallet(chains, line, read);
        }
      }
      pieces.push(packLines(addresses));
      await rejects?.appendFile(unwritten);
      unwritten = '';
      onRead(hashes.length);
    }
  } finally {
    await rejects?.close();
  }
  const left = dropRepeats(pieces, hashes);
  const { count: size } = left;
  const list = { left, size, duplicates: hashes.length - size, rejected, digest: hash.digest('hex') };
  const strays = findStrays(chains);
  refuseBadLines(
    list,
    [...bad, ...strays.lines].sort((a, b) => a.line - b.line),
    strays.count,
    { input, name, context },
  );
  if (list.size === 0)
    throw inputError((label) => ({
      message: `${name ?? label('walletAddresses')} has no addresses`,
      hint: name && 'One a line, CSV with a header, NDJSON or a JSON array.',
    }));
  return list;
}

interface ListSource {
  input: AddressInput;
  name: string | undefined;
  context: Context;
}

/** Names the first bad lines. Errors: `usage`, unless they may be skipped. */
function refuseBadLines(
  { rejected, size }: AddressList,
  bad: readonly BadLine[],
  strays: number,
  { input, name, context }: ListSource,
): void {
  if (bad.length === 0) return;
  for (const { line, text, reason } of bad.slice(0, maxShown)) context.warn(`line ${line}: ${text}: ${reason}`);
  const more = rejected + strays - maxShown;
  const all = strays === 0 ? 'them all' : 'those that are not addresses';
  if (more > 0) context.warn(`${counted(more, 'more bad line')}; --rejects <file> writes ${all}`);
  if (input.skipInvalid) return;
  const wrong = rejected === 1 ? '1 line is not an address' : `${formatCount(rejected)} lines are not addresses`;
  const mixed = `${counted(strays, 'address')} may be of another chain`;
  const lines = [rejected > 0 ? [wrong] : [], strays > 0 ? [mixed] : []].flat().join(', ');
  const accepts = bad.some(({ reason }) => reason === wrongChecksum);
  const error = inputError((label) => ({
    message: `${name ?? label('walletAddresses')}: ${lines}; nothing was sent`,
    hint:
      (strays === 0
        ? `Correct them, or send the rest (${formatCount(size)}) with ${label('skipInvalid')}.`
        : `Correct them, or check the rest with ${label('skipInvalid')}.`) +
      (accepts ? ` A wrong checksum is accepted with ${label('allowBadChecksum')}.` : ''),
  }));
  throw Object.assign(error, { details: { rejected: bad } });
}

/** The lines of a command line's addresses, unchecked; `hash` gets all of the input. Errors: `usage`. */
function openBatches(
  { file, walletAddresses, column }: AddressInput,
  { io }: Context,
  hash: Hash,
): { batches: AsyncIterable<readonly AddressLine[]>; name: string | undefined } {
  if (file !== undefined && walletAddresses !== undefined)
    throw inputError((label) => ({
      message: `${label('file')} and ${label('walletAddresses')} both give addresses`,
      hint: 'Omit one of them.',
    }));
  if (walletAddresses !== undefined && column !== undefined)
    throw inputError((label) => ({ message: `${label('column')} is for ${label('file')}`, hint: 'Omit it.' }));
  if (walletAddresses !== undefined) {
    hash.update(walletAddresses.join('\n'));
    return { batches: typedLines(walletAddresses), name: undefined };
  }
  if (file === undefined)
    throw inputError((label) => ({
      message: `${label('file')} is required: which addresses?`,
      hint: `Give a file, - for stdin, or ${label('walletAddresses')}.`,
    }));
  const { name, bytes } = openSource(file, io, `--file ${file}`);
  return { batches: readAddressFile({ name, bytes: hashed(bytes, hash) }, column), name };
}

async function* typedLines(addresses: readonly string[]): AsyncGenerator<AddressLine[]> {
  yield addresses.map((text, index) => ({ line: index + 1, text }));
}

async function* hashed(bytes: AsyncIterable<Uint8Array>, hash: Hash): AsyncGenerator<Uint8Array> {
  for await (const chunk of bytes) {
    hash.update(chunk);
    yield chunk;
  }
}

interface ChainCount {
  count: number;
  /** The first of them. */
  lines: { line: number; text: string }[];
}

type Chain = 'EVM' | 'Solana';

function countWallet(chains: Record<Chain, ChainCount>, line: number, text: string): void {
  if (text.startsWith('ext:')) return;
  const chain = chains[text.startsWith('0x') ? 'EVM' : 'Solana'];
  chain.count += 1;
  if (chain.lines.length < maxListed) chain.lines.push({ line, text });
}

/** Wallets of a chain that are fewer than this part of the list are likely from another list. */
const strayPart = 0.1;

function findStrays({ EVM, Solana }: Record<Chain, ChainCount>): { count: number; lines: BadLine[] } {
  const [few, many] = EVM.count < Solana.count ? [EVM, Solana] : [Solana, EVM];
  if (few.count >= (few.count + many.count) * strayPart) return { count: 0, lines: [] };
  const reason = `${few === EVM ? 'EVM' : 'Solana'}, but ${formatCount(many.count)} others are ${few === EVM ? 'Solana' : 'EVM'}`;
  return { count: few.count, lines: few.lines.map((each) => ({ ...each, reason })) };
}
