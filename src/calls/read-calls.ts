import { existsSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { parseJson, tryParseJson } from '../api/json.ts';
import { readMessage } from '../errors.ts';
import { makeFolder, readStateFile } from '../lib/files/durable-file.ts';
import { counted } from '../lib/output/format.ts';
import {
  type EntryPart,
  extendEntry,
  type FailedCommand,
  failedCommandSchema,
  type LogEntry,
  logEntrySchema,
} from './entry.ts';
import { type CallFile, failedCommandFile, listCalls } from './store.ts';

/** A call of this log. `n` counts from the newest, which is 1; `number` stays the same, and is typed as an id such as c42. */
export type NumberedEntry = LogEntry & { n: number; number: number };

export function formatCallId({ number }: Pick<NumberedEntry, 'number'>): string {
  return `c${number}`;
}

/** The calls, newest first. One that cannot be read, or that a newer release wrote, is moved aside and told. */
export function* readCalls(
  folder: string,
  warn: (text: string) => void,
  isWanted: (file: Pick<CallFile, 'number' | 'hasFailed'> & { n: number }) => boolean = () => true,
): Generator<NumberedEntry> {
  let damaged = 0;
  let place = `moved to ${join(folder, 'damaged')}`;
  try {
    let n = 0;
    for (const { number, name, hasFailed } of listCalls(folder).reverse()) {
      n += 1;
      if (!isWanted({ n, number, hasFailed })) continue;
      const entry = readCall(join(folder, name));
      if (entry === 'damaged') {
        damaged += 1;
        n -= 1;
        const problem = moveAside(folder, name);
        if (problem !== undefined) place = `left where they are (${problem})`;
      } else if (entry !== undefined) yield { n, number, ...entry };
    }
  } finally {
    if (damaged > 0)
      warn(
        `${counted(damaged, 'call')} of the history ${damaged === 1 ? 'is' : 'are'} damaged or of a newer release of sotra: ${place}`,
      );
  }
}

/** Why it could not be, where it could not. */
function moveAside(folder: string, name: string): string | undefined {
  const aside = join(folder, 'damaged');
  try {
    makeFolder(aside);
    renameSync(join(folder, name), join(aside, name));
    return undefined;
  } catch (thrown) {
    return readMessage(thrown);
  }
}

/** `undefined` where nothing was written yet. */
function readCall(file: string): LogEntry | 'damaged' | undefined {
  try {
    const [first, ...parts] = readStateFile(file).split('\n').slice(0, -1);
    if (first === undefined) return undefined;
    const entry = parts.map((part) => parseJson(part) as EntryPart).reduce(extendEntry, parseJson(first) as LogEntry);
    return logEntrySchema.parse(entry);
  } catch (error) {
    // Another process has just removed or renamed it.
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? undefined : 'damaged';
  }
}

export function readFailedCommand(folder: string): FailedCommand | undefined {
  const file = join(folder, failedCommandFile);
  return existsSync(file) ? failedCommandSchema.safeParse(tryParseJson(readStateFile(file))).data : undefined;
}
