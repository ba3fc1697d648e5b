import { createReadStream, createWriteStream, existsSync, renameSync, rmSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Context } from '../../context.ts';
import { messageOf, SotraError, usageError } from '../../errors.ts';
import { draftOf } from '../../files/durable-file.ts';
import { makeFolder } from '../../files/folder.ts';
import { type BulkEntry, reversed } from './endpoints.ts';

/** A file of entries that undo what was sent, the last sent first. */
export interface UndoFile {
  path: string;
  /** Puts the reversals of entries before all others; on disk when it resolves. */
  prepend: (entries: readonly BulkEntry[]) => Promise<void>;
  /** Reverts the last `prepend`: the service refused those entries. */
  withdraw: () => void;
  /** Removes the blank start; gives the path, or `null` where the file was empty and is removed. */
  finish: () => Promise<string | null>;
}

export function undoBytes(entry: BulkEntry): number {
  return Buffer.byteLength(writeReversal(entry));
}

/**
 * A new undo file of at most `maxBytes`. It starts with blank lines and is filled from its end, so that it is valid at every moment, also
 * after a crash. Errors: `local-file`.
 */
export async function createUndoFile(path: string, maxBytes: number): Promise<UndoFile> {
  const file = await openNew(path);
  await fillBlank(file, maxBytes).catch(async (cause) => {
    await file.close();
    rmSync(path, { force: true });
    throw unwritable(path, cause);
  });
  let start = maxBytes;
  let lastBytes = 0;
  return {
    path,
    prepend: async (entries) => {
      const lines = entries.map(writeReversal).reverse();
      const text = Buffer.from(lines.join(''));
      start -= text.length;
      lastBytes = text.length;
      try {
        // An interrupted write leaves comments, never a part of an entry.
        await writeAt(file, Buffer.from(lines.map((line) => `#${line.slice(1)}`).join('')), start);
        await writeAt(file, text, start);
      } catch (cause) {
        throw unwritable(path, cause);
      }
    },
    withdraw: () => {
      start += lastBytes;
    },
    finish: async () => {
      await file.close();
      if (start === maxBytes) {
        rmSync(path);
        return null;
      }
      if (start > 0) await cutHead(path, start);
      return path;
    },
  };
}

/** Errors: `usage` for a path that exists. */
function checkUndoFile(path: string): void {
  if (existsSync(path)) throw usageError(`--undo-file ${path}: exists already`, 'Choose another name, or move it.');
}

/** Where the undo file goes: the path asked for, or a new name in the data directory. Errors: `usage` for a path that exists. */
export async function undoPath(asked: string | undefined, source: string, context: Context): Promise<string> {
  if (asked !== undefined) {
    checkUndoFile(asked);
    return asked;
  }
  const stem = source === '-' ? 'stdin' : basename(source).replace(/\.(nd)?json$/i, '');
  const at = new Date(context.world.now()).toISOString().replaceAll(/[-:]|\.\d+/g, '');
  const folder = join(await context.dataDirectory(), 'undo');
  for (let copy = 1; ; copy += 1) {
    const path = join(folder, `${stem}-${at}${copy === 1 ? '' : `-${copy}`}.ndjson`);
    if (!existsSync(path)) return path;
  }
}

function writeReversal(entry: BulkEntry): string {
  return `${JSON.stringify(reversed(entry))}\n`;
}

async function openNew(path: string): Promise<FileHandle> {
  try {
    makeFolder(dirname(path));
    return await open(path, 'wx', 0o600);
  } catch (cause) {
    throw unwritable(path, cause);
  }
}

function unwritable(path: string, cause: unknown): SotraError {
  return new SotraError('local-file', `cannot write the undo file ${path}: ${messageOf(cause)}`, {
    hint: 'Choose another place with --undo-file.',
    cause,
  });
}

const blank = Buffer.from(`${' '.repeat(1023)}\n`.repeat(64));

async function writeAt(file: FileHandle, bytes: Uint8Array, start: number): Promise<void> {
  for (let done = 0; done < bytes.length; )
    done += (await file.write(bytes, done, bytes.length - done, start + done)).bytesWritten;
  await file.datasync();
}

async function fillBlank(file: FileHandle, bytes: number): Promise<void> {
  for (let at = 0; at < bytes; )
    at += (await file.write(blank, 0, Math.min(blank.length, bytes - at), at)).bytesWritten;
}

async function cutHead(path: string, start: number): Promise<void> {
  const draft = draftOf(path);
  try {
    await pipeline(createReadStream(path, { start }), createWriteStream(draft, { mode: 0o600, flush: true }));
    renameSync(draft, path);
  } catch {
    // No disk space for a second copy: the blank lines stay, which a reader skips.
    rmSync(draft, { force: true });
  }
}
