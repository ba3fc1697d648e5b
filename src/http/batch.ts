import { parseJson } from '../model/json.ts';
import type { Page } from './paginate.ts';

interface Lines {
  lines?: (count: number) => string | undefined;
}

/** A batch that also has its items as lines of JSON. */
type LinedBatch = readonly unknown[] & Lines;

function withLines(items: readonly unknown[], { lines }: Lines): LinedBatch {
  return Object.defineProperties([...items], {
    lines: { value: () => lines?.(items.length) },
  });
}

/** The wanted items of a page as a batch with their lines of JSON, as received. */
export function pageBatch(wanted: readonly unknown[], { source }: Page): readonly unknown[] {
  if (source === undefined) return wanted;
  const { text, key } = source;
  return withLines(wanted, {
    lines: (count) => itemLines(text, key, count),
  });
}

/** A batch with its lines of JSON. */
export function linedBatch(
  items: readonly unknown[],
  lines: (count: number) => string | undefined,
): readonly unknown[] {
  return withLines(items, { lines });
}

/** A batch as one line of JSON an item, exactly as received; `undefined` for batches without lines. */
export function linesOf(batch: readonly unknown[]): string | undefined {
  return (batch as LinedBatch).lines?.(batch.length);
}

/** The JSON of each item of a batch, as received where that is known. */
export function textsOf(batch: readonly unknown[]): readonly string[] {
  const lines = linesOf(batch);
  if (lines === undefined) return batch.map((item) => JSON.stringify(item ?? null));
  return lines.split('\n').slice(0, -1);
}

/** The batches as they come, `see` called with each first. */
export async function* onEachBatch(
  batches: AsyncIterable<readonly unknown[]>,
  see: (batch: readonly unknown[]) => void,
): AsyncGenerator<readonly unknown[]> {
  for await (const batch of batches) {
    see(batch);
    yield batch;
  }
}

/** All items of the batches, and the JSON of their list, as received where that is known. */
export async function wholeOf(
  batches: AsyncIterable<readonly unknown[]>,
): Promise<{ answer: unknown[]; text: string }> {
  const pages: (readonly unknown[])[] = [];
  for await (const batch of batches) pages.push(batch);
  return { answer: pages.flat(), text: `[${pages.flatMap(textsOf).join(',')}]` };
}

const quote = 0x22;
const comma = 0x2c;
const backslash = 0x5c;

/**
 * The first `count` items of an answer, one line of JSON each, every number and key as received; `key` names the field that holds the
 * list. `undefined` without a list, and for items that are neither objects nor lists. Takes valid JSON.
 */
export function itemLines(text: string, key: string | undefined, count: number): string | undefined {
  if (count === 0) return '';
  // A raw line break in JSON is white space: inside strings it is escaped.
  const flat = text.includes('\n') || text.includes('\r') ? text.replaceAll(/[\n\r]/g, ' ') : text;
  return scanLines(flat, count, key);
}

function scanLines(text: string, count: number, key: string | undefined): string | undefined {
  const open = key === undefined ? firstMark(text, 0) : startOfValue(text, key);
  if (text[open] !== '[') return undefined;
  const lines: string[] = [];
  for (let at = firstMark(text, open + 1); lines.length < count; ) {
    const mark = text.charCodeAt(at);
    if (mark === comma) at = firstMark(text, at + 1);
    if (!isOpening(text.charCodeAt(at))) return undefined;
    const end = endOf(text, at);
    lines.push(text.slice(at, end));
    at = firstMark(text, end);
  }
  return `${lines.join('\n')}\n`;
}

/** Where the value of a key of the outermost object begins; the end of the text without that key. */
function startOfValue(text: string, key: string): number {
  let at = firstMark(text, firstMark(text, 0) + 1);
  while (text.charCodeAt(at) === quote) {
    const nameEnd = endOfString(text, at);
    const value = firstMark(text, firstMark(text, nameEnd) + 1);
    if (parseJson(text.slice(at, nameEnd)) === key) return value;
    // Behind the comma; behind the last value of the object nothing stands.
    at = firstMark(text, firstMark(text, endOf(text, value)) + 1);
  }
  return text.length;
}

function firstMark(text: string, from: number): number {
  let at = from;
  while (text.charCodeAt(at) <= 0x20) at += 1;
  return at;
}

/** The end of the value that begins here; for a number or word, the mark that ends it. */
function endOf(text: string, from: number): number {
  let depth = 0;
  for (let at = from; at < text.length; ) {
    const mark = text.charCodeAt(at);
    if (depth === 0 && (mark === comma || isClosing(mark))) return at;
    at = mark === quote ? endOfString(text, at) : at + 1;
    if (isOpening(mark)) depth += 1;
    else if (isClosing(mark)) depth -= 1;
    if (depth === 0 && (mark === quote || isClosing(mark))) return at;
  }
  return text.length;
}

function endOfString(text: string, from: number): number {
  for (let at = from + 1; at < text.length; at += 1) {
    const mark = text.charCodeAt(at);
    if (mark === quote) return at + 1;
    if (mark === backslash) at += 1;
  }
  return text.length;
}

function isOpening(mark: number): boolean {
  return mark === 0x7b || mark === 0x5b;
}

function isClosing(mark: number): boolean {
  return mark === 0x7d || mark === 0x5d;
}
