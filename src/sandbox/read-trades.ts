import type { Chain } from '../model/chain.ts';
import { mappedReader } from './presets/mapped.ts';
import { type PresetName, presets } from './presets.ts';
import { type Fatal, type RejectedRow, type Row, type RowEvent, readRows, readText } from './read-rows.ts';
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
  /** The rows of a JSON document; absent where the reader takes none. */
  rowsOf?: (document: unknown) => Row[] | Fatal;
}

type FileFormat = 'csv' | 'ndjson' | 'json';

export interface ReadOptions {
  /** `undefined`: told by the first character (`{` ndjson, `[` json, else csv). gzip is always told by itself. */
  format: FileFormat | undefined;
  /** The chain of rows that do not name one; a row that names another is rejected. */
  chain: Chain | undefined;
  preset: PresetName | undefined;
  /** Field to column, see `mappedReader`. */
  map: Record<string, string>;
}

/**
 * The trades of a file and what became of its other rows, in batches, in the order of the file (hyperliquid-fills: oldest first).
 * CSV and NDJSON stream in constant memory, but for hyperliquid-fills, which needs all rows at once.
 * A damaged gzip ends with `fatal`, after what could be read. Throws only what the source itself throws.
 */
export async function* readTrades(
  source: AsyncIterable<Uint8Array>,
  options: ReadOptions,
): AsyncGenerator<readonly ReadEvent[], void, void> {
  const reader = chooseReader(options);
  if ('kind' in reader) {
    yield [reader];
    return;
  }
  try {
    const texts = readText(source);
    const { format, whole } = await tellFormat(texts, options.format);
    if (format === 'json') yield await readDocument(whole, reader);
    else {
      for await (const rows of readRows(whole, format)) {
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
  } catch (error) {
    if (!isDamagedGzip(error)) throw error;
    yield [{ kind: 'fatal', message: 'the gzip file is damaged or cut off', hint: 'fetch or write the file again' }];
  }
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

/** Reads as far as the first visible character, and gives that back in front of the rest. */
async function tellFormat(texts: AsyncGenerator<string>, given: FileFormat | undefined) {
  let head = '';
  while (given === undefined && head.trim() === '') {
    const next = await texts.next();
    if (next.done) break;
    head += next.value;
  }
  async function* whole() {
    yield head;
    yield* texts;
  }
  const told = { '{': 'ndjson', '[': 'json' } as const;
  const format: FileFormat = given ?? told[head.trimStart().charAt(0) as keyof typeof told] ?? 'csv';
  return { format, whole: whole() };
}

async function readDocument(texts: AsyncIterable<string>, reader: RowReader): Promise<ReadEvent[]> {
  let text = '';
  for await (const part of texts) text += part;
  const rows = rowsOfText(text, reader);
  if (!Array.isArray(rows)) return [rows];
  return [...rows.flatMap((row) => reader.read(row)), ...reader.finish()];
}

function rowsOfText(text: string, reader: RowReader): Row[] | Fatal {
  if (reader.rowsOf === undefined) {
    return {
      kind: 'fatal',
      message: 'a JSON document is not a list of trades here',
      hint: 'give one JSON object a line (ndjson), or --preset hyperliquid-fills for recorded answers',
    };
  }
  try {
    return reader.rowsOf(JSON.parse(text));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return { kind: 'fatal', message: 'the file is not valid JSON', hint: 'one JSON object a line is --format ndjson' };
  }
}

function isDamagedGzip(error: unknown): boolean {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('Z_');
}
