import { columnsOf, readTable } from '../../files/table.ts';
import { type Line, readLines, type TextFile } from '../../files/text-file.ts';
import { byName, parseJson } from '../../model/json.ts';

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

/** A file that is text, and no list of trades. */
export interface Fatal {
  kind: 'fatal';
  message: string;
  hint: string;
}

export type RowEvent =
  | { kind: 'header'; columns: string[] }
  | { kind: 'row'; row: Row }
  | { kind: 'rejected'; row: RejectedRow };

/** The rows of CSV, TSV or NDJSON text in batches, a table's header first. Memory: one batch. Errors: those of `readBlocks`. */
export async function* readRows(file: TextFile): AsyncGenerator<readonly RowEvent[]> {
  if (file.head.trimStart().startsWith('{')) for await (const lines of readLines(file)) yield lines.map(ndjsonRow);
  else yield* tableRows(file);
}

/** Every value of a JSON object as the text a CSV cell would hold; `null` is an empty one. */
export function cellsOf(object: object): Record<string, string> {
  return byName(Object.entries(object).map(([key, value]) => [key, cellText(value)]));
}

function cellText(value: unknown): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

function rejected(line: number, reason: string, text: string): RowEvent {
  return { kind: 'rejected', row: { line, place: `line ${line}`, reason, text } };
}

function ndjsonRow({ number: line, text }: Line): RowEvent {
  try {
    const value: unknown = parseJson(text);
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

async function* tableRows(file: TextFile): AsyncGenerator<readonly RowEvent[]> {
  let columns: string[] | undefined;
  for await (const rows of readTable(file)) {
    const events: RowEvent[] = [];
    for (const row of rows) {
      const { line, cells, text, reason } = row;
      if (reason !== undefined) events.push(rejected(line, reason, text));
      else if (columns === undefined) {
        columns = columnsOf(row, file);
        events.push({ kind: 'header', columns });
      } else {
        const named: Record<string, string> = byName([]);
        for (let index = 0; index < columns.length; index += 1) named[columns[index] ?? ''] = cells[index] ?? '';
        events.push({ kind: 'row', row: { line, place: `line ${line}`, cells: named, columns, text } });
      }
    }
    yield events;
  }
}
