import { constants, existsSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { dataDirectory } from '../lib/config/config.ts';
import { readEnv } from '../lib/config/service.ts';
import { tryLock } from '../lib/files/database.ts';
import { makeFolder, writeStateFile } from '../lib/files/durable-file.ts';
import type { Io } from '../lib/io.ts';
import type { FailedCommand, LogEntry } from './entry.ts';

/** The newest first. */
export const logFiles = ['calls.ndjson', 'calls.1.ndjson', 'calls.2.ndjson'] as const;
const maxFileBytes = 16 * 1024 * 1024;

/** The folder of the log and the last boards. Errors: as `dataDirectory`. */
export function findHistory(io: Pick<Io, 'env' | 'system'>): string {
  return join(dataDirectory(io), 'history');
}

/** Whether SOTRA_HISTORY=0 turns the history off. */
export function isHistoryOff({ env }: Pick<Io, 'env'>): boolean {
  return readEnv(env, 'SOTRA_HISTORY') === '0';
}

/** Appends one line with one write, so that processes do not mix theirs; a full file is put aside first. Errors: those of the file system. */
export function appendLine(folder: string, line: LogEntry | FailedCommand): void {
  makeFolder(folder);
  const newest = join(folder, logFiles[0]);
  if (isFull(newest)) putAside(folder);
  // The line end comes first: a line that a killed process left torn does not damage this one.
  writeStateFile(newest, `\n${JSON.stringify(line)}`, constants.O_APPEND);
}

function isFull(file: string): boolean {
  return (statSync(file, { throwIfNoEntry: false })?.size ?? 0) >= maxFileBytes;
}

function putAside(folder: string): void {
  const release = tryLock(join(folder, 'calls.lock'));
  // Another process does it.
  if (release === undefined) return;
  try {
    const [newest, second, oldest] = logFiles.map((name) => join(folder, name)) as [string, string, string];
    if (!isFull(newest)) return;
    if (existsSync(second)) renameSync(second, oldest);
    renameSync(newest, second);
  } finally {
    release();
  }
}

/** Errors: those of the file system. */
export function clearHistory(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
}
