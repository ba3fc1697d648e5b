import { parse } from 'csv-parse/sync';
import { usageError } from '../errors.ts';
import { linesOf, maxLineBytes, readBlocks, type TextFile } from './text-file.ts';

export interface TableRow {
  line: number;
  cells: string[];
  text: string;
  /** Why it cannot be used: a broken quote, or more or fewer cells than the first row. */
  reason?: string;
}

type Separator = ',' | ';' | '\t';

const separators: readonly Separator[] = [',', '\t', ';'];
/** A quoted cell of more lines counts as a quote that was never closed. */
const maxCellLines = 100;

/** What a first line holds most of outside of quotes; `undefined` where it has one cell. */
export function separatorOf(head: string): Separator | undefined {
  const bare = head.replaceAll(/"[^"]*(?:"|$)/g, '');
  const counts = separators.map((separator) => bare.split(separator).length);
  const maxCells = Math.max(...counts);
  return maxCells === 1 ? undefined : separators[counts.indexOf(maxCells)];
}

/**
 * The rows of a CSV or TSV file in batches, its header first. csv-parse only splits cells, so that a broken quote costs one line and not
 * the rest of the file. Memory: one batch. Errors: those of `readBlocks`.
 */
export async function* readTable(file: TextFile): AsyncGenerator<readonly TableRow[]> {
  const separator = separatorOf(file.head) ?? ',';
  let width: number | undefined;
  let [waiting, firstLine]: [string[], number] = [[], 1];
  const makeRow = (cells: string[], line: number, text: string): TableRow => {
    width ??= cells.length;
    if (cells.length === width) return { line, cells, text };
    const count = `${cells.length} cell${cells.length === 1 ? '' : 's'}`;
    return { line, cells: [], text, reason: `the row has ${count}, the header ${width}` };
  };
  const take = (fresh: string[], isLast: boolean): TableRow[] => {
    const lines = waiting.length === 0 ? fresh : [...waiting, ...fresh];
    const rows: TableRow[] = [];
    let index = 0;
    while (index < lines.length) {
      const [text = '', line] = [lines[index], firstLine + index];
      const quotes = quotesIn(text, separator);
      const record = quotes === 'open' ? joinLines(lines, index, { separator, isLast }) : quotes;
      if (record === 'unfinished') break;
      if (isBlank(text, separator)) index += 1;
      else if (record === 'misplaced' || record === 'open') {
        rows.push({ line, cells: [], text, reason: reasons[record] });
        index += 1;
      } else if (record === 'closed') {
        const run = closedRun(lines, index, separator);
        for (const [at, cells] of cellsIn(run, separator).entries())
          rows.push(makeRow(cells, line + at, run[at] ?? ''));
        index += run.length;
      } else {
        const [cells = []] = cellsIn([record.text], separator);
        rows.push(makeRow(cells, line, record.text));
        index += record.lineCount;
      }
    }
    waiting = lines.slice(index);
    firstLine += index;
    return rows;
  };
  const takeBare = (lines: string[]): TableRow[] => {
    const rows: TableRow[] = [];
    for (const [index, text] of lines.entries())
      if (!isBlank(text, separator)) rows.push(makeRow(text.split(separator), firstLine + index, text));
    firstLine += lines.length;
    return rows;
  };
  for await (const block of readBlocks(file)) {
    const isBare = waiting.length === 0 && !block.bytes.includes(0x22);
    yield isBare ? takeBare(linesOf(block)) : take(linesOf(block), false);
  }
  yield take([], true);
}

export function columnsOf(header: TableRow, { name }: TextFile): string[] {
  const columns = header.cells.map((cell) => cell.trim());
  const places = new Map<string, number>();
  for (const [index, column] of columns.entries()) {
    const first = column === '' ? undefined : places.get(column);
    if (first !== undefined)
      throw usageError(
        `${name}: line ${header.line}: columns ${first + 1} and ${index + 1} have the same name`,
        'Rename one of them.',
      );
    places.set(column, index);
  }
  return columns;
}

const reasons = { misplaced: 'a quote is inside a cell', open: 'a quote is not closed' };

type Quotes = 'closed' | 'open' | 'misplaced';

/** What csv-parse ignores around quotes. */
const space = /^[ \t\f\r]*$/;

function quotesIn(text: string, separator: Separator): Quotes {
  for (let at = 0; ; ) {
    const open = text.indexOf('"', at);
    if (open === -1) return 'closed';
    const start = Math.max(at, text.lastIndexOf(separator, open) + 1);
    if (!space.test(text.slice(start, open))) return 'misplaced';
    let close = text.indexOf('"', open + 1);
    while (text[close + 1] === '"' && close !== -1) close = text.indexOf('"', close + 2);
    if (close === -1) return 'open';
    const next = text.indexOf(separator, close);
    if (!space.test(text.slice(close + 1, next === -1 ? undefined : next))) return 'misplaced';
    if (next === -1) return 'closed';
    at = next + 1;
  }
}

function joinLines(
  lines: string[],
  index: number,
  { separator, isLast }: { separator: Separator; isLast: boolean },
): { text: string; lineCount: number } | 'open' | 'unfinished' {
  let [text, quotes] = ['', 0];
  for (let lineCount = 1; lineCount <= maxCellLines && text.length <= maxLineBytes; lineCount += 1) {
    const line = lines[index + lineCount - 1];
    if (line === undefined) return isLast ? 'open' : 'unfinished';
    text += lineCount === 1 ? line : `\n${line}`;
    quotes += line.split('"').length - 1;
    // Quotes stand in pairs, also those inside of cells.
    const state = quotes % 2 === 0 ? quotesIn(text, separator) : 'open';
    if (state === 'closed') return { text, lineCount };
    if (state === 'misplaced') return 'open';
  }
  return 'open';
}

/** The next lines that are a row each: parsing them at once is far cheaper. */
function closedRun(lines: string[], index: number, separator: Separator): string[] {
  let end = index + 1;
  for (let line = lines[end]; line !== undefined && !isBlank(line, separator); line = lines[end]) {
    if (quotesIn(line, separator) !== 'closed') break;
    end += 1;
  }
  return lines.slice(index, end);
}

/** Nothing but space; a line of tabs is a row of empty cells where tabs separate. */
function isBlank(line: string, separator: Separator): boolean {
  return line.trim() === '' && (separator !== '\t' || !line.includes('\t'));
}

/** The cells of rows whose quotes are closed; rows without quotes need no parser. */
function cellsIn(rows: string[], delimiter: Separator): string[][] {
  const quoted = rows.filter((row) => row.includes('"'));
  if (quoted.length === 0) return rows.map((row) => row.split(delimiter));
  const options = { delimiter, relax_column_count: true, record_delimiter: '\n', trim: true };
  const parsed = parse(quoted.join('\n'), options).values();
  return rows.map((row) => (row.includes('"') ? (parsed.next().value ?? []) : row.split(delimiter)));
}
