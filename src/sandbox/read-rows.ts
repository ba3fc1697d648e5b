import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { parse } from 'csv-parse/sync';

/** One row of a file before anything is known of its columns. */
export interface Row {
  /** Line of the unpacked file, the first is 1; in a JSON document the number of the item. */
  line: number;
  /** The same for people: `line 12`, `fill 12`. */
  place: string;
  cells: Record<string, string>;
  /** The names of the cells; one array for all rows of a CSV. */
  columns: string[];
  /** The row as it stands in the file. */
  text: string;
}

export interface RejectedRow {
  line: number;
  place: string;
  reason: string;
  text: string;
}

/** A file that cannot be read at all, or not to its end. */
export interface Fatal {
  kind: 'fatal';
  message: string;
  hint: string;
}

export type RowEvent =
  | { kind: 'header'; columns: string[] }
  | { kind: 'row'; row: Row }
  | { kind: 'rejected'; row: RejectedRow };

/** A quoted cell over more lines than this is taken for a quote that was never closed. */
const cellLineLimit = 100;

/** Unpacks gzip (told by its first two bytes) and decodes UTF-8 without a byte order mark. Throws what the source or
 * zlib throws. */
export async function* readText(source: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  for await (const bytes of unpack(source)) {
    const text = decoder.decode(bytes, { stream: true });
    if (text !== '') yield text;
  }
  const rest = decoder.decode();
  if (rest !== '') yield rest;
}

/** The rows of CSV or NDJSON text in batches, a CSV's header first. Memory: one batch. Throws what the source throws. */
export async function* readRows(
  texts: AsyncIterable<string>,
  format: 'csv' | 'ndjson',
): AsyncGenerator<readonly RowEvent[]> {
  const take = format === 'csv' ? csvTaker() : ndjsonTaker();
  let carried = '';
  for await (const text of texts) {
    const lines = (carried + text).split('\n');
    carried = lines.pop() ?? '';
    if (lines.length > 0) yield take(lines.map(withoutReturn), false);
  }
  yield take(carried === '' ? [] : [withoutReturn(carried)], true);
}

/** Every value of a JSON object as the text a CSV cell would hold; `null` is an empty one. Never throws. */
export function cellsOf(object: object): Record<string, string> {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, cellText(value)]));
}

async function* unpack(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const chunks = source[Symbol.asyncIterator]();
  let head = Buffer.alloc(0);
  while (head.length < 2) {
    const next = await chunks.next();
    if (next.done) break;
    head = Buffer.concat([head, next.value]);
  }
  async function* whole() {
    yield head;
    yield* { [Symbol.asyncIterator]: () => chunks };
  }
  if (head[0] !== 0x1f || head[1] !== 0x8b) yield* whole();
  // The callback only keeps pipeline from throwing twice: the error also ends the iteration.
  else yield* pipeline(Readable.from(whole()), createGunzip(), () => undefined);
}

function withoutReturn(line: string): string {
  return line.endsWith('\r') ? line.slice(0, -1) : line;
}

function cellText(value: unknown): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

function rejected(line: number, reason: string, text: string): RowEvent {
  return { kind: 'rejected', row: { line, place: `line ${line}`, reason, text } };
}

function ndjsonTaker() {
  let count = 0;
  return (lines: string[]): RowEvent[] =>
    lines.flatMap((text) => {
      count += 1;
      return text.trim() === '' ? [] : [ndjsonRow(text, count)];
    });
}

function ndjsonRow(text: string, line: number): RowEvent {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      return {
        kind: 'row',
        row: { line, place: `line ${line}`, cells: cellsOf(value), columns: Object.keys(value), text },
      };
    }
    return rejected(line, 'the line must be a JSON object', text);
  } catch {
    return rejected(line, 'the line is not valid JSON', text);
  }
}

/**
 * Lines are joined to records here and only cells are left to csv-parse: so a broken quote costs its own line and not
 * the rest of the file, and line numbers stay exact.
 */
function csvTaker() {
  let columns: string[] | undefined;
  let waiting: string[] = [];
  let firstLine = 1;

  function event(cells: string[], line: number, text: string): RowEvent {
    if (columns === undefined) {
      columns = cells.map((cell) => cell.trim());
      return { kind: 'header', columns };
    }
    if (cells.length !== columns.length) {
      return rejected(line, `the row has ${cells.length} cells, the header ${columns.length}`, text);
    }
    const named: Record<string, string> = {};
    for (let index = 0; index < columns.length; index += 1) named[columns[index] ?? ''] = cells[index] ?? '';
    return { kind: 'row', row: { line, place: `line ${line}`, cells: named, columns, text } };
  }

  return (fresh: string[], isLast: boolean): RowEvent[] => {
    const lines = [...waiting, ...fresh];
    const events: RowEvent[] = [];
    const simple = oneRecordALine(lines);
    let index = 0;
    while (index < lines.length) {
      const text = lines[index] ?? '';
      const cells = simple?.[index];
      const record = cells === undefined ? recordAt(lines, index, isLast) : { cells, lineCount: 1 };
      if (record === 'unfinished') break;
      if (record === 'blank') index += 1;
      else if ('reason' in record) {
        events.push(rejected(firstLine + index, record.reason, text));
        index += 1;
      } else {
        events.push(event(record.cells, firstLine + index, lines.slice(index, index + record.lineCount).join('\n')));
        index += record.lineCount;
      }
    }
    waiting = lines.slice(index);
    firstLine += index;
    return events;
  };
}

/** The common case of quoted cells at once: none of them spans lines. `undefined` when it is not the case. */
function oneRecordALine(lines: string[]): string[][] | undefined {
  const text = lines.join('\n');
  const records = text.includes('"') ? cellsIn(text) : [];
  return Array.isArray(records) && records.length === lines.length ? records : undefined;
}

const openQuote = { reason: 'a quote is opened and not closed' };

type RecordAt = { cells: string[]; lineCount: number } | { reason: string } | 'blank' | 'unfinished';

function recordAt(lines: string[], index: number, isLast: boolean): RecordAt {
  const first = lines[index] ?? '';
  if (first.trim() === '') return 'blank';
  if (!first.includes('"')) return { cells: first.split(','), lineCount: 1 };
  for (let lineCount = 1; lineCount <= cellLineLimit; lineCount += 1) {
    if (index + lineCount > lines.length) return isLast ? openQuote : 'unfinished';
    const records = cellsIn(lines.slice(index, index + lineCount).join('\n'));
    if (records === 'stray quote') return lineCount === 1 ? { reason: 'a quote stands inside a cell' } : openQuote;
    const cells = records === 'open quote' ? undefined : records[0];
    if (cells !== undefined) return { cells, lineCount };
  }
  return openQuote;
}

function cellsIn(text: string): string[][] | 'open quote' | 'stray quote' {
  try {
    return parse(text, { relax_column_count: true, record_delimiter: '\n' });
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'CSV_QUOTE_NOT_CLOSED'
      ? 'open quote'
      : 'stray quote';
  }
}
