import { readItems } from '../../files/json-items.ts';
import { type FileBytes, openTextFile, type TextFile } from '../../files/text-file.ts';
import type { Chain } from '../../model/chain.ts';
import { duneReader } from './dune.ts';
import { hyperliquidFillsReader } from './hyperliquid-fills.ts';
import { mappedReader } from './mapped.ts';
import { type Fatal, type ReadEvent, type RowReader, readRows } from './read-rows.ts';

/** Files that import as they are, each with the chain of all its trades where there is one. */
const presets = {
  'hyperliquid-fills': { chain: 'hyperliquid', reader: hyperliquidFillsReader },
  pumpfun: { chain: 'solana', reader: pumpfunReader },
  dune: { chain: undefined, reader: duneReader },
} as const satisfies Record<string, { chain: Chain | undefined; reader: (chain: Chain | undefined) => RowReader }>;

export type PresetName = keyof typeof presets;

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
  if ('kind' in reader) return yield [reader];
  const file = await openTextFile(source);
  for await (const events of file.isArray ? readDocument(file, reader) : readRows(file, reader)) {
    yield events;
    if (events.at(-1)?.kind === 'fatal') return;
  }
  yield reader.finish();
}

function chooseReader({ chain, preset, map }: ReadOptions): RowReader | Fatal {
  if (preset === undefined) return mappedReader({ chain, map });
  if (Object.keys(map).length > 0)
    return { kind: 'fatal', message: `the preset ${preset} knows its columns`, hint: 'leave out --map or --preset' };
  const { chain: own, reader } = presets[preset];
  if (own !== undefined && chain !== undefined && chain !== own) {
    const message = `the preset ${preset} holds trades on ${own}, not ${chain}`;
    return { kind: 'fatal', message, hint: `--chain ${own}` };
  }
  return reader(chain);
}

async function* readDocument(file: TextFile, reader: RowReader): AsyncGenerator<ReadEvent[]> {
  const { rowsOf } = reader;
  if (rowsOf === undefined) return yield [noDocument];
  for await (const items of readItems(file))
    yield items.flatMap(({ value }) => rowsOf(value)).flatMap((row) => reader.read(row));
}

const noDocument: Fatal = {
  kind: 'fatal',
  message: 'a JSON document is not a list of trades here',
  hint: 'give one JSON object a line (NDJSON), or --preset hyperliquid-fills for recorded answers',
};

/** Every pump.fun token is minted with a supply of one thousand million. */
const pumpfunSupply = '1000000000';

/** Reads swaps of pump.fun tokens: ts, trader, mint, side, token_amount, usd_value, signature. */
function pumpfunReader(): RowReader {
  return mappedReader({
    chain: 'solana',
    map: {
      time: 'ts',
      trader: 'trader',
      token: 'mint',
      side: 'side',
      amount: 'token_amount',
      usd: 'usd_value',
      tx: 'signature',
    },
    constants: { supply: pumpfunSupply },
    keyColumns: ['sol_amount', 'price_sol', 'source'],
  });
}
