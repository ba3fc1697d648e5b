import { byName, isObject, tryParseJson } from '../../api/json.ts';
import { readColumns, readTable } from '../../lib/files/table.ts';
import { type Line, readLines, type TextFile } from '../../lib/files/text-file.ts';
import type { Trade } from './trade.ts';

export interface FileRow {
  /** Line of the unpacked file, the first is 1; in a JSON document the number of the item. */
  line: number;
  /** As messages name it. */
  at: string;
  cells: Record<string, string>;
  columns: string[];
  text: string;
}

export type RejectedRow = Pick<FileRow, 'line' | 'at' | 'text'> & { reason: string };

/** What reading a file yields. A row is a trade (a fill that crosses zero is two), or rejected with its reason. */
export type ReadEvent = { kind: 'trade'; line: number; trade: Trade } | { kind: 'rejected'; row: RejectedRow };

/** Turns rows into trades; may hold rows back until later ones have come. */
export interface RowReader {
  /** Looks at a CSV's header. Errors: `usage` if a column is missing. */
  start: (columns: string[]) => void;
  read: (row: FileRow) => ReadEvent[];
  /** The trades of rows that were held back. Errors: `usage` if the file can be none of its kind. */
  finish: () => ReadEvent[];
  /** The rows of an item of a JSON array; absent if the reader accepts none. */
  splitItem?: (item: unknown) => FileRow[];
}

export function rejected({ line, at, text }: Omit<RejectedRow, 'reason'>, reason: string): ReadEvent {
  return { kind: 'rejected', row: { line, at, reason, text } };
}

/** The rows of CSV, TSV or NDJSON text as a reader takes them, in batches. Memory: one batch. Errors: those of `readLines` and of the reader. */
export async function* readFileRows(file: TextFile, reader: RowReader): AsyncGenerator<readonly ReadEvent[]> {
  if (file.head.trimStart().startsWith('{'))
    for await (const lines of readLines(file)) yield lines.flatMap((line) => readNdjson(line, reader));
  else yield* readTableRows(file, reader);
}

/** Every value of a JSON object as the text a CSV cell would hold; `null` is an empty one. */
export function readCells(object: object): Record<string, string> {
  return byName(Object.entries(object).map(([key, value]) => [key, cellText(value)]));
}

function cellText(value: unknown): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

function readNdjson({ number: line, text }: Line, reader: RowReader): ReadEvent[] {
  const at = `line ${line}`;
  const value = tryParseJson(text);
  if (value === undefined) return [rejected({ line, at, text }, 'the line is not valid JSON')];
  if (!isObject(value)) return [rejected({ line, at, text }, 'the line must be a JSON object')];
  return reader.read({ line, at, cells: readCells(value), columns: Object.keys(value), text });
}

async function* readTableRows(file: TextFile, reader: RowReader): AsyncGenerator<readonly ReadEvent[]> {
  let columns: string[] | undefined;
  for await (const rows of readTable(file)) {
    const events: ReadEvent[] = [];
    for (const row of rows) {
      const { line, cells, text, reason } = row;
      const at = `line ${line}`;
      if (reason !== undefined) events.push(rejected({ line, at, text }, reason));
      else if (columns === undefined) {
        columns = readColumns(row, file);
        reader.start(columns);
      } else {
        const named: Record<string, string> = byName([]);
        for (let index = 0; index < columns.length; index += 1) named[columns[index] ?? ''] = cells[index] ?? '';
        for (const event of reader.read({ line, at, cells: named, columns, text })) events.push(event);
      }
    }
    yield events;
  }
}
