import { closeSync, constants, existsSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { dayMs } from '../api/duration.ts';
import { makeFolder, openStateFile, replaceFile } from '../lib/files/durable-file.ts';
import type { EntryPart, FailedCommand, LogEntry } from './entry.ts';
import { maxCalls } from './limits.ts';

// A file for each call, of one process: nothing is mixed or lost where many write. Each line adds to the entry (the request, its answer, the
// exit code), and one without a line end was never written: its process was killed, or the disk is full.

const maxBytes = 64 * 1024 * 1024;
const maxAgeMs = 30 * dayMs;
/** The last calls stay whatever else is kept: else there would be no room for them beside old failures. */
const alwaysKept = 50;
/** What is too much is removed each time so many calls were added. */
const pruneEvery = 50;

export const failedCommandFile = 'failed-command.json';

const { O_WRONLY, O_CREAT, O_EXCL, O_APPEND } = constants;

export interface CallFile {
  /** Counted from the first call of this log: it stays. */
  number: number;
  name: string;
  hasFailed: boolean;
}

/** The folder of the log in the folder of the data. */
export function findLog(dataDirectory: string): string {
  return join(dataDirectory, 'history');
}

/** Adds an entry under the next free number, which it gives back. Errors: those of the file system. */
export function addEntry(folder: string, entry: LogEntry, nowMs: number): number {
  makeFolder(folder);
  const files = listCalls(folder);
  let n = files.at(-1)?.number ?? 0;
  for (;;) {
    n += 1;
    const file = join(folder, nameCall(n, false));
    try {
      writeLine(file, entry, O_CREAT | O_EXCL);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') continue;
      rmSync(file, { force: true });
      throw error;
    }
    // Another process may have had this number, and moved its file meanwhile.
    if (!existsSync(join(folder, nameCall(n, true)))) break;
    rmSync(file);
  }
  if (n % pruneEvery === 0) pruneLog(folder, nowMs);
  return n;
}

/** Adds to an entry, unless it was removed; one that failed is kept longest. Errors: those of the file system. */
export function completeEntry(folder: string, n: number, part: EntryPart): void {
  const [plain, failed] = [join(folder, nameCall(n, false)), join(folder, nameCall(n, true))];
  const file = [plain, failed].find((each) => existsSync(each));
  if (file === undefined) return;
  writeLine(file, part, O_APPEND);
  if (part._sotra?.error !== undefined) renameSync(file, failed);
}

export function countCalls(folder: string): number {
  return listCalls(folder).length;
}

/** Errors: those of the file system. */
export function clearLog(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
}

/** Removes what is too old, and of the rest what is too much: the oldest that did not fail, then the oldest. */
function pruneLog(folder: string, nowMs: number): void {
  const files = listCalls(folder).flatMap((file) => {
    const found = statSync(join(folder, file.name), { throwIfNoEntry: false });
    return found === undefined ? [] : [{ ...file, bytes: found.size, isOld: nowMs - found.mtimeMs > maxAgeMs }];
  });
  const older = files.slice(0, -alwaysKept);
  const inTurn = [...older.filter(({ hasFailed }) => !hasFailed), ...older.filter(({ hasFailed }) => hasFailed)];
  let [count, bytes] = [files.length, files.reduce((sum, file) => sum + file.bytes, 0)];
  for (const file of [...files.filter(({ isOld }) => isOld), ...inTurn.filter(({ isOld }) => !isOld)]) {
    if (!file.isOld && count <= maxCalls && bytes <= maxBytes) break;
    rmSync(join(folder, file.name), { force: true });
    count -= 1;
    bytes -= file.bytes;
  }
}

function nameCall(n: number, hasFailed: boolean): string {
  return `${String(n).padStart(6, '0')}${hasFailed ? '.failed' : ''}.json`;
}

/** In the order of their numbers. */
export function listCalls(folder: string): CallFile[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .flatMap((name) => {
      const [, digits, failed] = /^(\d{6,15})(\.failed)?\.json$/.exec(name) ?? [];
      return digits === undefined ? [] : [{ number: Number(digits), name, hasFailed: failed !== undefined }];
    })
    .sort((a, b) => a.number - b.number);
}

function writeLine(file: string, line: object, flags: number): void {
  const handle = openStateFile(file, O_WRONLY | flags);
  try {
    writeFileSync(handle, `${JSON.stringify(line)}\n`);
  } finally {
    closeSync(handle);
  }
}

/** Errors: those of the file system. */
export function keepFailedCommand(folder: string, failed: FailedCommand): void {
  makeFolder(folder);
  replaceFile(join(folder, failedCommandFile), JSON.stringify(failed));
}
