import { createReadStream, rmSync, type Stats, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { SotraError, usageError } from '../errors.ts';
import { type WorkPlace, workFolder } from './durable-file.ts';
import type { FileBytes } from './text-file.ts';

/** A file that is read more than once. */
export interface Rereadable {
  open: () => FileBytes;
  /** Removes what was kept of stdin. */
  remove: () => void;
}

/** What reading twice needs: stdin, and where to keep it. */
type Place = WorkPlace & { dataDirectory: () => Promise<string> };

/** Where stdin comes from. */
export interface Input {
  in: AsyncIterable<Uint8Array>;
}

/** A file, or stdin for `-`, as it comes. Errors while it is read: `local-file` naming it. */
export function bytesOf(file: string, input: Input, chunkBytes = 65_536): FileBytes {
  return file === '-' ? { name: 'stdin', bytes: input.in } : { name: file, bytes: readFile(file, chunkBytes) };
}

async function* readFile(file: string, highWaterMark: number): AsyncGenerator<Uint8Array> {
  try {
    yield* createReadStream(file, { highWaterMark });
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new SotraError('local-file', `cannot read ${file}: ${why}`, {
      hint: 'Correct its path or its permissions.',
      cause,
    });
  }
}

/** The bytes of a file, or of stdin for `-`. `label`: what leads to it in an error, such as `--file x`. Errors: `usage` for none and for a folder. */
export function openSource(file: string, { io }: { io: Input }, label: string): FileBytes {
  if (file !== '-' && statOf(file, label).isDirectory()) throw usageError(`${label}: a folder, not a file`);
  // Bytes are quicker in large pieces; strings and rows that are made of them are not.
  return bytesOf(file, io, 262_144);
}

/**
 * The same for a file that is read twice: stdin is kept in the data folder while it is read for the first time. Errors: `usage`, also for a
 * pipe that has a name.
 */
export async function openTwice(file: string, context: Place, label: string): Promise<Rereadable> {
  if (file !== '-') {
    if (!statOf(file, label).isFile()) throw usageError(`${label}: not a file`, 'Pipe it in, with - for the file.');
    return { open: () => bytesOf(file, context.world.io), remove: () => undefined };
  }
  const data = await context.dataDirectory();
  let folder: string | undefined;
  const keep = async function* (to: string) {
    const copy = await open(to, 'wx', 0o600);
    try {
      for await (const chunk of context.world.io.in) {
        await copy.appendFile(chunk);
        yield chunk;
      }
    } finally {
      await copy.close();
    }
  };
  return {
    open: () => {
      if (folder !== undefined) return { name: 'stdin', bytes: createReadStream(join(folder, 'content')) };
      folder = workFolder(data, 'stdin', context);
      return { name: 'stdin', bytes: keep(join(folder, 'content')) };
    },
    remove: () => {
      if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
    },
  };
}

function statOf(file: string, label: string): Stats {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found === undefined) throw usageError(`${label}: no such file`);
  return found;
}
