import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { SotraError } from '../../errors.ts';
import { takeLock } from '../../files/lock.ts';
import { damagedLine, openLog, readLog } from '../../files/log-file.ts';
import type { World } from '../../world.ts';
import type { ToSend } from './send.ts';

const version = 1;

/** What is known of one comment: about to be sent, taken by the service, refused by it, or surely not sent. */
const states = ['sending', 'posted', 'refused', 'unsent'] as const;
type State = (typeof states)[number];

/** What was done with the comments of batches, kept over restarts. */
export interface Journal {
  file: string;
  stateOf: (comment: ToSend) => { state: State; uid?: string | undefined } | undefined;
  /** Resolves when it is on disk. */
  note: (comment: ToSend, state: State, uid?: string) => Promise<void>;
  close: () => void;
}

const entrySchema = z.object({ comment: z.string(), state: z.enum(states), uid: z.string().optional() });
type Entry = z.output<typeof entrySchema>;

/**
 * The journal of a service: an append-only file in the data folder, named after the service's address, one JSON object a line, the first
 * with the version. Comments are known by what they say, not by file or line, so that an edited or renamed input goes on where it
 * was. A last line cut short by a crash is passed over. Only one process at a time has it. Errors: `locked` naming the process that does;
 * `local-file` naming the file, which is left as it is.
 */
export function openJournal(folder: string, origin: string, world: World): Journal {
  const file = join(folder, `posted-comments-${createHash('sha256').update(origin).digest('hex').slice(0, 16)}.ndjson`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const release = takeLock(`${file}.lock`, `the journal of comments posted to ${origin}`, world);
  try {
    const [head, ...lines] = readLog<{ version?: unknown }>(file);
    if (head !== undefined && head.version !== version) throw ofOtherVersion(file, head.version);
    const known = new Map<string, Entry>();
    for (const [index, line] of lines.entries()) {
      const { success, data } = entrySchema.safeParse(line);
      if (!success) throw damagedLine(file, index + 2);
      known.set(data.comment, data);
    }
    const log = openLog(file);
    if (head === undefined) log.append({ version, holds: 'posted comments', service: origin });
    return {
      file,
      stateOf: (comment) => known.get(digestOf(comment)),
      note: async (comment, state, uid) => {
        const entry: Entry = { comment: digestOf(comment), state, ...(uid === undefined ? {} : { uid }) };
        log.append({ ...entry, chain: comment.chain, transactionHash: comment.transactionHash });
        known.set(entry.comment, entry);
        await log.flush();
      },
      close: () => {
        log.close();
        release();
      },
    };
  } catch (thrown) {
    release();
    throw thrown;
  }
}

function ofOtherVersion(file: string, found: unknown): SotraError {
  return new SotraError('local-file', `the journal ${file} is of version ${JSON.stringify(found)}, not ${version}`, {
    hint: 'Update sotra, or choose another folder with SOTRA_DATA_DIR.',
  });
}

/** What tells one comment from another: everything that is signed, and who signs. */
function digestOf({ chain, tokenAddress, transactionHash, commentText, signerAddress }: ToSend): string {
  const parts = [chain, tokenAddress.toLowerCase(), transactionHash, commentText, signerAddress.toLowerCase()];
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}
