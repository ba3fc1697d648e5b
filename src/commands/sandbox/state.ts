import { parseTime } from '../../api/duration.ts';
import type { Context } from '../../context.ts';
import { confirm } from '../../lib/output/confirm.ts';
import type { Result } from '../../lib/output/result.ts';
import { getMeta, sandboxNow, worldOffset } from '../../sandbox/db/settings.ts';
import { countRows, type Db, openDb } from '../../sandbox/db/store.ts';
import { addedTo, advanceClock, ensureWorld, resetWorld, sandboxPartners } from '../../sandbox/db/world.ts';
import { countDeliveries } from '../../sandbox/deliver/deliver.ts';
import { withSandboxFile } from './served.ts';
import { type SandboxState, statusView } from './view.ts';

function describe(db: Db, realNowMs: number): Result {
  const count = (from: string) => countRows(db, from);
  const newest = db.value<number>('SELECT max(at_ms) FROM trade');
  const answer: SandboxState = {
    db: db.file,
    world: getMeta(db, 'world') ?? 'none',
    now: new Date(sandboxNow(db, realNowMs)).toISOString(),
    frozen: getMeta(db, 'clock.frozenMs') !== undefined,
    newestTrade: newest === undefined ? null : new Date(newest + worldOffset(db)).toISOString(),
    trades: count('trade'),
    traders: count('(SELECT DISTINCT wallet FROM trade)'),
    positions: count('position'),
    tokens: count('token'),
    comments: count('comment'),
    webhooks: count('webhook'),
    waiting: countDeliveries(db, 'waiting'),
    failed: countDeliveries(db, 'failed'),
    keys: sandboxPartners.map((partner) => partner.key),
  };
  return { kind: 'answer', answer, view: statusView };
}

/** Runs `act` on the data of a sandbox, made if there is none yet; with `--dry-run` on a copy. */
export function withWorld(
  file: string | undefined,
  context: Context,
  act: (db: Db) => Result | Promise<Result>,
): Promise<Result> {
  return withSandboxFile(context, file, async (dbFile) => {
    const db = openDb(dbFile);
    try {
      ensureWorld(db, context.io.now(), 'demo');
      return await act(db);
    } finally {
      db.close();
    }
  });
}

export function sandboxStatus(file: string | undefined, context: Context): Promise<Result> {
  return withWorld(file, context, (db) => describe(db, context.io.now()));
}

/** Deletes all data of the sandbox and makes new data. Errors: `config` when the file cannot be opened; those of `confirm`. */
export async function resetSandbox(
  { empty, asOf }: { empty?: boolean | undefined; asOf?: string | undefined },
  context: Context,
  file: string,
): Promise<Result> {
  const { io } = context;
  // A file of another version cannot be read: --yes replaces it unseen.
  const db = openDb(file, { replace: context.options.yes });
  try {
    const added = addedTo(db);
    if (added.length > 0) {
      const what = added.join(', ');
      await confirm(`reset ${file}, which holds ${what} of yours`, context);
      if (context.options.dryRun) context.note(`Would be deleted: ${what}.`);
    }
    resetWorld(db, io.now(), empty ? 'empty' : 'demo', asOf === undefined ? undefined : parseTime(asOf));
    return describe(db, io.now());
  } finally {
    db.close();
  }
}

export function advanceSandbox(byMs: number, file: string | undefined, context: Context): Promise<Result> {
  const { now } = context.io;
  return withWorld(file, context, (db) => {
    advanceClock(db, byMs, now());
    return describe(db, now());
  });
}
