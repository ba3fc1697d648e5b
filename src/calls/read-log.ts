import { closeSync, existsSync, fstatSync, readFileSync, readSync, statSync } from 'node:fs';
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

/** Where the log ended when it was read. */
interface LogEnd {
  ino: number;
  bytes: number;
}

export function findLogEnd(folder: string): LogEnd {
  const { ino = 0, size = 0 } = statSync(join(folder, logFiles[0]), { throwIfNoEntry: false }) ?? {};
  return { ino, bytes: size };
}

/**
 * The calls appended after an end, the oldest first, and the new end; `undefined` if the log was cleared meanwhile. Errors: those of the file
 * system.
 */
export function readAppended(folder: string, from: LogEnd): { calls: LogEntry[]; end: LogEnd } | undefined {
  const [newest, second] = [logFiles[0], logFiles[1]].map((name) => join(folder, name)) as [string, string];
  const { ino, bytes } = findLogEnd(folder);
  if (ino === from.ino && bytes === from.bytes) return { calls: [], end: from };
  if (ino === from.ino && bytes > from.bytes) return readFrom(newest, from.bytes);
  // Rotated: the file that was read has its next name.
  if (from.ino === 0 || statSync(second, { throwIfNoEntry: false })?.ino !== from.ino) return undefined;
  const [rest, added] = [readFrom(second, from.bytes), ino === 0 ? undefined : readFrom(newest, 0)];
  return { calls: [...rest.calls, ...(added?.calls ?? [])], end: added?.end ?? rest.end };
}

/** The calls from a byte on; a last line that is not complete is left for the next time. */
function readFrom(file: string, start: number): { calls: LogEntry[]; end: LogEnd } {
  const handle = openStateFile(file);
  try {
    const { ino, size } = fstatSync(handle);
    const buffer = Buffer.alloc(Math.max(0, size - start));
    const text = buffer.subarray(0, readSync(handle, buffer, 0, buffer.length, start));
    const isWhole = tryParseJson(text.toString('utf8', text.lastIndexOf('\n') + 1)) !== undefined;
    const end = isWhole ? text.length : Math.max(0, text.lastIndexOf('\n'));
    const lines = text.toString('utf8', 0, end).split('\n');
    return {
      calls: lines.flatMap((line) => logEntrySchema.safeParse(tryParseJson(line)).data ?? []),
      end: { ino, bytes: start + end },
    };
  } finally {
    closeSync(handle);
  }
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
