import { parentPort, receiveMessageOnPort } from 'node:worker_threads';
import { SotraError } from '../../../../errors.ts';
import type { Db } from '../../../../files/database.ts';
import type { KeepLimits, Target } from '../inbox.ts';
import type { Batch, Committed } from './batch.ts';
import { type KeepStep, keepStep } from './keep.ts';
import { openStore, storeError } from './store.ts';
import { type Writes, writesOf } from './writes.ts';

interface CommitRequest {
  kind: 'commit';
  /** As JSON, which is handed over in a fraction of the time. */
  batch: string;
  bodies: Uint8Array;
}

export type ThreadRequest =
  | { kind: 'open'; folder: string }
  | CommitRequest
  | { kind: 'targets'; targets: readonly Target[]; nowMs: number }
  | { kind: 'keep'; limits: KeepLimits; nowMs: number; after: number }
  | { kind: 'close' };

export interface ThreadAnswer {
  committed?: Committed;
  kept?: KeepStep;
  failure?: { message: string; hint: string | undefined };
}

/** Answers requests in their order, commits in a row by one transaction; the first request opens the store. */
function createStoreKeeper(): (requests: readonly ThreadRequest[]) => ThreadAnswer[] {
  let store: { db: Db; writes: Writes } | undefined;
  const answerTo = (request: Exclude<ThreadRequest, CommitRequest>): ThreadAnswer => {
    if (request.kind === 'open') {
      const db = openStore(request.folder);
      store = { db, writes: writesOf(db) };
      return {};
    }
    if (store === undefined) throw notOpen();
    const { db, writes } = store;
    if (request.kind === 'keep') return { kept: keepStep(db, request.limits, request.nowMs, request.after) };
    if (request.kind === 'targets') writes.addTargets(request.targets, request.nowMs);
    else {
      // A closed database that is asked for more ends the process.
      store = undefined;
      closeStore(db);
    }
    return {};
  };
  const commitAll = (commits: readonly CommitRequest[]): ThreadAnswer[] => {
    if (store === undefined) throw notOpen();
    const batches = commits.map(({ batch, bodies }) => ({ ...(JSON.parse(batch) as Batch), bodies }));
    return store.writes.commit(batches).map((committed) => ({ committed }));
  };
  const attempt = (count: number, act: () => ThreadAnswer[]): ThreadAnswer[] => {
    try {
      return act();
    } catch (cause) {
      const { message, hint } = storeError(cause, store?.db.file ?? '');
      return Array(count).fill({ failure: { message, hint } });
    }
  };
  return (requests) => {
    const answers: ThreadAnswer[] = [];
    for (let at = 0; at < requests.length; ) {
      const commits = commitsFrom(requests.slice(at));
      const [request] = requests.slice(at);
      if (commits.length > 0) answers.push(...attempt(commits.length, () => commitAll(commits)));
      else if (request !== undefined && request.kind !== 'commit')
        answers.push(...attempt(1, () => [answerTo(request)]));
      at += Math.max(1, commits.length);
    }
    return answers;
  };
}

const notOpen = () => new SotraError('internal', 'the store is not open');

function commitsFrom(requests: readonly ThreadRequest[]): CommitRequest[] {
  const end = requests.findIndex(({ kind }) => kind !== 'commit');
  return requests.slice(0, end === -1 ? requests.length : end) as CommitRequest[];
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
const answersTo = createStoreKeeper();
const next = (): { message: ThreadRequest } | undefined =>
  parentPort === null ? undefined : receiveMessageOnPort(parentPort);
parentPort?.on('message', (first: ThreadRequest) => {
  const requests = [first];
  // What came during the last commit.
  for (let more = next(); more !== undefined; more = next()) requests.push(more.message);
  parentPort?.postMessage(answersTo(requests));
  if (requests.some(({ kind }) => kind === 'close')) parentPort?.close();
});
