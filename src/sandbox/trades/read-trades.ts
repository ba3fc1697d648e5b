import { readItems } from '../../files/json-items.ts';
import { type FileBytes, openTextFile, type TextFile } from '../../files/text-file.ts';
import type { Chain } from '../../model/chain.ts';
import { mappedReader } from './mapped.ts';
import { type PresetName, presets } from './presets.ts';
import { type Fatal, type RejectedRow, type Row, type RowEvent, readRows } from './read-rows.ts';
import type { Trade } from './trade.ts';

/**
 * What reading a file yields. A row is a trade (a fill that crosses zero, or a swap of two tokens, is two), rejected
 * with its reason, or skipped because another row tells the same. After `fatal` nothing follows.
 */
export type ReadEvent =
  | { kind: 'trade'; line: number; trade: Trade }
  | { kind: 'rejected'; row: RejectedRow }
  | { kind: 'skipped'; line: number; reason: string }
  | Fatal;

/** Turns rows into trades; may hold rows back until later ones have come. */
export interface RowReader {
  /** Looks at a CSV's header, and says why the file cannot be read, if so. */
  start: (columns: string[]) => Fatal | undefined;
  read: (row: Row) => ReadEvent[];
  finish: () => ReadEvent[];
  /** The rows of an item of a JSON array; absent where the reader takes none. */
  rowsOf?: (item: unknown) => Row[];
}

export interface ReadOptions {
  /** The chain of rows that do not name one; a row that names another is rejected. */
  chain: Chain | undefined;
  preset: PresetName | undefined;
  /** Field to column, see `mappedReader`. */
  map: Record<string, string>;
}

/**
 * The trades of a file and what became of its other rows, in batches, in the order of the file (hyperliquid-fills: oldest first).
 * The first character tells the format: `{` NDJSON, `[` a JSON array, else CSV or TSV. All of them stream in constant memory, but for
 * hyperliquid-fills, which needs all rows at once. Errors: those of `openTextFile`, `readBlocks` and `readItems`.
 */
export async function* readTrades(
  source: FileBytes,
  options: ReadOptions,
): AsyncGenerator<readonly ReadEvent[], void, void> {
  const reader = chooseReader(options);
  if ('kind' in reader) {
    yield [reader];
    return;
  }
  const file = await openTextFile(source);
  if (file.isArray) return yield* readDocument(file, reader);
  for await (const rows of readRows(file)) {
    const events: ReadEvent[] = [];
    for (const row of rows) {
      for (const event of eventsOf(row, reader)) {
        events.push(event);
        if (event.kind === 'fatal') return yield events;
      }
    }
    yield events;
  }
  yield reader.finish();
}

function chooseReader({ chain, preset, map }: ReadOptions): RowReader | Fatal {
  if (preset === undefined) return mappedReader({ chain, map });
  if (Object.keys(map).length > 0) {
    return { kind: 'fatal', message: `the preset ${preset} knows its columns`, hint: 'leave out --map or --preset' };
  }
  const { chain: own, reader } = presets[preset];
  if (own !== undefined && chain !== undefined && chain !== own) {
    return {
      kind: 'fatal',
      message: `the preset ${preset} holds trades on ${own}, not ${chain}`,
      hint: `--chain ${own}`,
    };
  }
  return reader(chain);
}

function eventsOf(event: RowEvent, reader: RowReader): ReadEvent[] {
  if (event.kind === 'row') return reader.read(event.row);
  if (event.kind === 'rejected') return [event];
  const fatal = reader.start(event.columns);
  return fatal === undefined ? [] : [fatal];
}

async function* readDocument(file: TextFile, reader: RowReader): AsyncGenerator<ReadEvent[]> {
  const { rowsOf } = reader;
  if (rowsOf === undefined) return yield [noDocument];
  for await (const items of readItems(file))
    yield items.flatMap(({ value }) => rowsOf(value)).flatMap((row) => reader.read(row));
  yield reader.finish();
}

const noDocument: Fatal = {
  kind: 'fatal',
  message: 'a JSON document is not a list of trades here',
  hint: 'give one JSON object a line (NDJSON), or --preset hyperliquid-fills for recorded answers',
};
