import { randomUUID } from 'node:crypto';
import {
  closeSync,
  fstatSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import type { World } from './context.ts';

/**
 * Puts a file (mode 0600) in the place of what is there: at every moment, also after a crash, there is the old one or the new one, whole.
 * Errors: those of the file system; the old one is then left as it was.
 */
export function replaceFile(file: string, text: string): void {
  fromDraft(file, text, (draft) => renameSync(draft, file));
}

/** Makes a file (mode 0600) with its content in one step; false where there is one of that name. Errors: those of the file system. */
export function createFile(file: string, text: string): boolean {
  try {
    // A link is made only where nothing of that name is; a rename would replace it.
    fromDraft(file, text, (draft) => linkSync(draft, file));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

function fromDraft(file: string, text: string, settle: (draft: string) => void): void {
  const draft = draftOf(file);
  try {
    const handle = openSync(draft, 'wx', 0o600);
    try {
      writeFileSync(handle, text);
      fsyncSync(handle);
      removeOldDrafts(dirname(file), fstatSync(handle).mtimeMs);
    } finally {
      closeSync(handle);
    }
    settle(draft);
  } finally {
    rmSync(draft, { force: true });
  }
  syncFolder(dirname(file));
}

/** A new name beside a file for what is to take its place; `removeOldDrafts` knows it. Never throws. */
export function draftOf(file: string): string {
  return `${file}.sotra-${randomUUID().slice(0, 8)}.tmp`;
}

const draftName = /\.sotra-[0-9a-f]{8}\.tmp$|^config\.json\.tmp-[0-9a-f]{16}$/;
/** A draft lives for some milliseconds; one of this age belongs to a process that was killed. */
const oldMs = 600_000;

/** Removes the drafts that killed processes left in a folder; `nowMs` by the clock of the disk, which need not be ours. Never throws. */
function removeOldDrafts(folder: string, nowMs: number): void {
  try {
    for (const name of readdirSync(folder)) {
      if (!draftName.test(name)) continue;
      const draft = join(folder, name);
      if (nowMs - statSync(draft).mtimeMs > oldMs) rmSync(draft, { force: true });
    }
  } catch {
    // Another process removes them just now, or the folder may not be listed: the next write looks again.
  }
}

/**
 * A new folder of its own for a process to work in, named after a kind and the process. Those of the kind that dead processes left are
 * removed. Errors: those of the file system.
 */
export function draftFolder(parent: string, kind: string, { pid, system }: Pick<World, 'pid' | 'system'>): string {
  for (const name of readdirSync(parent)) {
    const [, of, owner] = /^([a-z]+)-(\d+)-/.exec(name) ?? [];
    if (of === kind && !system.isAlive(Number(owner))) rmSync(join(parent, name), { recursive: true, force: true });
  }
  const folder = join(parent, `${kind}-${pid}-${randomUUID().slice(0, 8)}`);
  mkdirSync(folder, { mode: 0o700 });
  return folder;
}

/** Makes a folder's entries (new and renamed files) safe on disk. Never throws. */
export function syncFolder(folder: string): void {
  try {
    const handle = openSync(folder, 'r');
    fsyncSync(handle);
    closeSync(handle);
  } catch {
    // Windows does not open folders; its renames are safe without.
  }
}
