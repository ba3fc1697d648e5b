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

/** Items that are all there, as one batch. */
export async function* oneBatch<T>(items: readonly T[]): AsyncGenerator<readonly T[]> {
  yield items;
}

/** All items of the batches. */
export async function collectItems(batches: AsyncIterable<readonly unknown[]>): Promise<unknown[]> {
  const pages: (readonly unknown[])[] = [];
  for await (const batch of batches) pages.push(batch);
  return pages.flat();
}
