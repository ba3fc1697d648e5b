import type { Db } from './database.ts';

/** Runs a change in the next transaction; resolves with its result once that is committed. */
export type Commit = <T>(change: () => T) => Promise<T>;

/** The most changes of one transaction, so that nothing else waits for long. */
const maxChanges = 256;

interface Pending {
  run: () => unknown;
  resolve: (result: unknown) => void;
  reject: (error: unknown) => void;
}

/**
 * Commits changes that come together in one transaction: they share its sync to disk. If the transaction fails, each of its changes is
 * rejected with that error and none is stored. `onCommit` is called after each commit, before those who wait for it.
 */
export function groupCommits(db: Db, onCommit: () => void = () => undefined): Commit {
  let waiting: Pending[] = [];
  let isScheduled = false;
  const commitNext = (): void => {
    const changes = waiting.slice(0, maxChanges);
    waiting = waiting.slice(changes.length);
    isScheduled = waiting.length > 0;
    if (isScheduled) setImmediate(commitNext);
    let results: unknown[];
    try {
      results = db.transaction(() => changes.map(({ run }) => run()));
    } catch (error) {
      for (const { reject } of changes) reject(error);
      return;
    }
    onCommit();
    for (const [index, { resolve }] of changes.entries()) resolve(results[index]);
  };
  return (run) =>
    new Promise((resolve, reject) => {
      waiting.push({ run, resolve: resolve as Pending['resolve'], reject });
      // Whatever comes in this turn of the event loop is committed together.
      if (!isScheduled) setImmediate(commitNext);
      isScheduled = true;
    });
}
