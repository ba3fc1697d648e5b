import { isUtf8 } from 'node:buffer';
import { closeSync, constants, createReadStream, fstatSync, openSync, statSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { Socket } from 'node:net';
import { addAbortSignal } from 'node:stream';
import { hidden } from '../../client/secrets.ts';
import { readMessage, SotraError, usageError } from '../../errors.ts';
import { collectBytes, type Io } from '../io.ts';
import { requireFolder, warnOfReaders } from './durable-file.ts';
import { type FileBytes, isUtf16, maxLineBytes, redactText, refuseUtf16 } from './text-file.ts';

export interface Input {
  /** The signal ends the wait for who writes to a pipe. */
  in: AsyncIterable<Uint8Array> & { signal?: AbortSignal };
}

/** The bytes of the file of a flag, or of stdin for `-`, as they arrive. Errors while it is read: `local-file` naming both; `interrupted`. */
export function openBytes(file: string, input: Input, flag?: string): FileBytes {
  const label = flag === undefined ? file : `${flag} ${file}`;
  if (file === '-') return { name: 'stdin', bytes: input.in };
  return { name: file, bytes: readNamed(file, label, input.in.signal) };
}

/** Opening a pipe would wait for its writer, in a thread that nothing can stop. Windows has no such pipes. */
const readNow = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

async function* readNamed(file: string, label: string, signal?: AbortSignal): AsyncGenerator<Uint8Array> {
  try {
    const fd = openSync(file, readNow);
    // Readers of a file check the signal themselves.
    const isPipe = fstatSync(fd).isFIFO();
    if (!isPipe) return yield* createReadStream('', { fd, highWaterMark: 256 * 1024 });
    const pipe = new Socket({ fd, readable: true, writable: false });
    yield* signal === undefined ? pipe : addAbortSignal(signal, pipe);
  } catch (cause) {
    if (signal?.aborted) throw new SotraError('interrupted', `interrupted while reading ${file}`, { cause });
    throw new SotraError('local-file', `${label}: ${whyUnreadable(cause)}`, {
      hint: 'Check its path and its permissions.',
      cause,
    });
  }
}

function whyUnreadable(cause: unknown): string {
  const { code } = cause as NodeJS.ErrnoException;
  return code === 'ENOENT' ? 'no such file' : `cannot be read: ${readMessage(cause)}`;
}

/** The bytes of a file, or of stdin for `-`. `label` names it in errors, such as `--file x`. Errors: `local-file` for none; `usage` for a folder. */
export function openSource(file: string, io: Input, label: string): FileBytes {
  const found = file === '-' ? undefined : statSync(file, { throwIfNoEntry: false });
  if (file !== '-' && found === undefined)
    throw new SotraError('local-file', `${label}: no such file`, { hint: 'Check its path.' });
  if (found?.isDirectory()) throw usageError(`${label}: a folder, not a file`);
  return openBytes(file, io);
}

interface ReadOptions {
  /** The flag that named the file. */
  flag?: string;
  maxBytes?: number;
}

/** All of a file, or of stdin for `-`. Errors: `local-file`; `usage` if it is larger than `maxBytes`. */
export async function readWhole(
  file: string,
  input: Input,
  { flag, maxBytes = maxLineBytes }: ReadOptions = {},
): Promise<Buffer> {
  const { name, bytes } = openBytes(file, input, flag);
  const all = await collectBytes(bytes, maxBytes);
  if (all === undefined) throw usageError(`${name} is larger than ${maxBytes / 1024 / 1024} MB`);
  return all;
}

/** The text of a small file, or of stdin for `-`. Errors: those of `readWhole` and `decodeText`. */
export async function readText(file: string, input: Input, options?: ReadOptions): Promise<string> {
  return decodeText(await readWhole(file, input, options), file);
}

/**
 * The text of a small file or of stdin (`-`), without a byte order mark, nothing else lost or replaced. Errors: `usage` for UTF-16, and
 * naming the first byte that is not UTF-8.
 */
export function decodeText(bytes: Uint8Array, file: string): string {
  const name = file === '-' ? 'stdin' : file;
  // Of an odd length it is a text with a NUL, which its reader refuses.
  if (bytes.length % 2 === 0 && isUtf16(bytes)) throw refuseUtf16(name);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw usageError(`${name} is not UTF-8 text: see byte ${findWrongByte(bytes)}`, 'Save it as UTF-8.');
  }
}

/** The place, from 1, of the first byte that is not UTF-8. */
function findWrongByte(bytes: Uint8Array): number {
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
  // The text before a replaced byte encodes to the same bytes.
  for (let at = text.indexOf('\uFFFD'); at !== -1; at = text.indexOf('\uFFFD', at + 1)) {
    const place = Buffer.byteLength(text.slice(0, at));
    if (!isUtf8(bytes.subarray(place, place + 3))) return place + 1;
  }
  return bytes.length;
}

/**
 * Opens and empties the file of a flag such as `--rejects`, if one is given, after `confirm`. Errors: `usage` if it is one of the inputs, under
 * any name; those of `confirm` and of the file system.
 */
export async function openOutput(
  flag: string,
  path: string | undefined,
  inputs: readonly (string | undefined)[],
  confirm?: (path: string) => Promise<void>,
): Promise<FileHandle | undefined> {
  if (path === undefined) return undefined;
  for (const file of inputs)
    if (file !== undefined && isSameFile(file, path))
      throw usageError(`${flag} ${path}: that is ${file}, which would be emptied`, 'Name another file.');
  await confirm?.(path);
  try {
    // A pipe that nobody reads would keep this waiting.
    if (statSync(path, { throwIfNoEntry: false })?.isFIFO())
      closeSync(openSync(path, constants.O_WRONLY | constants.O_NONBLOCK));
  } catch {
    throw usageError(`${flag} ${path}: nobody reads from this pipe`, 'Start its reader first, or name a file.');
  }
  requireFolder(flag, path);
  return open(path, 'w', 0o600);
}

/** Whether two names are of one file. */
export function isSameFile(one: string, other: string): boolean {
  const [a, b] = [one, other].map((file) => statSync(file, { bigint: true, throwIfNoEntry: false }));
  return a !== undefined && b?.ino === a.ino && b.dev === a.dev;
}

const secretFileHint = 'sotra webhook sync --url <url> --file <file> --secret-file <file> writes one.';

interface SecretReader {
  io: Io;
  warn: (text: string) => void;
}

/**
 * The secrets in files of the user, one a line, without comments (#) and empty lines. Warns if others may read a file. Errors: `local-file` naming
 * the file; `interrupted`.
 */
export async function readOwnSecrets(files: readonly string[], context: SecretReader): Promise<string[]> {
  const secrets: string[] = [];
  for (const file of files) {
    warnOfReaders(file, context);
    secrets.push(...(await readSecrets(file, context)));
  }
  return secrets;
}

async function readSecrets(file: string, { io }: SecretReader): Promise<string[]> {
  let text: string;
  try {
    text = decodeText(await readWhole(file, io), redactText(file));
  } catch (cause) {
    if (cause instanceof SotraError && cause.code !== 'local-file') throw cause;
    // Perhaps the secret itself was given instead of its file: only the words of the system are quoted.
    const message = `--secret-file ${redactText(file)}: ${whyUnreadable((cause as Error).cause)}`;
    throw new SotraError('local-file', message, { hint: secretFileHint, cause });
  }
  const secrets = text.split('\n').flatMap((line) => (/^\s*(#.*)?$/.test(line) ? [] : [line.trim()]));
  if (secrets.includes(hidden))
    throw new SotraError('local-file', `--secret-file ${file}: holds ${hidden} instead of a secret`, {
      hint: secretFileHint,
    });
  if (secrets.length > 0) return secrets;
  throw new SotraError('local-file', `--secret-file ${file}: holds no secret`, { hint: secretFileHint });
}
