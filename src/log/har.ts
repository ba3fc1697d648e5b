import {
  closeSync,
  constants,
  existsSync,
  fchmodSync,
  fstatSync,
  ftruncateSync,
  lstatSync,
  readSync,
  statSync,
  writeSync,
} from 'node:fs';
import { z } from 'zod';
import { messageOf, SotraError } from '../errors.ts';
import { openStateFile, readStateFile, refuseOther } from '../files/durable-file.ts';
import { type LockWorld, withLock } from '../files/lock.ts';
import { parseJson, tryParseJson } from '../model/json.ts';
import { extendEntry, type HarEntry, harEntrySchema, type Keeper, type LogEntry } from './entry.ts';

const maxFileBytes = 64 * 1024 * 1024;

/** An HTTP archive (HAR 1.2) of these entries. */
export function wrapInHar(entries: readonly HarEntry[], version: string) {
  return { log: { version: '1.2', creator: { name: 'sotra', version }, entries } };
}

const harSchema = z.object({ log: z.object({ entries: z.array(harEntrySchema) }) });

/** The entries of an HTTP archive, ours or a browser's, that have an answer. Errors: `local-file`, beginning with the label. */
export function readHar(file: string, label: string): HarEntry[] {
  const refuse = (what: string, hint: string, cause?: unknown) =>
    new SotraError('local-file', `${label}: ${what}`, { hint, cause });
  const howTo = 'sotra --record <file.har> writes one; browsers save one in their network tools.';
  if (!existsSync(file)) throw refuse('there is no such file', howTo);
  const found = statSync(file);
  if (found.isDirectory()) throw refuse('is a folder: a recording is one file (HAR)', howTo);
  if (found.size > maxFileBytes)
    throw refuse(
      `is a file of ${Math.round(found.size / 1024 ** 2)} MB, and at most ${maxFileBytes / 1024 ** 2} MB are read`,
      'Save fewer requests: filter them by the address of the service.',
    );
  try {
    const { log } = harSchema.parse(parseJson(readStateFile(file).replace(/^\uFEFF/, '')));
    const answered = log.entries.filter(({ request, response }) => response.status > 0 && URL.canParse(request.url));
    if (answered.length > 0) return answered;
  } catch (cause) {
    if (cause instanceof SotraError) throw cause;
    throw refuse('is not an HTTP archive (HAR)', howTo, cause);
  }
  throw refuse('holds no answer', howTo);
}

/** The body of an answer as text. */
export function readText({ response: { content } }: HarEntry): string {
  const { text = '', encoding } = content;
  return encoding === 'base64' ? Buffer.from(text, 'base64').toString() : text;
}

// Each entry is a line, so that what a killed process left can be mended, and the file is whole after each of them.
const start = '{"log":{"version":"1.2","creator":{"name":"sotra"';
const tail = '\n]}}\n';

/**
 * Appends calls to an HTTP archive of mode 0600, with other processes too. Errors: `local-file` for what is no file that `--record` wrote,
 * and where it cannot be written.
 */
export async function openHarFile(file: string, version: string, world: LockWorld): Promise<Keeper> {
  const head = `${start},"version":${JSON.stringify(version)}},"entries":[`;
  const append = async (entry?: LogEntry) => {
    try {
      if (statSync(file, { throwIfNoEntry: false })?.isDirectory())
        throw new Error('is a folder, and the calls of all commands go to one file');
      await withLock(`${file}.lock`, world, async () => appendEntry(file, head, entry));
    } catch (cause) {
      throw new SotraError('local-file', `--record ${file}: ${messageOf(cause)}`, {
        hint: 'Name another file, such as answers.har.',
        cause,
      });
    }
  };
  await append();
  let last: Promise<void> = Promise.resolve();
  return {
    maxBodyBytes: Number.POSITIVE_INFINITY,
    begin: (entry) => (part) => {
      last = last.then(() => append(extendEntry(entry, part)));
      return last;
    },
    close: () => last,
  };
}

function appendEntry(file: string, head: string, entry: LogEntry | undefined): void {
  refuseOther(file, lstatSync(file, { throwIfNoEntry: false }));
  const handle = openStateFile(file, constants.O_RDWR | constants.O_CREAT);
  try {
    fchmodSync(handle, 0o600);
    if (fstatSync(handle).size === 0) writeWhole(handle, head + tail, 0);
    const { end, isFirst } = findEnd(handle);
    if (entry === undefined) return;
    const text = `${isFirst ? '' : ','}\n${JSON.stringify(entry)}${tail}`;
    if (end + Buffer.byteLength(text) > maxFileBytes)
      throw new Error(`is full: it holds ${maxFileBytes / 1024 ** 2} MB`);
    try {
      writeWhole(handle, text, end);
    } catch (error) {
      // A disk that is full cuts a write short.
      ftruncateSync(handle, end);
      writeWhole(handle, tail, end);
      throw error;
    }
  } finally {
    closeSync(handle);
  }
}

/** Where the next entry goes. What a killed process left behind the last whole entry is removed. Errors: for a file of somebody else. */
function findEnd(handle: number): { end: number; isFirst: boolean } {
  const { size } = fstatSync(handle);
  if (size > maxFileBytes) throw new Error(`is full: it holds ${maxFileBytes / 1024 ** 2} MB`);
  const ends = readPart(handle, size - tail.length, tail.length);
  if (readPart(handle, 0, start.length) !== start) throw new Error('is not a file that --record wrote');
  if (ends === tail) return { end: size - tail.length, isFirst: readPart(handle, size - tail.length - 1, 1) === '[' };
  const [first = '', ...lines] = readPart(handle, 0, size).split('\n');
  const cut = lines.findIndex((line) => tryParseJson(line.replace(/,$/, '')) === undefined);
  const whole = [first, ...lines.slice(0, cut === -1 ? undefined : cut)].join('\n').replace(/,$/, '');
  const end = Buffer.byteLength(whole);
  ftruncateSync(handle, end);
  writeWhole(handle, tail, end);
  return { end, isFirst: cut === 0 };
}

function readPart(handle: number, from: number, length: number): string {
  const bytes = Buffer.alloc(length);
  return bytes.subarray(0, readSync(handle, bytes, 0, length, Math.max(0, from))).toString();
}

function writeWhole(handle: number, text: string, at: number): void {
  const bytes = Buffer.from(text);
  for (let done = 0; done < bytes.length; ) done += writeSync(handle, bytes, done, bytes.length - done, at + done);
}
