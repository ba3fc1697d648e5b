import { fdatasyncSync } from 'node:fs';
import { type MessagePort, parentPort, receiveMessageOnPort } from 'node:worker_threads';
import { SotraError } from '../../errors.ts';
import type { Db } from '../../files/database.ts';
import type { KeepLimits, Target } from '../inbox.ts';
import type { Batch, CommitResult } from './batch.ts';
import { type KeepStep, keepStep } from './keep.ts';
import { openStore, startLogSync, storeError } from './store.ts';
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
  /** `handle`: of the store's file, which is then synced as well. */
  | { kind: 'checkpoint'; handle?: number }
  | { kind: 'close' };

export interface ThreadAnswer {
  committed?: CommitResult;
  kept?: KeepStep;
  failure?: { message: string; hint: string | undefined };
}

interface Store {
  db: Db;
  writes: Writes;
  log: ReturnType<typeof startLogSync>;
}

/** Answers requests in their order, commits in a row by one transaction; the first request opens the store. */
function createStoreKeeper() {
  let store: Store | undefined;
  const answerTo = (request: Exclude<ThreadRequest, CommitRequest>): ThreadAnswer => {
    if (request.kind === 'open') {
      const db = openStore(request.folder);
      store = { db, writes: writesOf(db), log: startLogSync(db.file) };
      return {};
    }
    if (store === undefined) throw notOpen();
    const { db, writes } = store;
    if (request.kind === 'keep') return { kept: keepStep(db, request.limits, request.nowMs, request.after) };
    if (request.kind === 'checkpoint') {
      db.get('PRAGMA wal_checkpoint(PASSIVE)');
      if (request.handle !== undefined) fdatasyncSync(request.handle);
      return {};
    }
    if (request.kind === 'targets') writes.addTargets(request.targets, request.nowMs);
    else {
      // A closed database that is asked for more ends the process.
      const { log } = store;
      store = undefined;
      log.close();
      closeStore(db);
    }
    return {};
  };
  const commitAll = (commits: readonly CommitRequest[]): ThreadAnswer[] => {
    if (store === undefined) throw notOpen();
    const batches = commits.map(({ batch, bodies }) => ({ ...(JSON.parse(batch) as Batch), bodies }));
    return store.writes.commit(batches).map((committed) => ({ committed }));
  };
  const failureOf = (cause: unknown): ThreadAnswer => {
    const { message, hint } = storeError(cause, store?.db.file ?? '');
    return { failure: { message, hint } };
  };
  const attempt = (count: number, act: () => ThreadAnswer[]): ThreadAnswer[] => {
    try {
      return act();
    } catch (cause) {
      return Array(count).fill(failureOf(cause));
    }
  };
  return {
    answersTo: (requests: readonly ThreadRequest[]): ThreadAnswer[] => {
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
    },
    /** The answers, once what they say is safe. */
    safe: async (answers: readonly ThreadAnswer[]): Promise<readonly ThreadAnswer[]> => {
      try {
        await store?.log.sync();
        return answers;
      } catch (cause) {
        return answers.map(() => failureOf(cause));
      }
    },
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

function answerRequests(port: MessagePort): void {
  const { answersTo, safe } = createStoreKeeper();
  const next = (): { message: ThreadRequest } | undefined => receiveMessageOnPort(port);
  let answers: ThreadAnswer[] = [];
  let sent = Promise.resolve();
  /** One sync is for all that was committed before it. */
  const send = async (): Promise<void> => {
    const some = answers;
    answers = [];
    if (some.length > 0) port.postMessage(JSON.stringify(await safe(some)));
  };
  port.on('message', (first: ThreadRequest) => {
    const requests = [first];
    // What came during the last commit.
    for (let more = next(); more !== undefined; more = next()) requests.push(more.message);
    const closing = requests.filter(({ kind }) => kind === 'close');
    answers.push(...answersTo(requests.filter(({ kind }) => kind !== 'close')));
    sent = sent.then(send).then(() => {
      if (closing.length === 0) return;
      port.postMessage(JSON.stringify(answersTo(closing)));
      port.close();
    });
  });
}

// The whole of a thread: it alone writes to the store, so that no commit stops the receiving of deliveries.
if (parentPort !== null) answerRequests(parentPort);
