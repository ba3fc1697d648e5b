import { Writable } from 'node:stream';
import type { Sink } from '../world.ts';

/** What terminal packages expect of a stream that text goes to. */
export type TerminalStream = NodeJS.WritableStream & {
  isTTY: boolean;
  columns: number;
  cursorTo: (column: number) => boolean;
  clearLine: () => boolean;
  moveCursor: (columns: number, rows: number) => boolean;
};

/**
 * The sink as a Node stream; cursor moves are the escape codes of every terminal. What is written once the reader is gone is dropped.
 * Text is handed on in the same turn, never queued: ora hooks the process's own streams while it spins and takes what arrives
 * later for somebody else's, which it answers by drawing anew, for ever.
 */
export function sinkStream(sink: Sink): TerminalStream {
  const write = (text: unknown): boolean => {
    sink.write(String(text)).catch(() => undefined);
    return true;
  };
  return Object.assign(new Writable(), {
    write,
    isTTY: sink.isTTY,
    columns: sink.width,
    cursorTo: (column: number) => write(`\u001b[${column + 1}G`),
    clearLine: () => write('\u001b[2K'),
    moveCursor: (_columns: number, rows: number) =>
      rows === 0 || write(`\u001b[${Math.abs(rows)}${rows < 0 ? 'A' : 'B'}`),
  });
}
