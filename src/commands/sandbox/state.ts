import type { Result } from '../../cli/command.ts';
import type { Context } from '../../context.ts';
import { parseTime } from '../../model/duration.ts';
import { column, recordView } from '../../output/columns.ts';
import { confirm } from '../../output/confirm.ts';
import { advanceClock, getMeta, sandboxNow } from '../../sandbox/db/settings.ts';
import { countRows, type Db, openDb } from '../../sandbox/db/store.ts';
import { addedTo, ensureWorld, resetWorld, sandboxPartners } from '../../sandbox/db/world.ts';
import { countDeliveries } from '../../sandbox/deliver/deliver.ts';
import { withSandboxFile } from './served.ts';

function describe(db: Db, realNowMs: number): Result {
  return { kind: 'answer', answer: describeState(db, realNowMs), view: statusView };
}

export function describeState(db: Db, realNowMs: number) {
  const count = (from: string) => countRows(db, from);
  const newest = db.value<number>('SELECT max(at_ms) FROM trade');
  return {
    db: db.file,
    world: getMeta(db, 'world') ?? 'none',
    now: new Date(sandboxNow(db, realNowMs)).toISOString(),
    frozen: getMeta(db, 'clock.frozenMs') !== undefined,
    newestTrade: newest === undefined ? null : new Date(newest).toISOString(),
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
}

export const statusView = recordView<ReturnType<typeof describeState>>([
  column.text('db', 'Database', 'file of the database'),
  column.text('world', 'World', 'demo (built in) or empty (only what was imported)'),
  column.text('now', 'Clock', "the sandbox's time"),
  column.text('frozen', 'Frozen', 'whether the clock is stopped'),
  column.text('newestTrade', 'Newest trade', 'time of the newest trade'),
  column.count('trades', 'Trades', 'trades stored'),
  column.count('traders', 'Traders', 'wallets that traded'),
  column.count('positions', 'Positions', 'positions, open and closed'),
  column.count('tokens', 'Tokens', 'tokens traded'),
  column.count('comments', 'Comments', 'swap comments'),
  column.count('webhooks', 'Webhooks', 'webhooks of both partners'),
  column.count('waiting', 'Waiting', 'deliveries that wait for a try'),
  column.count('failed', 'Failed', 'deliveries that were given up after the last try'),
  column.text('keys', 'Keys', 'API keys of the two partners', ({ keys }) => keys.join(' ')),
]);

/** What a command does with a world, which is made where there is none yet; with `--dry-run` with a copy of it. */
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

/** Drops everything in the sandbox and makes a new world. Errors: `config` when the file cannot be opened; those of `confirm`. */
export async function resetSandbox(
  { empty, asOf }: { empty?: boolean | undefined; asOf?: string | undefined },
  context: Context,
  file: string,
): Promise<Result> {
  const { io } = context;
  // What another version of sotra wrote cannot be looked into, and so cannot be asked about.
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
