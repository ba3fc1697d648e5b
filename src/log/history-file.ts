import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { openStateFile, readStateFile } from '../files/durable-file.ts';
import { takeLock } from '../files/lock.ts';
import { isObject, tryParseJson } from '../model/json.ts';
import type { World } from '../world.ts';

/** A call as it is remembered, secrets hidden. */
export interface PastCall {
  /** Unix milliseconds. */
  atMs: number;
  method: string;
  baseUrl: string;
  /** Absent where another service than that of the context was named. */
  context?: string | undefined;
  /** Behind the base URL, with the query. */
  path: string;
  /** Absent where it was long or held a secret: `bodyBytes` says how long it was. */
  body?: string | undefined;
  bodyBytes?: number | undefined;
  /** Null where no answer came. */
  status: number | null;
  ms: number;
  attempts: number;
  requestId?: string | undefined;
  /** Why it failed. */
  error?: string | undefined;
}

export interface NumberedCall extends PastCall {
  n: number;
}

export const maxCalls = 1000;

/** Each time a file has grown by this much its lines are counted. */
const countEveryBytes = 128 * 1024;

const current = 'current.ndjson';

/**
 * Adds calls to the history in a folder. Lines are added whole, so that processes do not mix theirs; each begins with a line end, which
 * closes one that a full disk cut off. Errors: those of the file system.
 */
export function addCalls(folder: string, calls: readonly PastCall[], world: Pick<World, 'pid' | 'system'>): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const lines = Buffer.from(calls.map((call) => `\n${JSON.stringify(call)}`).join(''));
  // Opened each time: another process may have put the file aside meanwhile.
  const handle = openStateFile(join(folder, current), constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT);
  try {
    writeSync(handle, lines);
    const { size } = fstatSync(handle);
    if (Math.floor(size / countEveryBytes) === Math.floor((size - lines.length) / countEveryBytes)) return;
  } finally {
    closeSync(handle);
  }
  putAside(folder, world);
}

/** The remembered calls, oldest first, numbered from the first that was made. Errors: those of the file system. */
export function readCalls(folder: string): NumberedCall[] {
  const files = filesIn(folder);
  const before = files[0]?.before ?? 0;
  return files
    .flatMap(({ name }) => linesOf(join(folder, name)))
    .flatMap((line, index) => {
      const call = tryParseJson(line);
      // A full disk, or a machine that went down, may have cut a line off.
      return isObject(call) ? [{ ...(call as unknown as PastCall), n: before + index + 1 }] : [];
    })
    .slice(-maxCalls);
}

/** Errors: those of the file system. */
export function removeCalls(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
}

/** Oldest first, each with how many calls were made before it; lines are added to the last. */
function filesIn(folder: string): { name: string; before: number }[] {
  const names = existsSync(folder) ? readdirSync(folder) : [];
  const aside = names
    .flatMap((name) => /^(\d{1,15})\.ndjson$/.exec(name)?.[1] ?? [])
    .map((digits) => ({ name: `${digits}.ndjson`, before: Number(digits) }))
    .sort((a, b) => a.before - b.before);
  return names.includes(current) ? [...aside, { name: current, before: 0 }] : aside;
}

/** Keeps the file with the last calls under the number of those before them, and removes the one before. Nothing is copied: a process that adds to it meanwhile loses nothing. */
function putAside(folder: string, world: Pick<World, 'pid' | 'system'>): void {
  const release = takeLock(join(folder, 'history.lock'), 'the history', world);
  try {
    const files = filesIn(folder).map((file) => ({ ...file, calls: linesOf(join(folder, file.name)).length }));
    if ((files.pop()?.calls ?? 0) < maxCalls) return;
    const { before, calls } = files.at(-1) ?? { before: 0, calls: 0 };
    renameSync(join(folder, current), join(folder, `${before + calls}.ndjson`));
    for (const { name } of files) rmSync(join(folder, name), { force: true });
  } finally {
    release();
  }
}

function linesOf(file: string): string[] {
  return readStateFile(file)
    .split('\n')
    .filter((line) => line !== '');
}
