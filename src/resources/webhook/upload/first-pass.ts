import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { SotraError } from '../../../errors.ts';
import type { Block } from '../../../files/text-file.ts';
import type { AddressLine } from './address-file.ts';
import { type AddressSet, type ByteAddressSet, createAddressSet } from './address-set.ts';
import { type AddressRules, readAddress } from './addresses.ts';

/** A line that is no address. */
export interface Rejected {
  line: number;
  text: string;
  reason: string;
}

export interface FirstPass {
  /** Distinct addresses that were kept. */
  addresses: number;
  duplicates: number;
  rejected: number;
  /** SHA-256 of the normalized list. */
  digest: string;
}

interface Options extends AddressRules {
  lines: AsyncIterable<readonly AddressLine[] | Block>;
  /** File for the normalized list. */
  to: string;
  onRejected: (rejected: Rejected) => void;
  /** Told after each batch. */
  onRead: (addresses: number) => void;
  /** What can be made ready while the disk takes the list. */
  meanwhile: () => Promise<void>;
  /** Addresses that are left out without being counted as duplicates. */
  known?: Pick<AddressSet, 'has'>;
  signal: AbortSignal;
}

/**
 * Checks and normalizes every line and writes the distinct addresses to a file, one a line, safe on disk. Bad lines are told and left
 * out. Memory: the set of addresses, some 30 bytes each. Errors: those of the reading.
 */
export async function runFirstPass(options: Options): Promise<FirstPass> {
  const seen = createAddressSet();
  const hash = createHash('sha256');
  const file = await open(options.to, 'wx', 0o600);
  const pass: Counts = { addresses: 0, duplicates: 0, rejected: 0 };
  let writing: Promise<void> = Promise.resolve();
  try {
    for await (const batch of options.lines) {
      if (options.signal.aborted) throw new SotraError('interrupted', 'interrupted; nothing was sent');
      const block = 'bytes' in batch ? takePlain(batch, seen, options, pass) : takeTexts(batch, seen, options, pass);
      if (block.length === 0) continue;
      hash.update(block);
      await writing;
      // The next lines are checked while these are written.
      writing = file.appendFile(block);
      writing.catch(() => undefined);
      options.onRead(pass.addresses);
    }
    await writing;
    await Promise.all([file.sync(), options.meanwhile()]);
  } finally {
    await writing.catch(() => undefined);
    await file.close();
  }
  const { addresses, duplicates, rejected } = pass;
  return { addresses, duplicates, rejected, digest: hash.digest('hex') };
}

type Counts = Pick<FirstPass, 'addresses' | 'duplicates' | 'rejected'>;

function takeTexts(lines: readonly AddressLine[], seen: AddressSet, options: Options, pass: Counts): Buffer {
  const kept: string[] = [];
  for (const line of lines) {
    const address = takeText(line, seen, options, pass);
    if (address !== undefined) kept.push(address);
  }
  return Buffer.from(kept.length === 0 ? '' : `${kept.join('\n')}\n`);
}

/** The address of a text where it is one, new, and not known; counts what it is otherwise. */
function takeText(one: AddressLine, seen: AddressSet, options: Options, pass: Counts): string | undefined {
  const { line, text, problem } = one;
  const read = problem === undefined ? readAddress(text, options) : { reason: problem };
  if (typeof read !== 'string') {
    pass.rejected += 1;
    options.onRejected({ line, text, reason: read.reason });
  } else if (!seen.add(read)) pass.duplicates += 1;
  else if (options.known?.has(read) !== true) {
    pass.addresses += 1;
    return read;
  }
  return undefined;
}

const evmLine = 43;

/** The same for plain lines: the usual one, 0x and 40 lowercase digits, never becomes a string. */
function takePlain(block: Block, seen: ByteAddressSet, options: Options, pass: Counts): Buffer {
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
    if (isNew === true) pass.addresses += 1;
    else {
      endRun(from);
      run = next;
      if (isNew === false) pass.duplicates += 1;
      else {
        const text = bytes.toString('utf8', from, next - 1).trim();
        const address = text === '' ? undefined : takeText({ line, text }, seen, options, pass);
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
