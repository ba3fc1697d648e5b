import { isUtf8 } from 'node:buffer';
import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { type SotraError, usageError } from '../errors.ts';

export interface FileBytes {
  name: string;
  bytes: AsyncIterable<Uint8Array>;
}

export interface TextFile {
  name: string;
  /** The first line that is not blank, without its end; empty where there is none. Of a JSON array what was read of it. */
  head: string;
  /** Where the line after the head starts, in bytes, and its number. */
  headEnd: number;
  nextLine: number;
  isArray: boolean;
  /** All of it, decompressed, without a byte order mark; the head comes in one piece. */
  chunks: AsyncIterable<Buffer>;
}

/** Whole lines as UTF-8 bytes, each ending with a line feed. */
export interface Block {
  bytes: Buffer;
  firstLine: number;
  lineCount?: number;
}

export interface Line {
  number: number;
  text: string;
}

/** No line of a file is longer: one without an end would fill the memory. */
export const maxLineBytes = 1024 * 1024;

const [lineFeed, mark] = [0x0a, Buffer.from('\uFEFF')];

/** Reads a file up to its first line. Errors: `usage` for a damaged gzip file, UTF-16, and lines that end in a carriage return alone. */
export async function openTextFile({ name, bytes }: FileBytes): Promise<TextFile> {
  const chunks = decompress(bytes, name);
  try {
    return { name, ...splitHead(await readHead(chunks), chunks, name) };
  } catch (error) {
    await chunks.return(undefined);
    throw error;
  }
}

function splitHead(read: Buffer, rest: AsyncIterator<Buffer>, name: string): Omit<TextFile, 'name'> {
  if (isUtf16(read)) throw usageError(`${name}: UTF-16 text, must be UTF-8`, 'Convert it: iconv -f UTF-16 -t UTF-8.');
  const start = read.subarray(0, mark.length).equals(mark) ? read.subarray(mark.length) : read;
  let [from, nextLine] = [0, 2];
  for (let end = start.indexOf(lineFeed); isBlank(start, from, end); end = start.indexOf(lineFeed, from)) {
    from = end + 1;
    nextLine += 1;
  }
  const end = start.indexOf(lineFeed, from);
  const headEnd = end === -1 ? start.length : end + 1;
  const head = start.toString('utf8', from, headEnd).replace(/\r?\n$/, '');
  const isArray = head.trimStart().startsWith('[');
  if (!isArray && /\r(?!\r|$)/.test(head))
    throw usageError(
      `${name}: line ${nextLine - 1} holds a carriage return: lines must end with a line feed`,
      "Convert it: tr '\\r' '\\n'.",
    );
  return { head, headEnd, nextLine, isArray, chunks: joinBytes(start, rest) };
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

/** The lines of a file as bytes. Memory: one block. Errors: `usage` naming the line that is longer than 1 MB or not UTF-8; damaged gzip. */
export async function* readBlocks({ name, chunks }: TextFile): AsyncGenerator<Block> {
  let [carried, carriedBytes, firstLine]: [Buffer[], number, number] = [[], 0, 1];
  for await (const chunk of chunks) {
    const end = chunk.lastIndexOf(lineFeed) + 1;
    const rest = chunk.subarray(end);
    const bytes = end === 0 ? chunk.subarray(0, 0) : join([...carried, chunk.subarray(0, end)]);
    [carried, carriedBytes] = end === 0 ? [[...carried, rest], carriedBytes + rest.length] : [[rest], rest.length];
    const block: Block = { bytes, firstLine };
    checkLines(block, name);
    // Also an empty one: its reader may stop between two.
    yield block;
    firstLine += block.lineCount ?? countLines(bytes);
    if (carriedBytes > maxLineBytes) throw tooLong(name, firstLine);
  }
  if (carriedBytes === 0) return;
  const last = { bytes: join([...carried, Buffer.from('\n')]), firstLine };
  checkLines(last, name);
  yield last;
}

export function linesOf(block: Block): string[] {
  const { bytes } = block;
  const lines = bytes.toString('utf8').split('\n');
  lines.pop();
  block.lineCount = lines.length;
  return bytes.includes(0x0d) ? lines.map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line)) : lines;
}

/** The lines of a file that are not blank, in batches. Errors: those of `readBlocks`. */
export async function* readLines(file: TextFile): AsyncGenerator<readonly Line[]> {
  for await (const block of readBlocks(file))
    yield linesOf(block).flatMap((text, index) =>
      text.trim() === '' ? [] : [{ number: block.firstLine + index, text }],
    );
}

const join = (parts: Buffer[]) => (parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts));

function tooLong(name: string, line: number): SotraError {
  return usageError(
    `${name}: line ${line} is longer than ${maxLineBytes / 1024 / 1024} MB`,
    'Is it a text file? One entry a line.',
  );
}

function checkLines({ bytes, firstLine }: Block, name: string): void {
  if (bytes.length <= maxLineBytes && isUtf8(bytes)) return;
  let [line, from] = [firstLine, 0];
  for (let end = bytes.indexOf(lineFeed); end !== -1; end = bytes.indexOf(lineFeed, from)) {
    if (end - from > maxLineBytes) throw tooLong(name, line);
    if (!isUtf8(bytes.subarray(from, end))) throw usageError(`${name}: line ${line} is not UTF-8 text`);
    from = end + 1;
    line += 1;
  }
}

function countLines(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(lineFeed); at !== -1; at = bytes.indexOf(lineFeed, at + 1)) count += 1;
  return count;
}

/** Up to the end of the first line that is not blank, or up to a bracket that it starts with; no more than the longest line. */
async function readHead(chunks: AsyncIterator<Buffer>): Promise<Buffer> {
  const parts: Buffer[] = [];
  let [bytes, isFound] = [0, false];
  while (bytes <= maxLineBytes) {
    const { value, done } = await chunks.next();
    if (done) break;
    parts.push(value);
    bytes += value.length;
    const at = isFound ? 0 : value.findIndex((byte: number) => !isSpace(byte) && !mark.includes(byte));
    if (at === -1) continue;
    if ((!isFound && value[at] === 0x5b) || value.indexOf(lineFeed, at) !== -1) break;
    isFound = true;
  }
  return join(parts);
}

const isSpace = (byte: number | undefined) => byte === 0x20 || (byte !== undefined && byte >= 0x09 && byte <= 0x0d);

function isBlank(bytes: Buffer, from: number, end: number): boolean {
  for (let at = from; at < end; at += 1) if (!isSpace(bytes[at])) return false;
  return end !== -1;
}

function isUtf16([first, second]: Uint8Array): boolean {
  const isMarked = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
  return isMarked || first === 0 || second === 0;
}

async function* decompress(source: AsyncIterable<Uint8Array>, name: string): AsyncGenerator<Buffer> {
  const chunks = source[Symbol.asyncIterator]();
  let start: Buffer = Buffer.alloc(0);
  while (start.length < 2) {
    const next = await chunks.next();
    if (next.done) break;
    start = Buffer.concat([start, next.value]);
  }
  const all = joinBytes(start, chunks);
  const isGzip = start[0] === 0x1f && start[1] === 0x8b;
  try {
    // The callback only keeps pipeline from throwing twice: the error also ends the iteration.
    if (isGzip) yield* pipeline(Readable.from(all), createGunzip({ chunkSize: 65_536 }), () => undefined);
    else yield* all;
  } catch (cause) {
    if (isGzip && cause instanceof Error && 'code' in cause && String(cause.code).startsWith('Z_'))
      throw usageError(`${name}: the gzip file is damaged or cut off`, 'Fetch or write the file again.');
    throw cause;
  }
}
