import type { ReadEvent } from '../../src/sandbox/trades/read-rows.ts';
import { type ReadOptions, readTrades } from '../../src/sandbox/trades/read-trades.ts';

/** What reading a file gave, sorted by kind. */
export async function collectEvents(source: AsyncIterable<Uint8Array>, options: Partial<ReadOptions>) {
  const events: ReadEvent[] = [];
  const all = { chain: undefined, preset: undefined, map: {}, ...options };
  for await (const batch of readTrades({ name: 'file', bytes: source }, all)) events.push(...batch);
  return {
    trades: events.flatMap((event) => (event.kind === 'trade' ? [event.trade] : [])),
    lines: events.flatMap((event) => (event.kind === 'trade' ? [event.line] : [])),
    rejected: events.flatMap((event) => (event.kind === 'rejected' ? [event.row] : [])),
    skipped: events.flatMap((event) => (event.kind === 'skipped' ? [event.line] : [])),
    fatal: events.flatMap((event) => (event.kind === 'fatal' ? [`${event.message} | ${event.hint}`] : [])),
  };
}

/** The bytes in pieces of a size that cuts lines, characters and quoted cells apart. */
export async function* inPieces(bytes: Uint8Array, size: number) {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

/** How many trades have a key that one before them has. */
export function countRepeats(trades: readonly { rowKey: string }[]): number {
  return trades.length - new Set(trades.map((trade) => trade.rowKey)).size;
}
