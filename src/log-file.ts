import { closeSync, fsync, ftruncateSync, openSync, readFileSync, readSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { syncFolder } from './durable-file.ts';
import { SotraError } from './errors.ts';

/** A line's place in a file, in bytes. */
export interface Span {
  offset: number;
  length: number;
}

/** An append-only file of JSON lines. */
export interface LogFile {
  /** Adds a line and gives its place in bytes; it survives the end of this process, and with `flush` that of the machine. */
  append: (entry: object) => Span;
  /** The entry at a place. */
  read: (span: Span) => unknown;
  /** Resolves when everything appended so far is safe on disk; calls that come together share one sync. */
  flush: () => Promise<void>;
  close: () => void;
}

/**
 * Opens a log to append to (made if absent, mode 0600). A last line that was cut off by a crash is dropped: it was never acknowledged.
 */
export function openLog(file: string): LogFile {
  const handle = openSync(file, 'a+', 0o600);
  const bytes = readFileSync(handle);
  const whole = bytes.lastIndexOf(0x0a) + 1;
  if (whole < bytes.length) ftruncateSync(handle, whole);
  if (whole === 0) syncFolder(dirname(file));
  let size = whole;
  let syncing: Promise<void> | undefined;
  let next: Promise<void> | undefined;
  const sync = () =>
    new Promise<void>((resolve, reject) => fsync(handle, (error) => (error ? reject(error) : resolve())));
  const start = (): Promise<void> => {
    syncing = sync().finally(() => {
      syncing = undefined;
    });
    return syncing;
  };
  return {
    append: (entry) => {
      const line = Buffer.from(`${JSON.stringify(entry)}\n`);
      const span = { offset: size, length: line.length };
      try {
        for (let written = 0; written < line.length; ) written += writeSync(handle, line, written);
      } catch (error) {
        // What a full disk still took of the line goes, or the next line would be joined to it.
        ftruncateSync(handle, size);
        throw error;
      }
      size += line.length;
      return span;
    },
    read: ({ offset, length }) => {
      const line = Buffer.alloc(length);
      readSync(handle, line, 0, length, offset);
      return JSON.parse(line.toString());
    },
    flush: () => {
      if (syncing === undefined) return start();
      // What was appended while a sync runs may not be part of it: all who come now share the one after.
      next ??= syncing.then(
        () => {
          next = undefined;
          return start();
        },
        () => {
          next = undefined;
          return start();
        },
      );
      return next;
    },
    close: () => closeSync(handle),
  };
}

/** The entries of a log, a cut-off last line left out; empty where there is no file. Errors: `local-file` naming file and line. */
export function readLog<Entry>(file: string): Entry[] {
  return [...readSpans<Entry>(file)].map(({ entry }) => entry);
}

/** The entries of a log with their places; otherwise as readLog. */
export function* readSpans<Entry>(file: string): Generator<{ entry: Entry; span: Span }> {
  let bytes: Buffer;
  try {
    bytes = readFileSync(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw damaged(`cannot read ${file}: ${(error as Error).message}`, error);
  }
  let [offset, line] = [0, 1];
  for (let end = bytes.indexOf(0x0a); end !== -1; end = bytes.indexOf(0x0a, offset)) {
    const span = { offset, length: end + 1 - offset };
    yield { entry: parseEntry<Entry>(bytes.toString('utf8', offset, end), file, line), span };
    offset = end + 1;
    line += 1;
  }
}

function parseEntry<Entry>(text: string, file: string, line: number): Entry {
  try {
    const entry = JSON.parse(text);
    if (typeof entry === 'object' && entry !== null && !Array.isArray(entry)) return entry;
    throw new Error('it is not an object');
  } catch (cause) {
    throw damagedLine(file, line, cause);
  }
}

/** The error for a line of a log that says nothing its reader understands. */
export function damagedLine(file: string, line: number, cause?: unknown): SotraError {
  return damaged(`${file} is damaged at line ${line}`, cause);
}

function damaged(message: string, cause?: unknown): SotraError {
  return new SotraError('local-file', message, {
    hint: 'Repair it, or move it away with the folder it is in; what it knew is then forgotten.',
    cause,
  });
}
