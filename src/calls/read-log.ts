import { closeSync, existsSync, fstatSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { tryParseJson } from '../api/json.ts';
import { openStateFile } from '../lib/files/durable-file.ts';
import { type FailedCommand, failedCommandSchema, type LogEntry, logEntrySchema } from './entry.ts';
import { logFiles } from './log.ts';

/** A call with its number, counted from the newest, which is 1. */
export type NumberedEntry = LogEntry & { n: number };

/** Calls and failed commands, the newest first. Lines that are torn or damaged are left out. Errors: those of the file system. */
export function* readLog(folder: string): Generator<NumberedEntry | FailedCommand> {
  let n = 0;
  for (const line of readLines(folder)) {
    const value = tryParseJson(line);
    const call = logEntrySchema.safeParse(value).data;
    if (call !== undefined) n += 1;
    const found = call === undefined ? failedCommandSchema.safeParse(value).data : { ...call, n };
    if (found !== undefined) yield found;
  }
}

/** Only the calls. */
export function* readCalls(folder: string): Generator<NumberedEntry> {
  for (const line of readLog(folder)) if ('request' in line) yield line;
}

/** Another text after each change of the log. */
export function readLogVersion(folder: string): string {
  const { ino = 0, size = 0 } = statSync(join(folder, logFiles[0]), { throwIfNoEntry: false }) ?? {};
  return `${ino} ${size}`;
}

function* readLines(folder: string): Generator<string> {
  const seen = new Set<number>();
  for (const name of logFiles) {
    const file = join(folder, name);
    if (!existsSync(file)) continue;
    const handle = openStateFile(file);
    let text: Buffer;
    try {
      const { ino } = fstatSync(handle);
      // Rotated since the one before was opened: the same file under its next name.
      if (seen.has(ino)) continue;
      seen.add(ino);
      text = readFileSync(handle);
    } finally {
      closeSync(handle);
    }
    for (let end = text.length; end > 0; ) {
      const start = text.lastIndexOf('\n', end - 1) + 1;
      if (start < end) yield text.toString('utf8', start, end);
      end = start - 1;
    }
  }
}
