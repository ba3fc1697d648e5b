import { safeText } from '../../api/safe-text.ts';
import type { Sink } from '../io.ts';

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

/** Lines of at most `width`, broken at spaces; a wider word alone. At least one line. */
export function wrapWords(
  text: string,
  width: number,
  measure: (text: string) => number = (line) => line.length,
): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const joined = line === '' ? word : `${line} ${word}`;
    if (measure(joined) <= width) {
      line = joined;
      continue;
    }
    if (line !== '') lines.push(line);
    line = word;
  }
  return line === '' && lines.length > 0 ? lines : [...lines, line];
}

/**
 * A sentence in lines of at most `width`, with each `sotra ...` line in it, to the end of its clause, on one line, so that it can be copied.
 * Further lines are indented: what a service wrote does not begin a line that reads as `hint: ...`.
 */
function wrapSentence(text: string, width: number): string {
  const whole = text.replace(/\bsotra (?:'[^']*'|[^.,;:?!)]|[.,;:?!)](?! |$))+/g, (line) =>
    line.trimEnd().replaceAll(' ', glue),
  );
  return wrapWords(whole, Math.max(20, width - 2))
    .join('\n  ')
    .replaceAll(glue, ' ');
}

/** Replaces a space that must not become a line end; no text of a terminal has it. */
const glue = '\0';
