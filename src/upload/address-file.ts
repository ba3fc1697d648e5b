import { isEvmAddress, isSolanaAddress, textProblem } from '../api/address.ts';
import { hasWrongChecksum } from '../api/checksum.ts';
import { tryParseJson } from '../api/json.ts';
import { showUnseen } from '../api/safe-text.ts';
import { type SotraError, usageError } from '../errors.ts';
import { findSeparator, readColumns, readTable, type TableRow } from '../lib/files/table.ts';
import {
  type FileBytes,
  openTextFile,
  readBlocks,
  readItems,
  readLines,
  redactColumns,
  splitLines,
  type TextFile,
} from '../lib/files/text-file.ts';
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
  const isTable = head.startsWith('"') || findSeparator(file.head) !== undefined;
  if (file.isArray) yield* arrayItems(file, column);
  else if (head.startsWith('{')) yield* jsonLines(file, column);
  else if (isTable && !head.startsWith('ext:')) yield* tableRows(file, column);
  else yield* plainLines(file, column);
}

async function* plainLines(file: TextFile, column: string | undefined): AsyncGenerator<AddressBatch> {
  const head = plainName(file.head);
  if (column !== undefined && head !== plainName(column)) throw noColumn(file.name, column, [file.head]);
  const start = column !== undefined || columnNames.includes(head) ? file.nextLine : 1;
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
  for await (const lines of readLines(file))
    yield lines.map(({ number, text }) => ({
      line: number,
      text: text.trim(),
      ...addressIn(tryParseJson(text), column),
    }));
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
    throw usageError(`${name}: no column of addresses in the first line: ${redactColumns(row.cells)}`, whichColumn);
  if (found.length === 1) return { index, isHeader: false };
  throw usageError(
    `${name}: the first line has ${found.length} addresses and no header: which column holds them?`,
    'Add a header and name the column with --column, or give one address a line.',
  );
}

/** The index of the wanted name: as written, else by its letters and digits alone; without one, of the most usual name. */
function pick(names: readonly string[], column: string | undefined): number | 'several' | undefined {
  const isPlain = (wanted: string) => (name: string) => plainName(name) === wanted;
  const forms =
    column === undefined
      ? columnNames.map(isPlain)
      : [(name: string) => name.trim() === column, isPlain(plainName(column))];
  for (const isNamed of forms) {
    const found = names.flatMap((name, index) => (isNamed(name) ? [index] : []));
    if (found.length > 0) return found.length === 1 ? found[0] : 'several';
  }
  return undefined;
}

function noColumn(name: string, column: string, cells: readonly string[]): SotraError {
  return usageError(`--column ${column}: ${name} has no such column: ${redactColumns(cells)}`, whichColumn);
}

function plainName(text: string): string {
  return text.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
}

export const wrongChecksum = 'wrong EIP-55 checksum: a letter or digit is mistyped';

const maxExternalId = 1024;
const normalEvm = /^0x[0-9a-f]{40}$/;

/** A subscriber: EVM lowercase, Solana and `ext:` ids unchanged; or why the text is none, without what may be a private key. */
export function readAddress(
  raw: string,
  { allowBadChecksum }: { allowBadChecksum?: boolean | undefined },
): string | { reason: string } {
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

function readExternal(text: string): string | { reason: string } {
  if (text.length === 'ext:'.length) return { reason: 'ext: without an id' };
  if (text.length > maxExternalId) return { reason: `ext: id longer than ${maxExternalId} characters` };
  if (/[\u0000-\u001f\u007f]/.test(text)) return { reason: 'ext: id with a control character' };
  const problem = textProblem(text);
  if (problem !== undefined) return { reason: `ext: id that ${problem}` };
  return text;
}

function reasonFor(text: string): string {
  if (text === '') return 'empty';
  if (/^[{[]/.test(text))
    return tryParseJson(text) === undefined ? 'not JSON' : 'has no text in a field named like an address: see --column';
  if (text.startsWith('0x')) return hexReason(text.slice(2));
  if (/^[0-9a-fA-F]{40}$/.test(text)) return '0x is missing in front of the 40 hex digits';
  if (/^[0-9a-fA-F]{64}$/.test(text)) return 'wrong length: 64 hex digits are a transaction hash or a private key';
  if (/^[^\s.]+(\.[^\s.]+)+$/.test(text) && /\.(eth|sol|xyz|lens|fc)$/i.test(text)) return 'a name: give its address';
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
