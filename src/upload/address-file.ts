import { tryParseJson } from '../api/json.ts';
import { type SotraError, usageError } from '../errors.ts';
import { findSeparator, readColumns, readTable, type TableRow } from '../lib/files/table.ts';
import {
  type FileBytes,
  openTextFile,
  quotedColumns,
  readBlocks,
  readItems,
  readLines,
  splitLines,
  type TextFile,
} from '../lib/files/text-file.ts';
import { readAddress } from './address.ts';
import { type HashedLines, hashEvmLines, unpackLines } from './address-lines.ts';

export interface AddressLine {
  /** In a JSON array the number of the item. */
  line: number;
  text: string;
  /** Why no address can be read from this line; `text` is all of it then. */
  problem?: string;
}

const columnNames = ['address', 'walletaddress', 'wallet', 'account', 'owner', 'holder', 'trader', 'user', 'pubkey'];
const whichColumn = 'Name the column with --column, or give one address a line.';

/** Lines that are EVM addresses in lowercase. */
export interface EvmLines extends HashedLines {
  firstLine: number;
}

export type AddressBatch = readonly AddressLine[] | EvmLines;

export function linesOf({ bytes, firstLine }: EvmLines): AddressLine[] {
  return unpackLines(bytes).map((text, index) => ({ line: firstLine + index, text }));
}

/** The addresses of a file in batches. Errors: `usage`, also for an ambiguous column. */
export async function* readAddressFile(source: FileBytes, column?: string | undefined): AsyncGenerator<AddressBatch> {
  const file = await openTextFile(source);
  const head = file.head.trim();
  // An open quote: a header that continues in the next line.
  const isTable = findSeparator(file.head) !== undefined || head.split('"').length % 2 === 0;
  if (file.isArray) yield* arrayItems(file, column);
  else if (head.startsWith('{') || (head.startsWith('"') && !isTable)) yield* jsonLines(file, column);
  else if (isTable && !head.startsWith('ext:')) yield* tableRows(file, column);
  else yield* plainLines(file, column);
}

/** Whether the only column has a header. Errors: `usage` if it is another one. */
function hasHeader({ name, head }: TextFile, column: string | undefined): boolean {
  if (column === undefined) return columnNames.includes(plainName(head));
  if (plainName(head) === plainName(column)) return true;
  throw noColumn(name, column, [head]);
}

async function* plainLines(file: TextFile, column: string | undefined): AsyncGenerator<AddressBatch> {
  const start = hasHeader(file, column) ? file.nextLine : 1;
  let firstLine = 1;
  for await (const block of readBlocks(file)) {
    const evmLines = hashEvmLines(block);
    if (evmLines !== undefined) {
      yield { ...evmLines, firstLine };
      firstLine += evmLines.count;
      continue;
    }
    const lines = splitLines(block, file.name, firstLine).map((text, index) => ({ line: firstLine + index, text }));
    yield lines.filter(({ line, text }) => line >= start && text.trim() !== '');
    firstLine += lines.length;
  }
}

async function* jsonLines(file: TextFile, column: string | undefined): AsyncGenerator<AddressLine[]> {
  const isHeader = file.head.trim().startsWith('"') && hasHeader(file, column);
  // A header has chosen the column already.
  const field = isHeader ? undefined : column;
  for await (const lines of readLines(file))
    yield lines
      .filter(({ number }) => !isHeader || number >= file.nextLine)
      .map(({ number, text }) => ({ line: number, text: text.trim(), ...addressIn(tryParseJson(text), field) }));
}

async function* arrayItems(file: TextFile, column: string | undefined): AsyncGenerator<AddressLine[]> {
  const items = await readItems(file);
  for (let from = 0; from < items.length; from += 10_000)
    yield items
      .slice(from, from + 10_000)
      .map((value, index) => ({ line: from + index + 1, text: JSON.stringify(value), ...addressIn(value, column) }));
}

/** The address that a JSON value is or holds, or why there is none; `undefined` if the text of the line explains it. */
function addressIn(value: unknown, column: string | undefined): { text: string } | { problem: string } | undefined {
  if (typeof value === 'string' && column === undefined) return { text: value };
  const entries = typeof value === 'object' && value !== null ? Object.entries(value) : [];
  const index = pick(
    entries.map(([key]) => key),
    column,
  );
  if (index === 'several') return { problem: `more than one field is named ${column ?? 'like an address'}` };
  const found = index === undefined ? undefined : entries[index]?.[1];
  if (typeof found === 'string') return { text: found };
  return column === undefined ? undefined : { problem: `has no text in a field ${column}` };
}

async function* tableRows(file: TextFile, column: string | undefined): AsyncGenerator<AddressLine[]> {
  let found: number | undefined;
  for await (const rows of readTable(file)) {
    const lines: AddressLine[] = [];
    for (const row of rows) {
      if (found === undefined) {
        const first = findColumn(row, file, column);
        found = first.index;
        if (first.isHeader) continue;
      }
      const { line, cells, text, reason } = row;
      lines.push(reason === undefined ? { line, text: cells[found] ?? '' } : { line, text, problem: reason });
    }
    yield lines;
  }
}

function findColumn(row: TableRow, file: TextFile, column: string | undefined): { index: number; isHeader: boolean } {
  const { name } = file;
  if (row.reason !== undefined) throw usageError(`${name}: line ${row.line}: ${row.reason}`);
  const named = pick(row.cells, column);
  if (named === 'several')
    throw usageError(`${name}: more than one column is named ${column ?? 'like addresses'}`, whichColumn);
  if (named !== undefined) {
    readColumns(row, file);
    return { index: named, isHeader: true };
  }
  if (column !== undefined) throw noColumn(name, column, row.cells);
  const isAddress = (cell: string) => typeof readAddress(cell, { allowBadChecksum: true }) === 'string';
  const found = row.cells.flatMap((cell, index) => (isAddress(cell) ? [index] : []));
  const [index] = found;
  if (index === undefined)
    throw usageError(`${name}: no column of addresses in the first line: ${quotedColumns(row.cells)}`, whichColumn);
  if (found.length === 1) return { index, isHeader: false };
  throw usageError(
    `${name}: the first line has ${found.length} addresses and no header: which column holds them?`,
    'Add a header and name the column with --column, or give one address a line.',
  );
}

/** The index of the wanted name: as written, else by its letters and digits alone; without one, of the most usual name. */
function pick(names: readonly string[], column: string | undefined): number | 'several' | undefined {
  const exact = names.flatMap((name, index) => (name.trim() === column ? [index] : []));
  if (exact.length > 0) return exact.length === 1 ? exact[0] : 'several';
  for (const wanted of column === undefined ? columnNames : [plainName(column)]) {
    const found = names.flatMap((name, index) => (plainName(name) === wanted ? [index] : []));
    if (found.length > 0) return found.length === 1 ? found[0] : 'several';
  }
  return undefined;
}

function noColumn(name: string, column: string, cells: readonly string[]): SotraError {
  return usageError(`--column ${column}: ${name} has no such column: ${quotedColumns(cells)}`, whichColumn);
}

function plainName(text: string): string {
  return text.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
}
