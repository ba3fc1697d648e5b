import { usageError } from '../../errors.ts';
import { maxLineBytes, readRawLines, type TextFile } from './text-file.ts';

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

/** A first line by which spreadsheets know the separator. */
const separatorLine = /^"?sep=([,;\t])"?\s*$/i;

/** The separator that a first line names, or has most of outside quotes; `undefined` if it has one cell. */
export function findSeparator(head: string): Separator | undefined {
  const named = separatorLine.exec(head)?.[1];
  if (named !== undefined) return separators.find((each) => each === named);
  const bare = head.replaceAll(/"[^"]*(?:"|$)/g, '');
  const counts = separators.map((separator) => bare.split(separator).length);
  const maxCells = Math.max(...counts);
  return maxCells === 1 ? undefined : separators[counts.indexOf(maxCells)];
}

/** The rows of a CSV or TSV file in batches, its header first. A broken quote costs one line, not the rest of the file. Errors: as `readLines`. */
export async function* readTable(file: TextFile): AsyncGenerator<readonly TableRow[]> {
  const separator = findSeparator(file.head) ?? ',';
  const splitCells = createSplitter(separator);
  let width: number | undefined;
  const makeRow = ({ text, cells }: Row, line: number): TableRow => {
    if (typeof cells === 'string') return { line, cells: [], text, reason: reasons[cells] };
    width ??= cells.length;
    if (cells.length === width) return { line, cells, text };
    const count = `${cells.length} cell${cells.length === 1 ? '' : 's'}`;
    return { line, cells: [], text, reason: `the row has ${count}, the header ${width}` };
  };
  let [waiting, firstLine]: [string[], number] = [[], 1];
  const take = (fresh: string[], isLast: boolean): TableRow[] => {
    const lines = waiting.length === 0 ? fresh : [...waiting, ...fresh];
    const rows: TableRow[] = [];
    let index = 0;
    while (index < lines.length) {
      const row = joinRow(lines, index, splitCells, isLast);
      if (row === undefined) break;
      const isHead = width === undefined && separatorLine.test(row.text);
      if (!isHead && !isBlank(row.text, separator)) rows.push(makeRow(row, firstLine + index));
      index += row.lineCount;
    }
    waiting = lines.slice(index);
    firstLine += index;
    return rows;
  };
  for await (const lines of readRawLines(file)) yield take(lines, false);
  yield take([], true);
}

export function readColumns(header: TableRow, { name }: TextFile): string[] {
  const columns = header.cells.map((cell) => cell.trim());
  for (const [index, column] of columns.entries()) {
    const first = columns.indexOf(column);
    if (column !== '' && first < index)
      throw usageError(
        `${name}: line ${header.line}: columns ${first + 1} and ${index + 1} have the same name`,
        'Rename one of them.',
      );
  }
  return columns;
}

const reasons = { misplaced: 'a quote is inside a cell', open: 'a quote is not closed' };

type SplitCells = (text: string) => string[] | keyof typeof reasons;

/** Splits a row whose cells may be quoted; space around quotes is ignored. */
function createSplitter(separator: Separator): SplitCells {
  const space = `(?:(?!${separator})[ \\t\\f\\r])*`;
  const quoted = `${space}"([^"]*(?:""[^"]*)*)`;
  const cell = new RegExp(`(?:${quoted}"${space}|([^"${separator}]*))(${separator}|$)`, 'y');
  const openCell = new RegExp(`${quoted}$`, 'y');
  return (text) => {
    if (!text.includes('"')) return text.split(separator);
    const cells: string[] = [];
    cell.lastIndex = 0;
    for (let [at, isLast] = [0, false]; !isLast; at = cell.lastIndex) {
      const found = cell.exec(text);
      openCell.lastIndex = at;
      if (found === null) return openCell.test(text) ? 'open' : 'misplaced';
      cells.push(found[1]?.replaceAll('""', '"') ?? found[2]?.trim() ?? '');
      isLast = found[3] === '';
    }
    return cells;
  };
}

interface Row {
  text: string;
  cells: ReturnType<SplitCells>;
  lineCount: number;
}

/** The row that starts at a line, of several lines if a quoted cell goes on; `undefined` if its end may still come. */
function joinRow(lines: string[], index: number, splitCells: SplitCells, isLast: boolean): Row | undefined {
  const first = lines[index] ?? '';
  const broken = splitCells(first);
  let row: Row = { text: first, cells: broken, lineCount: 1 };
  while (row.cells === 'open' && row.lineCount < maxCellLines && row.text.length <= maxLineBytes) {
    const next = lines[index + row.lineCount];
    if (next === undefined && !isLast) return undefined;
    if (next === undefined) break;
    const text = `${row.text}\n${next}`;
    // A line without a quote closes none.
    row = { text, cells: next.includes('"') ? splitCells(text) : 'open', lineCount: row.lineCount + 1 };
  }
  return typeof row.cells === 'string' ? { text: first, cells: broken, lineCount: 1 } : row;
}

/** Whether a line is only white space; with tabs as separators, a line of tabs is a row of empty cells. */
function isBlank(line: string, separator: Separator): boolean {
  return line.trim() === '' && (separator !== '\t' || !line.includes('\t'));
}
