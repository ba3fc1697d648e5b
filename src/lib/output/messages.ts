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
 * A sentence in lines of at most `width`, with each `sotra ...` line in it on one line, so that it can be copied. Further lines are indented: what
 * a service wrote does not begin a line that reads as `hint: ...`.
 */
function wrapSentence(text: string, width: number): string {
  const words = text.split(' ');
  const kept: string[] = [];
  for (let index = 0; index < words.length; ) {
    const end = /^[("']?sotra$/.test(words[index] ?? '') ? findLineEnd(words, index) : index + 1;
    kept.push(words.slice(index, end).join(glue));
    index = end;
  }
  return wrapWords(kept.join(' '), Math.max(20, width - 2))
    .join('\n  ')
    .replaceAll(glue, ' ');
}

/** Replaces a space that must not become a line end; no text of a terminal has it. */
const glue = '\0';

/** The end of the command line that begins at `start`: the end of the sentence, or after the last word that is not prose. */
function findLineEnd(words: readonly string[], start: number): number {
  const isWhole = /^(mean|or|example:)$/.test(words[start - 1] ?? '');
  let end = start + 3;
  let line = 'sotra';
  for (let index = start + 1; index < words.length; index += 1) {
    const word = words[index] ?? '';
    line += ` ${word}`;
    const isQuoted = line.replaceAll("'\\''", '').split("'").length % 2 === 0;
    if (isWhole && word === 'or' && !isQuoted) return index;
    if (isWhole || isQuoted || !/^[A-Za-z]+[.,;:?!)]*$/.test(word)) end = index + 1;
    if (!isQuoted && /[.,;:?!)]$/.test(word)) return Math.min(end, index + 1);
  }
  return Math.min(end, words.length);
}
