import { itemBytes, itemLines } from './item-lines.ts';
import type { Page } from './paginate.ts';

interface Lines {
  lines?: (count: number) => string | undefined;
  bytes?: (count: number) => Uint8Array | undefined;
}

/** A batch that also has its items as lines of JSON. */
type LinedBatch = readonly unknown[] & Lines;

function withLines(items: readonly unknown[], { lines, bytes }: Lines): LinedBatch {
  return Object.defineProperties([...items], {
    lines: { value: () => lines?.(items.length) },
    bytes: { value: () => bytes?.(items.length) },
  });
}

/** The wanted items of a page as a batch with their lines of JSON, as received. */
export function pageBatch(wanted: readonly unknown[], { items, source }: Page): readonly unknown[] {
  if (source === undefined) return wanted;
  const { text, body, key } = source;
  return withLines(wanted, {
    lines: (count) => itemLines(text, key, count),
    ...(body && { bytes: (count) => itemBytes({ text, body, items }, count) }),
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

/** The same as bytes that are safe for a terminal, where that is faster; call it once. */
export function bytesOf(batch: readonly unknown[]): Uint8Array | undefined {
  return (batch as LinedBatch).bytes?.(batch.length);
}
