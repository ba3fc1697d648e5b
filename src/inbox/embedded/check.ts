import { isDamage } from '../../files/database.ts';
import type { World } from '../../world.ts';
import { seqsAfter } from './queries.ts';
import { readDelivery } from './rows.ts';
import { type Store, storeError } from './store.ts';

/** A few megabytes a second. */
const [rowsAtOnce, pauseMs] = [100, 100];

/** Reads all that is stored once, slowly: damage is told while the rest can still be saved, not when somebody asks for an old event. */
export async function checkStored(store: Store, { sleep }: Pick<World, 'sleep'>, signal: AbortSignal): Promise<void> {
  try {
    for (let last: number | undefined = 0; last !== undefined; await sleep(pauseMs, signal)) {
      const seqs: number[] = seqsAfter(store.db, last, rowsAtOnce);
      for (const seq of seqs) readDelivery(store, seq);
      last = seqs.at(-1);
    }
  } catch (error) {
    if (isDamage(error)) store.onDamaged(storeError(error, store.db.file).message);
  }
}
