import { createHash } from 'node:crypto';
import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { SotraError } from '../../errors.ts';
import type { ToSend } from './send.ts';

const version = 1;

/** What is known of one comment: about to be sent, taken by the service, refused by it, or surely not sent. */
type State = 'sending' | 'posted' | 'refused' | 'unsent';

/** What was done with the comments of batches, kept over restarts. */
export interface Journal {
  file: string;
  stateOf: (comment: ToSend) => { state: State; uid?: string } | undefined;
  /** On disk when it returns. */
  note: (comment: ToSend, state: State, uid?: string) => void;
  close: () => void;
}

interface Entry {
  comment: string;
  state: State;
  uid?: string;
}

/**
 * The journal of a service: an append-only file in the data folder, named after the service's address, one JSON object a line, the first
 * with the version. Comments are known by what they say, not by file or line, so that an edited or renamed input goes on where it
 * was. A last line cut short by a crash is passed over. Errors: `config` naming the file.
 */
export function openJournal(folder: string, origin: string): Journal {
  const file = join(folder, `posted-comments-${createHash('sha256').update(origin).digest('hex').slice(0, 16)}.ndjson`);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const text = readIfThere(file);
    const states = readStates(text, file);
    const handle = openSync(file, 'a', 0o600);
    const append = (value: object) => {
      writeSync(handle, `${JSON.stringify(value)}\n`);
      fsyncSync(handle);
    };
    if (text === '') append({ version, holds: 'posted comments', service: origin });
    else if (!text.endsWith('\n')) writeSync(handle, '\n');
    return {
      file,
      stateOf: (comment) => states.get(digestOf(comment)),
      note: (comment, state, uid) => {
        const entry: Entry = { comment: digestOf(comment), state, ...(uid === undefined ? {} : { uid }) };
        append({ ...entry, chain: comment.chain, transactionHash: comment.transactionHash });
        states.set(entry.comment, entry);
      },
      close: () => closeSync(handle),
    };
  } catch (cause) {
    if (cause instanceof SotraError) throw cause;
    throw new SotraError('config', `cannot use the journal ${file}: ${(cause as Error).message}`, { cause });
  }
}

function readIfThere(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
}

function readStates(text: string, file: string): Map<string, Entry> {
  const states = new Map<string, Entry>();
  const lines = text.split('\n');
  for (const [index, line] of lines.entries()) {
    if (line === '') continue;
    const entry = parse(line);
    // Only the last line of a run can be torn, and what it would have said had not been promised to anyone.
    if (entry === undefined) continue;
    if (index === 0 && entry.version !== version)
      throw new SotraError('config', `the journal ${file} is of version ${entry.version}, not ${version}`, {
        hint: 'Update sotra, or choose another folder with SOTRA_DATA_DIR.',
      });
    if (index > 0 && typeof entry.comment === 'string') states.set(entry.comment, entry);
  }
  return states;
}

function parse(line: string): (Entry & { version?: unknown }) | undefined {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

/** What tells one comment from another: everything that is signed, and who signs. */
function digestOf({ chain, tokenAddress, transactionHash, commentText, signerAddress }: ToSend): string {
  const parts = [chain, tokenAddress.toLowerCase(), transactionHash, commentText, signerAddress.toLowerCase()];
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}
