import { createHash } from 'node:crypto';
import { isEvmAddress } from '../api/address.ts';
import type { Context } from '../context.ts';
import { inputError, SotraError } from '../errors.ts';
import { openOutput, openSource } from '../lib/files/source.ts';
import { confirmReplace } from '../lib/output/confirm.ts';
import { counted, formatCount } from '../lib/output/format.ts';
import { quoted, written } from '../lib/quoted.ts';
import { type AddressLine, readAddress, readAddressFile, wrongChecksum } from './address-file.ts';

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
  /** Distinct and normalized, in the order of the input. */
  addresses: ReadonlySet<string>;
  duplicates: number;
  rejected: number;
  strays: Strays | undefined;
  /** SHA-256 of the addresses, a line each. */
  digest: string;
}

/** The few addresses of one chain among many of another. */
interface Strays {
  count: number;
  /** The first of them. */
  lines: RejectedLine[];
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
  const rejects = await openOutput(
    '--rejects',
    context.options.preview ? undefined : input.rejects,
    [input.file],
    (path) => confirmReplace('--rejects', path, context),
  );
  const rejected: RejectedLine[] = [];
  const unwritten: string[] = [];
  const onRejected = (each: RejectedLine) => {
    if (rejected.length < maxListed) rejected.push({ ...each, text: quoted(each.text) });
    if (rejects !== undefined) unwritten.push(`${JSON.stringify({ ...each, text: written(each.text) })}\n`);
  };
  try {
    const allowBadChecksum = input.allowBadChecksum === true;
    const list = await collectAddresses(lines, { allowBadChecksum, onRejected, onRead, signal: context.io.signal });
    await rejects?.appendFile(unwritten.join(''));
    const strays = input.refusesStrays ? list.strays : undefined;
    const bad = [...rejected, ...(strays?.lines ?? [])].sort((a, b) => a.line - b.line);
    for (const { line, text, reason } of bad.slice(0, maxShown)) context.warn(`line ${line}: ${text}: ${reason}`);
    const hidden = list.rejected + (strays?.count ?? 0) - maxShown;
    const all = strays === undefined ? 'them all' : 'those that are not addresses';
    if (hidden > 0) context.warn(`${counted(hidden, 'more bad line')}; --rejects <file> writes ${all}`);
    if (bad.length > 0 && input.skipInvalid !== true) throw badLines(name, list, bad, strays);
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
  strays: Strays | undefined,
): SotraError {
  const wrong = rejected === 1 ? '1 line is not an address' : `${formatCount(rejected)} lines are not addresses`;
  const mixed = strays === undefined ? '' : `${counted(strays.count, 'address')} may be of another chain`;
  const lines = [rejected > 0 ? wrong : '', mixed].filter((text) => text !== '').join(', ');
  const accepts = listed.some(({ reason }) => reason === wrongChecksum);
  const error = inputError((label) => ({
    message: `${name ?? label('walletAddresses')}: ${lines}; nothing was sent`,
    hint:
      (strays === undefined
        ? `Correct them, or send the rest (${formatCount(addresses.size)}) with ${label('skipInvalid')}.`
        : `Correct them, or check the rest with ${label('skipInvalid')}.`) +
      (accepts ? ` A wrong checksum is accepted with ${label('allowBadChecksum')}.` : ''),
  }));
  return Object.assign(error, { details: { rejected: listed } });
}

/** The lines of a command line's addresses, unchecked. Errors: `usage`. */
function openLines(
  { file, walletAddresses, column }: AddressInput,
  { io }: Context,
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
  const source = openSource(file, io, `--file ${file}`);
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
  const chains = { EVM: startCount(), Solana: startCount() };
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
      } else if (addresses.add(read).size > size) {
        fresh += `${read}\n`;
        if (!read.startsWith('ext:')) countOne(chains[isEvmAddress(read) ? 'EVM' : 'Solana'], { line, text: read });
      } else duplicates += 1;
    }
    hash.update(fresh);
    options.onRead(addresses.size);
  }
  return { addresses, duplicates, rejected, strays: findStrays(chains), digest: hash.digest('hex') };
}

interface ChainCount {
  count: number;
  first: { line: number; text: string }[];
}

const startCount = (): ChainCount => ({ count: 0, first: [] });

function countOne(chain: ChainCount, address: ChainCount['first'][number]): void {
  chain.count += 1;
  if (chain.first.length < maxListed) chain.first.push(address);
}

/** Wallets of a chain that are fewer than this part of the list are likely from another list. */
const strayPart = 0.1;

function findStrays({ EVM, Solana }: Record<'EVM' | 'Solana', ChainCount>): Strays | undefined {
  const [few, many] = EVM.count < Solana.count ? [EVM, Solana] : [Solana, EVM];
  if (few.count === 0 || few.count >= (few.count + many.count) * strayPart) return undefined;
  const reason = `${few === EVM ? 'EVM' : 'Solana'}, but ${formatCount(many.count)} others are ${few === EVM ? 'Solana' : 'EVM'}`;
  return { count: few.count, lines: few.first.map((each) => ({ ...each, reason })) };
}
