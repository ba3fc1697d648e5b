import { randomUUID } from 'node:crypto';
import { closeSync, fsyncSync, linkSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

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
  const draft = `${file}.${randomUUID().slice(0, 8)}.tmp`;
  try {
    const handle = openSync(draft, 'wx', 0o600);
    try {
      writeFileSync(handle, text);
      fsyncSync(handle);
    } finally {
      closeSync(handle);
    }
    settle(draft);
  } finally {
    rmSync(draft, { force: true });
  }
  syncFolder(dirname(file));
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
