import { closeSync, constants, fsync, ftruncateSync, readFileSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { crc32 } from 'node:zlib';
import { parseJson } from '../../api/json.ts';
import { readMessage, SotraError } from '../../errors.ts';
import { openStateFile, readStateBytes, syncFolder } from './durable-file.ts';

export interface LogFile {
  /** Adds a line; it survives the end of this process, and after `flush` a crash of the machine. */
  append: (entry: object) => void;
  /** Resolves when everything appended so far is safe on disk. */
  flush: () => Promise<void>;
  close: () => void;
}

const sync = promisify(fsync);

const lineEnd = 0x0a;

/** Opens a log to append to (created with mode 0600). A last line that was cut off by a crash is dropped: it was never acknowledged. */
export function openLog(file: string): LogFile {
  const handle = openStateFile(file, constants.O_RDWR | constants.O_APPEND | constants.O_CREAT);
  const found = readFileSync(handle);
  let size = found.lastIndexOf(lineEnd) + 1;
  if (size < found.length) ftruncateSync(handle, size);
  if (size === 0) syncFolder(dirname(file));
  let hasRest = false;
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
    flush: () => sync(handle),
    close: () => {
      if (hasRest) ftruncateSync(handle, size);
      closeSync(handle);
    },
  };
}

/** The entries of a log, none without a file. Errors: `local-file` naming the damaged line. */
export function* readLog<Entry>(file: string): Generator<Entry> {
  let bytes: Buffer;
  try {
    bytes = readStateBytes(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw damaged(`cannot read ${file}: ${readMessage(error)}`, error);
  }
  for (let [start, number] = [0, 1]; start < bytes.length; number += 1) {
    const end = bytes.indexOf(lineEnd, start);
    // A crash leaves a part of a line, which is dropped. A whole line that ends in another byte than a line feed is damaged.
    if (end === -1 && !isChecked(bytes.toString('utf8', start, bytes.length - 1))) return;
    yield parseEntry<Entry>(bytes.toString('utf8', start, end === -1 ? bytes.length : end), file, number);
    start = end === -1 ? bytes.length : end + 1;
  }
}

function parseEntry<Entry>(line: string, file: string, number: number): Entry {
  try {
    return readCheckedLine(line) as Entry;
  } catch (cause) {
    throw damagedLine(file, number, cause);
  }
}

const writeSum = (text: string) => `,"crc":"${crc32(text).toString(16).padStart(8, '0')}"}`;
const sumLength = writeSum('').length;

export function checkedLine(entry: object): string {
  const text = JSON.stringify(entry).slice(0, -1);
  return text + writeSum(text);
}

function readCheckedLine(line: string): object {
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
