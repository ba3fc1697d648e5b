import { parentPort } from 'node:worker_threads';
import { SotraError } from '../../../../errors.ts';
import type { Db } from '../../../../files/database.ts';
import type { KeepLimits, Target } from '../inbox.ts';
import type { Batch, Committed } from './batch.ts';
import { type KeepStep, keepStep } from './keep.ts';
import { openStore, storeError } from './store.ts';
import { type Writes, writesOf } from './writes.ts';

export type ThreadRequest =
  | { kind: 'open'; folder: string }
  /** The batch as JSON, which is handed over in a fraction of the time. */
  | { kind: 'commit'; batch: string; bodies: Uint8Array }
  | { kind: 'targets'; targets: readonly Target[]; nowMs: number }
  | { kind: 'keep'; limits: KeepLimits; nowMs: number; after: number }
  | { kind: 'close' };

export interface ThreadAnswer {
  committed?: Committed;
  kept?: KeepStep;
  failure?: { message: string; hint: string | undefined };
}

/** Answers requests one after the other; the first one opens the store. */
function createStoreKeeper(): (request: ThreadRequest) => ThreadAnswer {
  let store: { db: Db; writes: Writes } | undefined;
  const answerTo = (request: ThreadRequest): ThreadAnswer => {
    if (request.kind === 'open') {
      const db = openStore(request.folder);
      store = { db, writes: writesOf(db) };
      return {};
    }
    if (store === undefined) throw new SotraError('internal', 'the store is not open');
    const { db, writes } = store;
    if (request.kind === 'commit') {
      const batch = JSON.parse(request.batch) as Batch;
      return { committed: writes.commit(batch, request.bodies) };
    }
    if (request.kind === 'keep') return { kept: keepStep(db, request.limits, request.nowMs, request.after) };
    if (request.kind === 'targets') writes.addTargets(request.targets, request.nowMs);
    else closeStore(db);
    return {};
  };
  return (request) => {
    try {
      return answerTo(request);
    } catch (cause) {
      const { message, hint } = storeError(cause, store?.db.file ?? '');
      return { failure: { message, hint } };
    }
  };
}

/** Brings the log into the file, so that it lies there alone; where that cannot be, the next start reads the log. */
function closeStore(db: Db): void {
  try {
    db.get('PRAGMA wal_checkpoint(TRUNCATE)');
  } finally {
    db.close();
  }
}

// The whole of a thread: it alone writes to the store, so that no commit stops the receiving of deliveries.
const answerTo = createStoreKeeper();
parentPort?.on('message', (request: ThreadRequest) => {
  parentPort?.postMessage(answerTo(request));
  if (request.kind === 'close') parentPort?.close();
});
