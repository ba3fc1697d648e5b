import { closeSync, constants, fstatSync, fsync, ftruncateSync, readSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { crc32 } from 'node:zlib';
import { SotraError } from '../errors.ts';
import { parseJson } from '../model/json.ts';
import { openStateFile, syncFolder } from './durable-file.ts';

export interface LogFile {
  /** Adds a line; it survives the end of this process, and after `flush` a crash of the machine. */
  append: (entry: object) => void;
  /** Resolves when everything appended so far is safe on disk; calls that come together share one sync. */
  flush: () => Promise<void>;
  close: () => void;
}

const pieceBytes = 64 * 1024;
const lineEnd = 0x0a;

/** Opens a log to append to (created with mode 0600). A last line that was cut off by a crash is dropped: it was never acknowledged. */
export function openLog(file: string): LogFile {
  const handle = openStateFile(file, constants.O_RDWR | constants.O_APPEND | constants.O_CREAT);
  let size = endOfLastLine(handle);
  if (size < fstatSync(handle).size) ftruncateSync(handle, size);
  if (size === 0) syncFolder(dirname(file));
  let hasRest = false;
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
      const line = Buffer.from(`${checkedLine(entry)}\n`);
      // A full disk may have taken a part of the last line.
      if (hasRest) ftruncateSync(handle, size);
      hasRest = true;
      for (let written = 0; written < line.length; ) written += writeSync(handle, line, written);
      hasRest = false;
      size += line.length;
    },
    flush: () => {
      if (syncing === undefined) return start();
      // The running sync may miss what was appended meanwhile.
      const again = () => {
        next = undefined;
        return start();
      };
      next ??= syncing.then(again, again);
      return next;
    },
    close: () => {
      if (hasRest) ftruncateSync(handle, size);
      closeSync(handle);
    },
  };
}

function endOfLastLine(handle: number): number {
  const piece = Buffer.alloc(pieceBytes);
  for (let end = fstatSync(handle).size; end > 0; ) {
    const start = Math.max(0, end - pieceBytes);
    const at = piece.subarray(0, readSync(handle, piece, 0, end - start, start)).lastIndexOf(lineEnd);
    if (at !== -1) return start + at + 1;
    end = start;
  }
  return 0;
}

export function readLog<Entry>(file: string): Entry[] {
  return [...readEntries<Entry>(file)];
}

/** The same, one entry in memory at a time. */
export function* readEntries<Entry>(file: string): Generator<Entry> {
  let number = 0;
  for (const bytes of readLines(file)) {
    // A crash leaves a part of a line: one that lacks only its end was acknowledged.
    if (bytes.at(-1) !== lineEnd && !isChecked(bytes.toString('utf8', 0, bytes.length - 1))) break;
    number += 1;
    yield parseEntry<Entry>(bytes, file, number);
  }
}

/** The bytes of a file as it is now, in pieces that share their memory. Errors: as in `openStateFile`. */
function* readPieces(file: string): Generator<Buffer> {
  const handle = openStateFile(file);
  try {
    const piece = Buffer.alloc(pieceBytes);
    for (let left = fstatSync(handle).size; left > 0; ) {
      const length = readSync(handle, piece, 0, Math.min(left, pieceBytes), null);
      if (length === 0) return;
      left -= length;
      yield piece.subarray(0, length);
    }
  } finally {
    closeSync(handle);
  }
}

function* readLines(file: string): Generator<Buffer> {
  try {
    let parts: Buffer[] = [];
    for (const bytes of readPieces(file)) {
      let start = 0;
      for (let at = bytes.indexOf(lineEnd); at !== -1; at = bytes.indexOf(lineEnd, start)) {
        yield Buffer.concat([...parts, bytes.subarray(start, at + 1)]);
        parts = [];
        start = at + 1;
      }
      parts.push(Buffer.from(bytes.subarray(start)));
    }
    const rest = Buffer.concat(parts);
    if (rest.length > 0) yield rest;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw damaged(`cannot read ${file}: ${(error as Error).message}`, error);
  }
}

function parseEntry<Entry>(bytes: Buffer, file: string, line: number): Entry {
  try {
    if (bytes.at(-1) !== lineEnd) throw new Error('its line end is missing');
    return readCheckedLine(bytes.toString('utf8', 0, bytes.length - 1)) as Entry;
  } catch (cause) {
    throw damagedLine(file, line, cause);
  }
}

const writeSum = (text: string) => `,"crc":"${crc32(text).toString(16).padStart(8, '0')}"}`;
const sumLength = writeSum('').length;

export function checkedLine(entry: object): string {
  const text = JSON.stringify(entry).slice(0, -1);
  return text + writeSum(text);
}

export function readCheckedLine(line: string): object {
  if (!isChecked(line)) throw new Error('its checksum does not fit');
  return parseJson(`${line.slice(0, -sumLength)}}`) as object;
}

const isChecked = (line: string) => line.slice(-sumLength) === writeSum(line.slice(0, -sumLength));

/** The error for a line of a log that its reader does not understand. */
export function damagedLine(file: string, line: number, cause?: unknown): SotraError {
  return damaged(`${file} is damaged at line ${line}`, cause);
}

/** The error for a log of another version; `whole` is what to move away with it. */
export function otherVersion(file: string, whole = file): SotraError {
  return new SotraError('local-file', `${file} was written by another version of sotra`, {
    hint: `Update sotra, or move ${whole} away to start over.`,
  });
}

function damaged(message: string, cause?: unknown): SotraError {
  return new SotraError('local-file', message, {
    hint: 'Move it away with its folder; what it recorded is lost then.',
    cause,
  });
}
