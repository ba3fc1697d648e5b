import {
  appendFile,
  closeSync,
  constants,
  createReadStream,
  existsSync,
  fstatSync,
  fsync,
  ftruncateSync,
  readSync,
} from 'node:fs';
import { promisify } from 'node:util';
import { openStateFile, replaceFile, syncFolder } from '../lib/files/durable-file.ts';
import { compareLines, packLines } from './address-lines.ts';
import type { AddressList } from './read-addresses.ts';
import { confirmedFile, type Upload } from './state.ts';

function hasConfirmed(upload: Upload): boolean {
  return upload.confirmedOf !== null && upload.confirmedOf === upload.state.uid && existsSync(confirmedFile(upload));
}

/** The addresses that the webhook of an upload confirmed, in batches. The rest of a line that a crash cut off is dropped. */
async function* readConfirmed(upload: Upload): AsyncGenerator<readonly string[]> {
  const fd = openStateFile(confirmedFile(upload));
  let rest = '';
  for await (const text of createReadStream('', { fd, encoding: 'utf8', highWaterMark: 65_536 })) {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    yield lines;
  }
}

/** Removes the confirmed addresses from a list; returns those that are not in it. */
export async function takeConfirmed(upload: Upload, list: AddressList): Promise<string[]> {
  if (!hasConfirmed(upload)) return [];
  const { missing, surplus } = await compareLines(list.left, readConfirmed(upload));
  list.left = missing;
  return surplus;
}

/** Forgets that a list was confirmed. */
export async function dropConfirmed(upload: Upload, { left }: AddressList): Promise<void> {
  if (upload.isReadOnly || !hasConfirmed(upload)) return;
  const { surplus } = await compareLines(left, readConfirmed(upload));
  replaceFile(confirmedFile(upload), packLines(surplus).toString());
}

const [append, sync] = [promisify(appendFile), promisify(fsync)];

/** Opens confirmed.txt, to which each chunk is appended. */
export function openConfirmed(upload: Upload) {
  const handle = openStateFile(confirmedFile(upload), constants.O_RDWR | constants.O_APPEND | constants.O_CREAT);
  ftruncateSync(handle, endOfLastLine(handle));
  syncFolder(upload.folder);
  let waiting: Buffer[] = [];
  let flushed = Promise.resolve();
  const flush = async () => {
    const lines = Buffer.concat(waiting);
    waiting = [];
    if (lines.length === 0) return;
    await append(handle, lines);
    await sync(handle);
  };
  return {
    /** Resolves when the addresses are safe on disk; one sync serves all that came meanwhile. */
    add: (lines: Buffer): Promise<void> => {
      waiting.push(lines);
      flushed = flushed.then(flush);
      return flushed;
    },
    close: () => closeSync(handle),
  };
}

function endOfLastLine(handle: number): number {
  const { size } = fstatSync(handle);
  const tail = Buffer.alloc(Math.min(size, 65_536));
  readSync(handle, tail, 0, tail.length, size - tail.length);
  return size - tail.length + tail.lastIndexOf('\n') + 1;
}
