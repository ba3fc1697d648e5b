import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  fsyncSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { SotraError, usageError } from '../../errors.ts';
import { type Io, platformRules } from '../io.ts';

/**
 * Replaces a file (mode 0600) in one step, even if the process crashes. Errors: those of the file system; `local-file` for a link,
 * folder or device.
 */
export function replaceFile(file: string, text: string): void {
  refuseOther(file, lstatSync(file, { throwIfNoEntry: false }));
  fromDraft(file, text, (draft) => renameSync(draft, file));
}

/** Creates a file (mode 0600) with its content in one step; false if it exists. Errors: those of the file system. */
export function createFile(file: string, text: string): boolean {
  try {
    // A rename would replace a file of that name; a link does not.
    fromDraft(file, text, (draft) => linkSync(draft, file));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** Opens a file that sotra keeps (created with mode 0600). Errors: those of the file system; `local-file` if it is not a regular file. */
export function openStateFile(file: string, flags = constants.O_RDONLY): number {
  // Opening a FIFO would wait for its other end; Windows has neither.
  const handle = openSync(file, flags | (constants.O_NONBLOCK ?? 0), 0o600);
  try {
    refuseOther(file, fstatSync(handle));
    return handle;
  } catch (error) {
    closeSync(handle);
    throw error;
  }
}

/** Appends to a state file (O_APPEND) or replaces its content (O_TRUNC), in one write. */
export function writeStateFile(file: string, text: string, flag: number): void {
  const handle = openStateFile(file, constants.O_WRONLY | constants.O_CREAT | flag);
  try {
    writeFileSync(handle, text);
  } finally {
    closeSync(handle);
  }
}

export function readStateFile(file: string): string {
  return readStateBytes(file).toString();
}

export function readStateBytes(file: string): Buffer {
  const handle = openStateFile(file);
  try {
    return readFileSync(handle);
  } finally {
    closeSync(handle);
  }
}

/** Errors: `local-file` for anything but a regular file. */
export function refuseOther(file: string, found: Stats | undefined): void {
  if (found === undefined || found.isFile()) return;
  const what = found.isDirectory() ? 'a folder' : found.isSymbolicLink() ? 'a link' : 'a pipe, socket or device';
  throw new SotraError('local-file', `${file} is ${what}, not a regular file`, {
    hint: 'Remove it, or name another file.',
  });
}

export function warnOfReaders(file: string, { warn, io }: { warn: (text: string) => void; io: Io }): void {
  const found = platformRules(io.system.platform).hasModes ? statSync(file, { throwIfNoEntry: false }) : undefined;
  if (found?.isFile() && (found.mode & 0o077) !== 0)
    warn(`${file} can be read by other users on this machine: chmod 600 ${file}`);
}

/** Writes a draft beside a file, safe on disk, calls `install` with it, and removes the draft. */
function fromDraft(file: string, text: string, install: (draft: string) => void): void {
  const draft = `${file}.sotra-${randomId()}.tmp`;
  try {
    writeFileSync(draft, text, { flag: 'wx', mode: 0o600, flush: true });
    removeOldDrafts(dirname(file), statSync(draft).mtimeMs);
    install(draft);
  } catch (error) {
    // That of a write has no path, and the name of the draft would explain nothing.
    throw Object.assign(error as Error, { path: file });
  } finally {
    rmSync(draft, { force: true });
  }
  syncFolder(dirname(file));
}

const draftName = /\.sotra-[0-9a-f]{8}\.tmp$|^config\.json\.tmp-[0-9a-f]{16}$/;
/** A draft of this age belongs to a killed process. */
const oldMs = 600_000;

/** Removes the drafts that killed processes left in a folder. `nowMs` by the clock of the disk, which need not be ours. */
export function removeOldDrafts(folder: string, nowMs: number): void {
  try {
    for (const name of readdirSync(folder)) {
      if (!draftName.test(name)) continue;
      const draft = join(folder, name);
      if (nowMs - statSync(draft).mtimeMs > oldMs) rmSync(draft, { force: true });
    }
  } catch {
    // The next write tries again.
  }
}

/** The result of `act`, called with a new temporary folder, which is removed afterwards. Errors: those of the file system. */
export async function withTemporaryFolder<T>(act: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'sotra-preview-'));
  try {
    return await act(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Makes new and renamed files of a folder safe on disk. */
export function syncFolder(folder: string): void {
  try {
    const handle = openSync(folder, 'r');
    fsyncSync(handle);
    closeSync(handle);
  } catch {
    // Windows does not open folders; its renames are safe without.
  }
}

/**
 * Writes the address of a server to files; returns a function that removes them, except one that a later run replaced. Errors: `local-file`;
 * `usage` for a file that holds something else.
 */
export function writeReadyFiles(files: readonly (string | undefined)[], ready: object): () => void {
  const text = `${JSON.stringify(ready, null, 2)}\n`;
  const given = files.filter((file) => file !== undefined);
  const other = given.find((file) => existsSync(file) && !/^\s*$|"pid":/.test(readStateFile(file)));
  if (other !== undefined) throw usageError(`--ready-file ${other}: holds something else`, 'Name another file.');
  for (const file of given) replaceFile(file, text);
  return () => {
    for (const file of given) if (existsSync(file) && readStateFile(file) === text) rmSync(file, { force: true });
  };
}

/** Errors: as `refuseDash`; `local-file` if the folder of a file that a flag names does not exist. */
export function requireFolder(flag: string, file: string): void {
  refuseDash(flag, file);
  const folder = dirname(file);
  if (!existsSync(folder))
    throw new SotraError('local-file', `${flag} ${file}: there is no folder ${folder}`, {
      hint: 'Make it first, or name another file.',
    });
}

/** Errors: `usage` for `-`: stdout is for the result of a command, and a file of that name is a mistake. */
export function refuseDash(flag: string, file: string): void {
  if (file === '-') throw usageError(`${flag} -: must be a file`, 'stdout is for the result.');
}

/**
 * Makes a private folder (mode 0700) and its missing parents. Node's own `recursive` never returns if a parent takes no
 * folders, such as /proc. Errors: those of mkdir.
 */
export function makeFolder(folder: string): void {
  if (isFolder(folder)) return;
  makeFolder(dirname(folder));
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    // Another process may have been sooner.
    if (!isFolder(folder)) throw error;
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** Eight random hex digits, not for secrets. Without `crypto`, whose first use takes 2 ms. */
export function randomId(): string {
  return Math.floor(Math.random() * 2 ** 32)
    .toString(16)
    .padStart(8, '0');
}
