import { safeText } from '../../api/safe-text.ts';
import type { Sink } from '../io.ts';
import { wrapSentence } from '../wrap.ts';

const maxUnwritten = 10_000;

export type Messages = ReturnType<typeof createMessages>;

/**
 * Lines on stderr. In JSON mode they are buffered until the command has ended or `release` is called, so that stderr of a failure is one JSON
 * object.
 */
export function createMessages(err: Sink, isJson: boolean) {
  let buffered: string[] | undefined = isJson ? [] : undefined;
  const waiting = new Set<Promise<void>>();
  const wrap = (line: string) => (err.isTTY && !isJson ? wrapSentence(safeText(line), err.width) : safeText(line));
  const say = (line: string): void => {
    if (buffered !== undefined) return void buffered.push(line);
    // Lines that nobody reads must not fill the memory.
    if (waiting.size >= maxUnwritten) return;
    const done = () => void waiting.delete(writing);
    const writing: Promise<void> = err.write(`${wrap(line)}\n`).then(done, done);
    waiting.add(writing);
  };
  return {
    say,
    wrap,
    release: () => {
      const lines = buffered ?? [];
      buffered = undefined;
      for (const line of lines) say(line);
    },
    /** Resolves when every line is written. */
    written: async () => {
      await Promise.all(waiting);
    },
  };
}
