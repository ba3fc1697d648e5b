import { parseTime } from '../../api/duration.ts';
import type { Context } from '../../context.ts';
import { confirm } from '../../lib/output/confirm.ts';
import type { Result } from '../../lib/output/result.ts';
import { getMeta, sandboxNow, worldOffset } from '../../sandbox/db/settings.ts';
import { countRows, type Db } from '../../sandbox/db/store.ts';
import { addedTo, advanceClock, resetWorld, sandboxPartners } from '../../sandbox/db/world.ts';
import { countDeliveries } from '../../sandbox/deliver/deliver.ts';
import { withSandbox } from './open-sandbox.ts';
import type { SandboxState } from './view.ts';

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
  return { kind: 'answer', answer };
}

export function sandboxStatus(db: string | undefined, context: Context): Promise<Result> {
  return withSandbox(context, { db }, (opened) => describe(opened, context.io.now()));
}

export function advanceSandbox(byMs: number, db: string | undefined, context: Context): Promise<Result> {
  const { now } = context.io;
  return withSandbox(context, { db }, (opened) => {
    advanceClock(opened, byMs, now());
    return describe(opened, now());
  });
}

/** Deletes all data of the sandbox and makes new data. Errors: those of `withSandbox` and `confirm`. */
export function resetSandbox(
  input: { empty?: boolean | undefined; asOf?: string | undefined; db?: string | undefined },
  context: Context,
): Promise<Result> {
  const { io, options } = context;
  // A file of another version cannot be read: --yes replaces it unseen.
  return withSandbox(context, { db: input.db, keepsEmpty: true, replaces: options.yes }, async (db) => {
    const added = addedTo(db).join(', ');
    if (added !== '') {
      await confirm(`reset ${db.file}, which holds ${added} of yours`, context);
      if (options.dryRun) context.note(`Would be deleted: ${added}.`);
    }
    const frozenMs = input.asOf === undefined ? undefined : parseTime(input.asOf);
    resetWorld(db, io.now(), input.empty ? 'empty' : 'demo', frozenMs);
    return describe(db, io.now());
  });
}
