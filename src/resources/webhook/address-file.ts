import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { SotraError, usageError } from '../../errors.ts';
import { quotedColumns } from '../../model/quoted.ts';
import { readAddress } from './addresses.ts';

/** Some addresses as they stand in a file, each with its line (the number of the item in a JSON array). */
export interface AddressLines {
  texts: string[];
  lines: number[];
}

/** Whole lines of a file that has nothing but one address a line, as bytes. */
export interface PlainLines {
  bytes: Buffer;
  /** How many lines were left out in front of them. */
  leftOut: number;
}

const columnNames = ['address', 'walletaddress', 'wallet', 'account', 'owner', 'holder', 'trader', 'user', 'pubkey'];
const lax = { allowBadChecksum: true };

/**
 * The addresses of a file in batches: one a line, CSV (the column of addresses by its name in the header, or where the first line has
 * one), NDJSON, or a JSON array; gzip as it is. Empty lines are passed over. Errors: `usage` for a file that is none of these.
 */
export async function* readAddressFile(
  source: AsyncIterable<Uint8Array>,
  { name, column }: { name: string; column?: string | undefined },
): AsyncGenerator<AddressLines | PlainLines> {
  const chunks = readBytes(source, name)[Symbol.asyncIterator]();
  let head: Buffer = Buffer.alloc(0);
  while (head.length < 65_536 && !/^\s*\S[^\n]*\n/.test(head.toString('latin1'))) {
    const { value, done } = await chunks.next();
    if (done) break;
    head = Buffer.concat([head, value]);
  }
  const start = head
    .toString('utf8')
    .replace(/^\uFEFF/, '')
    .trimStart();
  const whole = rejoin(head, chunks);
  if (start.startsWith('[')) yield* jsonArray(whole, name);
  else if (column === undefined && /^[^\s"{,;]+[^\S\t\n]*(\n|$)/.test(start)) yield* plainLines(whole);
  else yield* lineFile(decode(whole), name, column);
}

async function* rejoin(head: Buffer, rest: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  yield head;
  yield* { [Symbol.asyncIterator]: () => rest };
}

async function* decode(source: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  for await (const bytes of source) yield decoder.decode(bytes, { stream: true });
  yield decoder.decode();
}

/** The lines of a plain file; a header that names a column of addresses is left out. */
async function* plainLines(source: AsyncIterable<Buffer>): AsyncGenerator<PlainLines> {
  let [carried, isBegun]: [Buffer, boolean] = [Buffer.alloc(0), false];
  for await (const chunk of source) {
    const bytes = carried.length === 0 ? chunk : Buffer.concat([carried, chunk]);
    const end = bytes.lastIndexOf(0x0a) + 1;
    carried = bytes.subarray(end);
    if (end === 0) continue;
    const from = isBegun ? 0 : headerEnd(bytes);
    isBegun = true;
    yield { bytes: bytes.subarray(from, end), leftOut: countLines(bytes, from) };
  }
  const from = isBegun ? 0 : headerEnd(carried);
  yield { bytes: Buffer.concat([carried.subarray(from), Buffer.from('\n')]), leftOut: countLines(carried, from) };
}

/** Where the lines behind a header begin; behind a byte order mark where there is no header. */
function headerEnd(bytes: Buffer): number {
  const [line = ''] = /^\s*[^\n]*/.exec(bytes.toString('utf8', 0, 1000)) ?? [];
  const isHeader = columnNames.includes(plain(line));
  if (isHeader) return Math.min(bytes.length, Buffer.byteLength(line) + 1);
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
}

function countLines(bytes: Buffer, end: number): number {
  let count = 0;
  for (let at = bytes.indexOf(0x0a); at !== -1 && at < end; at = bytes.indexOf(0x0a, at + 1)) count += 1;
  return count;
}

async function* readBytes(source: AsyncIterable<Uint8Array>, name: string): AsyncGenerator<Buffer> {
  try {
    for await (const bytes of unpack(source)) yield Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  } catch (cause) {
    if (cause instanceof SotraError) throw cause;
    const why = cause instanceof Error ? cause.message : String(cause);
    throw usageError(`${name}: cannot be read to its end: ${why}`, 'A gzip file may be cut off: make it anew.');
  }
}

async function* unpack(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const chunks = source[Symbol.asyncIterator]();
  const first = await chunks.next();
  if (first.done) return;
  async function* whole() {
    yield first.value as Uint8Array;
    yield* { [Symbol.asyncIterator]: () => chunks };
  }
  if (first.value[0] !== 0x1f || first.value[1] !== 0x8b) yield* whole();
  // The callback only keeps pipeline from throwing twice: the error also ends the iteration.
  else yield* pipeline(Readable.from(whole()), createGunzip(), () => undefined);
}

async function* lineFile(
  source: AsyncIterable<string>,
  name: string,
  column: string | undefined,
): AsyncGenerator<AddressLines> {
  let take: ((text: string) => string) | undefined;
  let [carried, line] = ['', 0];
  const texts = source[Symbol.asyncIterator]();
  for (let ended = false; !ended; ) {
    const next = await texts.next();
    ended = next.done === true;
    const lines = (carried + (next.value ?? '')).split('\n');
    carried = ended ? '' : (lines.pop() ?? '');
    const batch: AddressLines = { texts: [], lines: [] };
    for (const raw of lines) {
      line += 1;
      const text = raw.trim();
      if (text === '') continue;
      if (take === undefined) {
        const { isHeader, ...form } = lineForm(text, name, column);
        take = form.take;
        if (isHeader) continue;
      }
      batch.texts.push(take(text));
      batch.lines.push(line);
    }
    if (batch.texts.length > 0) yield batch;
  }
}

interface LineForm {
  isHeader: boolean;
  /** The address in a line. */
  take: (text: string) => string;
}

/** How the lines of a file are read, told by the first of them. */
function lineForm(first: string, name: string, column: string | undefined): LineForm {
  if (first.startsWith('{') || /^"[^",;\t]*"$/.test(first))
    return { isHeader: columnNames.includes(plain(first)), take: (text) => addressIn(parseLine(text), column) ?? text };
  const separator = [',', ';', '\t'].find((mark) => first.includes(mark) && !first.startsWith('ext:'));
  if (separator === undefined) {
    const isHeader = column === undefined ? columnNames.includes(plain(first)) : plain(first) === plain(column);
    return { isHeader, take: (text) => text };
  }
  const cells = splitCells(first, separator);
  const wanted = column === undefined ? columnNames : [plain(column)];
  const named = wanted.map((each) => cells.findIndex((cell) => plain(cell) === each)).find((index) => index !== -1);
  const found =
    named ?? (column === undefined ? cells.findIndex((cell) => typeof readAddress(cell, lax) === 'string') : -1);
  if (found === -1)
    throw usageError(
      column === undefined
        ? `${name}: no column of addresses in the first line: ${quotedColumns(cells)}`
        : `--column ${column}: ${name} has no such column: ${quotedColumns(cells)}`,
      'Name the column with --column, or give one address a line.',
    );
  return { isHeader: named !== undefined, take: (text) => splitCells(text, separator)[found] ?? '' };
}

const plain = (text: string) =>
  text
    .replace(/^\uFEFF/, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, '');

/** The cells of one CSV line; quoted ones may hold the separator. */
function splitCells(line: string, separator: string): string[] {
  if (!line.includes('"')) return line.split(separator);
  const pattern = new RegExp(`(?:^|${separator})\\s*(?:"((?:[^"]|"")*)"\\s*|([^${separator}]*))`, 'g');
  return [...line.matchAll(pattern)].map(([, quoted, bare]) => quoted?.replaceAll('""', '"') ?? bare ?? '');
}

function parseLine(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The address that a JSON value is or holds. */
function addressIn(value: unknown, column: string | undefined): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null) return undefined;
  const wanted = column === undefined ? columnNames : [plain(column)];
  const entries = Object.entries(value).map(([key, each]) => [plain(key), each] as const);
  const found = wanted.flatMap((name) => entries.filter(([key]) => key === name))[0]?.[1];
  return typeof found === 'string' ? found : undefined;
}

async function* jsonArray(source: AsyncIterable<Uint8Array>, name: string): AsyncGenerator<AddressLines> {
  const parts: string[] = [];
  for await (const text of decode(source)) parts.push(text);
  const items = parseLine(parts.join(''));
  if (!Array.isArray(items)) throw usageError(`${name}: starts with [ and is not a JSON array`);
  const step = 10_000;
  for (let from = 0; from < items.length; from += step) {
    const part = items.slice(from, from + step);
    yield {
      texts: part.map((item) => addressIn(item, undefined) ?? JSON.stringify(item)),
      lines: part.map((_, index) => from + index + 1),
    };
  }
}
