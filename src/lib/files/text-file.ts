import { isAscii, isUtf8 } from 'node:buffer';
import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { BoundsError, parseJson, whyNotJson } from '../../api/json.ts';
import { type SotraError, usageError } from '../../errors.ts';
import { collectBytes } from '../io.ts';

export interface FileBytes {
  name: string;
  bytes: AsyncIterable<Uint8Array>;
}

export interface TextFile {
  name: string;
  /** The first line that is not blank, without its end; empty if there is none. For a JSON array, the part read so far. */
  head: string;
  /** The number of the line after the head. */
  nextLine: number;
  isArray: boolean;
  /** All of it, decompressed, without a byte order mark. */
  chunks: AsyncIterable<Buffer>;
}

export interface Line {
  number: number;
  text: string;
}

/** No line of a file is longer: one without an end would fill the memory. */
export const maxLineBytes = 1024 * 1024;

const maxArrayBytes = 128 * 1024 * 1024;
/** A million addresses, or entries of a few fields. */
const maxArrayValues = 5_000_000;

const lineFeed = 0x0a;

/** Reads a file up to its first line. Errors: `usage` for a damaged gzip file, UTF-16, and lines that end in a carriage return alone. */
export async function openTextFile({ name, bytes }: FileBytes): Promise<TextFile> {
  const chunks = decompress(bytes, name);
  try {
    let start = await readStart(chunks, hasHead);
    if (isUtf16(start)) throw refuseUtf16(name);
    if (start.toString('utf8', 0, 3) === '\uFEFF') start = start.subarray(3);
    const [, blank = '', head = ''] = /^((?:[^\S\n]*\n)*)([^\n]*)/.exec(start.toString()) ?? [];
    const nextLine = blank.split('\n').length + 1;
    const isArray = head.trimStart().startsWith('[');
    if (!isArray && head.trimEnd().includes('\r'))
      throw usageError(
        `${name}: line ${nextLine - 1} holds a carriage return: lines must end with a line feed`,
        "Convert it: tr '\\r' '\\n'.",
      );
    return { name, head: head.replace(/\r$/, ''), nextLine, isArray, chunks: joinBytes(start, chunks) };
  } catch (error) {
    await chunks.return(undefined);
    throw error;
  }
}

/** Whether the first line that is not blank is whole; an array may have no other. */
function hasHead(start: Buffer): boolean {
  const text = start.toString();
  const from = text.search(/\S/);
  return start.length > maxLineBytes || (from !== -1 && (text[from] === '[' || text.includes('\n', from)));
}

export function refuseUtf16(name: string): SotraError {
  return usageError(
    `${name}: UTF-16 text, must be UTF-8`,
    'Convert it: iconv -f UTF-16 -t UTF-8; in PowerShell: Set-Content -Encoding utf8.',
  );
}

export function isUtf16([first, second]: Uint8Array): boolean {
  const isMarked = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
  return isMarked || first === 0 || second === 0;
}

/** The lines of a file that are not blank, in batches. Errors: `usage` naming the line that is longer than 1 MB or not UTF-8; damaged gzip. */
export async function* readLines(file: TextFile): AsyncGenerator<readonly Line[]> {
  let firstLine = 1;
  for await (const lines of readRawLines(file)) {
    const numbered = lines.map((text, index) => ({ number: firstLine + index, text }));
    yield numbered.filter(({ text }) => text.trim() !== '');
    firstLine += lines.length;
  }
}

/** All lines of a file without their ends, in batches. Errors: as `readLines`. */
export async function* readRawLines(file: TextFile): AsyncGenerator<string[]> {
  let number = 1;
  for await (const block of readBlocks(file)) {
    const lines = splitLines(block, file.name, number);
    number += lines.length;
    yield lines;
  }
}

/**
 * The bytes of a file in blocks of whole lines, each with its line end; only lines that lie in two chunks are copied. It ends at a line that
 * is too long, with the beginning of that line as the last block.
 */
export async function* readBlocks({ chunks }: TextFile): AsyncGenerator<Buffer> {
  let [carried, carriedBytes]: [Buffer[], number] = [[], 0];
  for await (const chunk of chunks) {
    const start = carriedBytes === 0 ? 0 : chunk.indexOf(lineFeed) + 1;
    if (start > 0) {
      yield Buffer.concat([...carried, chunk.subarray(0, start)]);
      [carried, carriedBytes] = [[], 0];
    }
    const end = Math.max(start, chunk.lastIndexOf(lineFeed) + 1);
    if (end > start) yield chunk.subarray(start, end);
    carried.push(chunk.subarray(end));
    carriedBytes += chunk.length - end;
    if (carriedBytes > maxLineBytes) break;
  }
  if (carriedBytes > 0) yield Buffer.concat([...carried, Buffer.from('\n')]);
}

/** The lines of a block. Errors: `usage` naming one that is too long or not UTF-8. */
export function splitLines(bytes: Buffer, name: string, firstLine: number): string[] {
  if (bytes.length > maxLineBytes) refuseLongLine(bytes, name, firstLine);
  if (!isUtf8(bytes)) {
    const lines = bytes.toString('latin1').split('\n');
    const line = firstLine + lines.findIndex((text) => !isUtf8(Buffer.from(text, 'latin1')));
    throw usageError(`${name}: line ${line} is not UTF-8 text`);
  }
  // ASCII is the same text in Latin-1, which is decoded twice as fast.
  const lines = bytes.toString(isAscii(bytes) ? 'latin1' : 'utf8').split('\n');
  lines.pop();
  return bytes.includes(0x0d) ? lines.map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line)) : lines;
}

function refuseLongLine(bytes: Buffer, name: string, firstLine: number): void {
  const lines = bytes.toString('latin1').split('\n');
  const long = lines.findIndex(({ length }) => length > maxLineBytes);
  if (long === -1) return;
  throw usageError(
    `${name}: line ${firstLine + long} is longer than ${maxLineBytes / 1024 / 1024} MB`,
    'Is it a text file? One entry a line.',
  );
}

/** The items of a file that is one JSON array. Errors: `usage` for anything else, and for more than 128 MB. */
export async function readItems({ name, chunks }: TextFile): Promise<readonly unknown[]> {
  const refuse = (why: string) => usageError(`${name}: starts with [ and is not a JSON array: ${why}`);
  const bytes = await collectBytes(chunks, maxArrayBytes);
  if (bytes === undefined)
    throw usageError(
      `${name}: a JSON array of more than ${maxArrayBytes / 1024 / 1024} MB`,
      "Give one item a line: jq -c '.[]'.",
    );
  if (!isUtf8(bytes)) throw refuse('it is not UTF-8 text');
  try {
    return parseJson(bytes.toString(), maxArrayValues) as unknown[];
  } catch (cause) {
    if (cause instanceof BoundsError)
      throw usageError(`${name}: ${cause.message}`, "Give one item a line: jq -c '.[]'.");
    throw refuse(whyNotJson(cause));
  }
}

/** The first chunks, until `isEnough`. */
async function readStart(chunks: AsyncIterator<Uint8Array>, isEnough: (start: Buffer) => boolean): Promise<Buffer> {
  let start: Buffer = Buffer.alloc(0);
  while (!isEnough(start)) {
    const next = await chunks.next();
    if (next.done) break;
    start = Buffer.concat([start, next.value]);
  }
  return start;
}

async function* joinBytes(start: Buffer, rest: AsyncIterator<Uint8Array>): AsyncGenerator<Buffer> {
  try {
    yield start;
    for (let next = await rest.next(); !next.done; next = await rest.next()) {
      const { buffer, byteOffset, byteLength } = next.value;
      yield Buffer.from(buffer, byteOffset, byteLength);
    }
  } finally {
    await rest.return?.();
  }
}

async function* decompress(source: AsyncIterable<Uint8Array>, name: string): AsyncGenerator<Buffer> {
  const chunks = source[Symbol.asyncIterator]();
  const start = await readStart(chunks, ({ length }) => length >= 2);
  const all = joinBytes(start, chunks);
  if (start[0] !== 0x1f || start[1] !== 0x8b) return yield* all;
  try {
    // The callback only keeps pipeline from throwing twice: the error also ends the iteration.
    yield* pipeline(Readable.from(all), createGunzip({ chunkSize: 65_536 }), () => undefined);
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && String(cause.code).startsWith('Z_'))
      throw usageError(`${name}: the gzip file is damaged or cut off`, 'Download or create the file again.');
    throw cause;
  }
}

const recoveryPhrase = /^(?:[a-z]{3,8}[\s,;]+){11,23}[a-z]{3,8}$/i;

/** A recovery phrase, a Solana keypair as numbers, a webhook's secret, and text as long as a private key. */
const secretForms = [recoveryPhrase, /(?:\d{1,3}\s*,\s*){31,63}\d{1,3}/, /\bwhsec_/, /[0-9a-z]{60}/i];

/** Mistyped EVM addresses, external ids and names. */
const shownWhole = [/^(?:0x|\\x)\S{0,48}$/i, /^ext:.{0,40}$/, /^[\w.-]{1,56}\.(?:eth|sol|xyz|lens|fc)$/i];
/** Three to eight letters could be a word of a recovery phrase, one a line. */
const plainWord = /^(?![a-z]{3,8}$)[\p{L}_/-]{1,24}$/iu;
/** A Solana address, an EVM address without its 0x, a UUID; keys of services look the same. */
const shownAtItsEnds = /^(?:[0-9a-z]{38,46}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/i;

/**
 * A wrong line of a list of addresses, safe for a message. A mistyped address is quoted (`0x` and up to 48 characters, `ext:` and an id,
 * `x.eth`, `N/A`); text as long as an address without `0x` is shown by its first six and last four characters. Text that looks like a key, a
 * secret or a recovery phrase is only called that; the rest is described by its length.
 */
export function redactLine(text: string): string {
  if (isSecret(text)) return redactText(text);
  if (plainWord.test(text) || shownWhole.some((form) => form.test(text))) return text;
  if (shownAtItsEnds.test(text)) return `${text.slice(0, 6)}…${text.slice(-4)}`;
  return text === '' ? '(empty)' : `(${text.length} character${text.length === 1 ? '' : 's'}, not shown)`;
}

/** The same for the user's own file of rejected lines: only secrets are hidden, and long lines cut. */
export function redactText(text: string): string {
  if (isSecret(text)) return '(looks like a secret, not shown)';
  return text.length > 200 ? `${text.slice(0, 199)}…` : text;
}

/** The first names of a header, safe for a message. */
export function redactColumns(cells: readonly string[]): string {
  const line = cells.join(' ');
  if (recoveryPhrase.test(line)) return redactText(line);
  const names = cells.map((cell) => (/^[\p{L} _-]{1,24}$/u.test(cell) ? cell.trim() : '…'));
  // Five words of a recovery phrase open nothing.
  return [...names.slice(0, 5), ...(names.length > 5 ? ['…'] : [])].join(', ');
}

function isSecret(text: string): boolean {
  return secretForms.some((form) => form.test(text));
}
