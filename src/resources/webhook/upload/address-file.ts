import { usageError } from '../../../errors.ts';
import { readItems } from '../../../files/json-items.ts';
import { columnsOf, readTable, separatorOf, type TableRow } from '../../../files/table.ts';
import {
  type Block,
  type FileBytes,
  type Line,
  openTextFile,
  readBlocks,
  readLines,
  type TextFile,
} from '../../../files/text-file.ts';
import { tryParseJson } from '../../../model/json.ts';
import { quotedColumns } from '../../../model/quoted.ts';
import { readAddress } from './addresses.ts';

/** An address as it stands in a file. */
export interface AddressLine {
  /** The number of the item in a JSON array. */
  line: number;
  text: string;
  /** Why no address can be taken from this line; `text` is all of it then. */
  problem?: string;
}

const columnNames = ['address', 'walletaddress', 'wallet', 'account', 'owner', 'holder', 'trader', 'user', 'pubkey'];
const lax = { allowBadChecksum: true };
const whichColumn = 'Name the column with --column, or give one address a line.';

/**
 * The addresses of a file in batches: one a line (as blocks of bytes), CSV and TSV (the column of addresses by its name in the header, or
 * where the first line has one), NDJSON, or a JSON array; gzip as it is. Errors: `usage` for a file that is none of these, and where it
 * cannot be told which column is meant.
 */
export async function* readAddressFile(
  source: FileBytes,
  column?: string | undefined,
): AsyncGenerator<readonly AddressLine[] | Block> {
  const file = await openTextFile(source);
  const head = file.head.trim();
  // A header may go on in the next line.
  const isTable = separatorOf(file.head) !== undefined || head.split('"').length % 2 === 0;
  if (file.isArray) yield* arrayItems(file, column);
  else if (head.startsWith('{') || (head.startsWith('"') && !isTable)) yield* jsonLines(file, column);
  else if (isTable && !head.startsWith('ext:')) yield* tableRows(file, column);
  else yield* plainLines(file, column);
}

const plain = (text: string) => text.toLowerCase().replaceAll(/[^a-z0-9]/g, '');

/** Whether the only column of a file has a header. Errors: `usage` where it is another one than was asked for. */
function hasHeader({ name, head }: TextFile, column: string | undefined): boolean {
  if (column === undefined) return columnNames.includes(plain(head));
  if (plain(head) === plain(column)) return true;
  throw noColumn(name, column, [head]);
}

async function* plainLines(file: TextFile, column: string | undefined): AsyncGenerator<Block> {
  let isHeader = hasHeader(file, column);
  for await (const block of readBlocks(file)) {
    const isFirst = isHeader && block.bytes.length > 0;
    yield isFirst ? { bytes: block.bytes.subarray(file.headEnd), firstLine: file.nextLine } : block;
    if (isFirst) isHeader = false;
  }
}

async function* jsonLines(file: TextFile, column: string | undefined): AsyncGenerator<AddressLine[]> {
  const isHeader = file.head.trim().startsWith('"') && hasHeader(file, column);
  const read = ({ number, text }: Line): AddressLine => {
    const value = tryParseJson(text);
    // Under a header the column is chosen.
    const found = addressIn(value, isHeader ? undefined : column);
    return { line: number, text: text.trim(), ...found };
  };
  for await (const lines of readLines(file))
    yield (isHeader ? lines.filter(({ number }) => number >= file.nextLine) : lines).map(read);
}

async function* arrayItems(file: TextFile, column: string | undefined): AsyncGenerator<AddressLine[]> {
  for await (const items of readItems(file))
    yield items.map(({ number, value }) => ({
      line: number,
      text: JSON.stringify(value),
      ...addressIn(value, column),
    }));
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

/** Where the addresses stand, told by the first row. */
function findColumn(row: TableRow, file: TextFile, column: string | undefined): { index: number; isHeader: boolean } {
  const { name } = file;
  if (row.reason !== undefined) throw usageError(`${name}: line ${row.line}: ${row.reason}`);
  const named = pick(row.cells, column);
  if (named === 'several')
    throw usageError(`${name}: more than one column is named ${column ?? 'like addresses'}`, whichColumn);
  if (named !== undefined) {
    columnsOf(row, file);
    return { index: named, isHeader: true };
  }
  if (column !== undefined) throw noColumn(name, column, row.cells);
  const found = row.cells.flatMap((cell, index) => (typeof readAddress(cell, lax) === 'string' ? [index] : []));
  const [index] = found;
  if (index !== undefined && found.length === 1) return { index, isHeader: false };
  throw usageError(
    index === undefined
      ? `${name}: no column of addresses in the first line: ${quotedColumns(row.cells)}`
      : `${name}: the first line has ${found.length} addresses and no header: which column is meant?`,
    index === undefined ? whichColumn : 'Add a header and name the column with --column, or give one address a line.',
  );
}

/** The place of the wanted name among others: as it is written, else whatever its case and marks; the most usual name where none is wanted. */
function pick(names: readonly string[], column: string | undefined): number | 'several' | undefined {
  const exact = names.flatMap((name, index) => (name.trim() === column ? [index] : []));
  if (exact.length > 0) return exact.length === 1 ? exact[0] : 'several';
  for (const wanted of column === undefined ? columnNames : [plain(column)]) {
    const found = names.flatMap((name, index) => (plain(name) === wanted ? [index] : []));
    if (found.length > 0) return found.length === 1 ? found[0] : 'several';
  }
  return undefined;
}

function noColumn(name: string, column: string, cells: readonly string[]) {
  return usageError(`--column ${column}: ${name} has no such column: ${quotedColumns(cells)}`, whichColumn);
}

/** The address that a JSON value is or holds, or why there is none; nothing where its text says it all. */
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
