import { isEvmAddress, isSolanaAddress, isUuid, textProblem } from '../api/address.ts';
import { hasWrongChecksum } from '../api/checksum.ts';
import { tryParseJson } from '../api/json.ts';
import { showUnseen } from '../api/safe-text.ts';
import { usageError } from '../errors.ts';
import { findSeparator, readColumns, readTable, type TableRow } from '../lib/files/table.ts';
import {
  type FileBytes,
  openTextFile,
  readItems,
  readLines,
  readRawLines,
  type TextFile,
} from '../lib/files/text-file.ts';
import { quotedColumns } from '../lib/quoted.ts';

export interface AddressLine {
  /** In a JSON array the number of the item. */
  line: number;
  text: string;
  /** Why no address can be read from this line; `text` is all of it then. */
  problem?: string;
}

const columnNames = ['address', 'walletaddress', 'wallet', 'account', 'owner', 'holder', 'trader', 'user', 'pubkey'];
const whichColumn = 'Name the column with --column, or give one address a line.';

/** The addresses of a file in batches. Errors: `usage`, also for an ambiguous column. */
export async function* readAddressFile(
  source: FileBytes,
  column?: string | undefined,
): AsyncGenerator<readonly AddressLine[]> {
  const file = await openTextFile(source);
  const head = file.head.trim();
  // An open quote: a header that continues in the next line.
  const isTable = findSeparator(file.head) !== undefined || head.split('"').length % 2 === 0;
  if (file.isArray) yield* arrayItems(file, column);
  else if (head.startsWith('{') || (head.startsWith('"') && !isTable)) yield* jsonLines(file, column);
  else if (isTable && !head.startsWith('ext:')) yield* tableRows(file, column);
  else yield* plainLines(file, column);
}

const plainName = (text: string) => text.toLowerCase().replaceAll(/[^a-z0-9]/g, '');

/** Whether the only column has a header. Errors: `usage` if it is another one. */
function hasHeader({ name, head }: TextFile, column: string | undefined): boolean {
  if (column === undefined) return columnNames.includes(plainName(head));
  if (plainName(head) === plainName(column)) return true;
  throw noColumn(name, column, [head]);
}

async function* plainLines(file: TextFile, column: string | undefined): AsyncGenerator<AddressLine[]> {
  const firstLine = hasHeader(file, column) ? file.nextLine : 1;
  let line = 0;
  for await (const texts of readRawLines(file)) {
    const lines: AddressLine[] = [];
    for (const text of texts) {
      line += 1;
      if (line >= firstLine && text.trim() !== '') lines.push({ line, text });
    }
    yield lines;
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
  const found = row.cells.flatMap((cell, index) =>
    typeof readAddress(cell, { allowBadChecksum: true }) === 'string' ? [index] : [],
  );
  const [index] = found;
  if (index !== undefined && found.length === 1) return { index, isHeader: false };
  throw usageError(
    index === undefined
      ? `${name}: no column of addresses in the first line: ${quotedColumns(row.cells)}`
      : `${name}: the first line has ${found.length} addresses and no header: which column holds them?`,
    index === undefined ? whichColumn : 'Add a header and name the column with --column, or give one address a line.',
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

function noColumn(name: string, column: string, cells: readonly string[]) {
  return usageError(`--column ${column}: ${name} has no such column: ${quotedColumns(cells)}`, whichColumn);
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

export const wrongChecksum = 'wrong EIP-55 checksum: a letter or digit is mistyped';

type ReadAddress = string | { reason: string };

const maxExternalId = 1024;

const normalEvm = /^0x[0-9a-f]{40}$/;

/** A subscriber: EVM lowercase, Solana and `ext:` ids unchanged; or why the text is none, without what may be a private key. */
export function readAddress(
  raw: string,
  { allowBadChecksum }: { allowBadChecksum?: boolean | undefined },
): ReadAddress {
  // Most lines, without any further look.
  if (normalEvm.test(raw)) return raw;
  const text = raw.trim();
  if (isEvmAddress(text)) {
    const lower = text.toLowerCase();
    return lower === text || allowBadChecksum || !hasWrongChecksum(text) ? lower : { reason: wrongChecksum };
  }
  if (text.startsWith('ext:')) return readExternal(text);
  return isSolanaAddress(text) ? text : { reason: reasonFor(text) };
}

function readExternal(text: string): ReadAddress {
  if (text.length === 'ext:'.length) return { reason: 'ext: without an id behind it' };
  if (text.length > maxExternalId) return { reason: `ext: id longer than ${maxExternalId} characters` };
  if (/[\u0000-\u001f\u007f]/.test(text)) return { reason: 'ext: id with a control character' };
  const problem = textProblem(text);
  if (problem !== undefined) return { reason: `ext: id that ${problem}` };
  return text;
}

function reasonFor(text: string): string {
  if (text === '') return 'empty';
  if (text.startsWith('\\x')) return 'starts with \\x, the way databases print bytes: an address starts with 0x';
  if (text.startsWith('0X')) return 'starts with 0X: an address starts with 0x';
  if (text.startsWith('0x')) return hexReason(text.slice(2));
  if (/^[0-9a-fA-F]{40}$/.test(text)) return '0x is missing in front of the 40 hex digits';
  if (/^[0-9a-fA-F]{64}$/.test(text)) return 'wrong length: 64 hex digits are a transaction hash or a private key';
  if (isUuid(text)) return 'a profile UUID: webhooks take addresses';
  if (/^[^\s.]+(\.[^\s.]+)+$/.test(text) && /\.(eth|sol|xyz|lens|fc)$/i.test(text))
    return 'a name: give the address behind it';
  if (/\s/.test(text)) return 'has a space in it: give one address a line';
  return base58Reason(text);
}

function hexReason(digits: string): string {
  const wrong = /[^0-9a-fA-F]/u.exec(digits);
  if (wrong) return `not hexadecimal: ${quoteCharacter(wrong[0])} at character ${wrong.index + 3}`;
  const hash = digits.length === 64 ? ': a transaction hash or a private key' : ': an EVM address has 40';
  return `wrong length: ${digits.length} hex digits${hash}`;
}

function base58Reason(text: string): string {
  const wrong = /[^1-9A-HJ-NP-Za-km-z]/u.exec(text);
  if (wrong) return `not base58, nor 0x and 40 hex digits: ${quoteCharacter(wrong[0])} at character ${wrong.index + 1}`;
  if (text.length >= 80) return `wrong length: ${text.length} base58 characters are a signature or a private key`;
  return `wrong length: ${text.length} base58 characters that are not the 32 bytes of a Solana address`;
}

/** `"g"`, and `<U+200B>` for an invisible character. */
function quoteCharacter(character: string): string {
  const shown = showUnseen(character);
  return shown === character ? JSON.stringify(character) : shown;
}
