import type { Chain } from '../../api/chain.ts';
import { usageError } from '../../errors.ts';
import { type FileBytes, openTextFile, readItems, redactText, type TextFile } from '../../lib/files/text-file.ts';
import { hyperliquidFillsReader } from './hyperliquid-fills.ts';
import { type FileRow, type ReadEvent, type RowReader, readFileRows, rejected } from './read-rows.ts';
import { fieldNames, readTradeText, type TradeField, type TradeText, tradeFields } from './trade-text.ts';

/** Files that import as they are, each with the chain of all its trades. */
const presets = {
  'hyperliquid-fills': { chain: 'hyperliquid', reader: hyperliquidFillsReader },
  pumpfun: { chain: 'solana', reader: pumpfunReader },
} as const satisfies Record<string, { chain: Chain; reader: (file: string) => RowReader }>;

type PresetName = keyof typeof presets;

export interface ReadOptions {
  /** The chain of rows that do not name one; a row that names another is rejected. */
  chain: Chain | undefined;
  preset: PresetName | undefined;
  /** Column to field. */
  map: Record<string, string>;
  /** Chains of the sandbox beside those of the interface document. */
  moreChains?: readonly string[];
}

/**
 * The trades of a file and what became of its other rows, in the order of the file. The first character tells the format: `{` NDJSON, `[` a
 * JSON array, else CSV or TSV. Memory: one batch; all rows for hyperliquid-fills. Errors: `usage` for options or columns that do not fit the
 * file; those of `openTextFile`, `readLines`, `readItems`.
 */
export async function* readTrades(
  source: FileBytes,
  options: ReadOptions,
): AsyncGenerator<readonly ReadEvent[], void, void> {
  const reader = chooseReader(source.name, options);
  const file = await openTextFile(source);
  yield* file.isArray ? readDocument(file, reader) : readFileRows(file, reader);
  yield reader.finish();
}

function chooseReader(file: string, { chain, preset, map, moreChains }: ReadOptions): RowReader {
  if (preset === undefined) return mappedReader({ file, chain, map, ...(moreChains && { moreChains }) });
  if (Object.keys(map).length > 0)
    throw usageError(`${file}: the preset ${preset} has its own columns`, 'Omit --map or --preset.');
  const { chain: own, reader } = presets[preset];
  if (chain !== undefined && chain !== own)
    throw usageError(`${file}: the preset ${preset} holds trades on ${own}, not ${chain}`, `Use --chain ${own}.`);
  return reader(file);
}

async function* readDocument(file: TextFile, { splitItem, read }: RowReader): AsyncGenerator<ReadEvent[]> {
  if (splitItem === undefined)
    throw usageError(
      `${file.name}: a JSON array is not accepted here`,
      'Give one JSON object a line (NDJSON), or --preset hyperliquid-fills for recorded answers.',
    );
  for (const item of await readItems(file)) yield splitItem(item).flatMap(read);
}

/** Every pump.fun token is minted with a supply of one thousand million. */
const pumpfunSupply = '1000000000';

function pumpfunReader(file: string): RowReader {
  return mappedReader({
    file,
    preset: 'pumpfun',
    chain: 'solana',
    map: {
      ts: 'time',
      trader: 'trader',
      mint: 'token',
      side: 'side',
      token_amount: 'amount',
      usd_value: 'usd',
      signature: 'tx',
    },
    constants: { supply: pumpfunSupply },
    keyColumns: ['sol_amount', 'price_sol', 'source'],
  });
}

interface MappedOptions {
  /** For errors. */
  file: string;
  preset?: PresetName;
  chain: Chain | undefined;
  map: Record<string, string>;
  /** Values of every row that no column has. */
  constants?: TradeText;
  /** Columns that belong to no field but tell rows apart. */
  keyColumns?: readonly string[];
  moreChains?: readonly string[];
}

type Columns = Partial<Record<TradeField, string>>;

const requiredFields = ['time', 'chain', 'trader', 'token', 'side', 'amount', 'usd'] as const;

/** Reads rows whose columns are named, by a map or by their usual names, for the fields of a trade. */
function mappedReader(options: MappedOptions): RowReader {
  checkFields(options);
  // Each row of NDJSON has names of its own, mostly the same.
  const known = new Map<string, Columns>();
  const findKnown = (keys: string[]): Columns => {
    const signature = keys.join('\n');
    const columns = known.get(signature) ?? findColumns(keys, options.map);
    known.set(signature, columns);
    return columns;
  };
  return {
    start: (keys) => {
      checkColumns(keys, options);
      checkRequired(keys, findKnown(keys), options);
    },
    read: (row) => [readRow(row, findKnown(row.columns), options)],
    finish: () => [],
  };
}

function readRow(
  row: FileRow,
  columns: Columns,
  { chain, constants, keyColumns = [], moreChains }: MappedOptions,
): ReadEvent {
  const text: TradeText = { ...constants };
  for (const field of tradeFields) {
    const column = columns[field];
    if (column !== undefined) text[field] = row.cells[column] ?? '';
  }
  const own = text.chain?.trim().toLowerCase() ?? '';
  text.chain = own || (chain ?? '');
  if (chain !== undefined && text.chain !== chain)
    return rejected(row, `chain "${own}": must be ${chain}, as --chain says`);
  const keyParts = keyColumns.map((column) => row.cells[column] ?? '');
  const read = readTradeText(text, keyParts, moreChains);
  return 'trade' in read ? { kind: 'trade', line: row.line, trade: read.trade } : rejected(row, read.reason);
}

function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
}

function findField(name: string): TradeField | undefined {
  return tradeFields.find((field) => plain(field) === plain(name));
}

function findColumns(keys: string[], map: Record<string, string>): Columns {
  const columns: Columns = {};
  for (const [column, name] of Object.entries(map)) {
    const field = findField(name);
    if (field !== undefined && keys.includes(column)) columns[field] = column;
  }
  const free = keys.filter((key) => !Object.values(columns).includes(key));
  for (const field of tradeFields) {
    const column = fieldNames[field]
      .map((name) => free.find((key) => plain(key) === name))
      .find((key) => key !== undefined);
    if (column !== undefined) columns[field] ??= column;
  }
  return columns;
}

function checkFields({ file, map }: MappedOptions): void {
  for (const [column, name] of Object.entries(map)) {
    const field = findField(name);
    if (field === undefined)
      throw usageError(
        `${file}: --map ${column}=${name}: "${name}" is not a field of a trade`,
        `Write it as --map <column>=<field>; fields: ${tradeFields.join(', ')}.`,
      );
    const [other] = Object.keys(map).filter((each) => each !== column && findField(map[each] ?? '') === field);
    if (other !== undefined)
      throw usageError(`${file}: --map names two columns for ${field}: ${column} and ${other}`, 'Omit one of them.');
  }
}

function checkColumns(keys: string[], { file, preset, map }: MappedOptions): void {
  const column = Object.keys(map).find((each) => !keys.includes(each));
  if (column === undefined) return;
  const flag = preset === undefined ? `--map ${column}=${map[column]}` : `--preset ${preset}`;
  throw usageError(`${file}: ${flag}: the file has no column "${column}"`, listColumns(keys));
}

function checkRequired(keys: string[], columns: Columns, { file, chain, constants }: MappedOptions): void {
  const given: Columns = { ...constants, ...columns };
  if (chain !== undefined) given.chain ??= chain;
  if (given.priceUsd !== undefined) given.usd ??= given.priceUsd;
  // On hyperliquid a coin's symbol is its name on the chain.
  if (given.symbol !== undefined && (chain === 'hyperliquid' || columns.chain !== undefined))
    given.token ??= given.symbol;
  const missing = requiredFields.filter((field) => given[field] === undefined);
  if (missing.length > 0)
    throw usageError(
      `${file}: the file has no column for ${missing.join(', ')}`,
      `Name it with --map <column>=${missing[0]}. ${listColumns(keys)}`,
    );
}

/** The columns of a file. A single one is not what a file of trades has, and may be anything. */
function listColumns(keys: string[]): string {
  return keys.length === 1
    ? 'It has one column only: is it a file of trades?'
    : `Its columns: ${redactText(keys.join(', '))}`;
}
