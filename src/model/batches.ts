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

/** All items of the batches. */
export async function collectItems(batches: AsyncIterable<readonly unknown[]>): Promise<unknown[]> {
  const pages: (readonly unknown[])[] = [];
  for await (const batch of batches) pages.push(batch);
  return pages.flat();
}
