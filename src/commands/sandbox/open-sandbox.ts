import { copyFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { parseTime } from '../../api/duration.ts';
import type { Context } from '../../context.ts';
import { orUndefined, usageError } from '../../errors.ts';
import { sandboxFile } from '../../lib/config/config.ts';
import { withTemporaryFolder } from '../../lib/files/durable-file.ts';
import { confirm } from '../../lib/output/confirm.ts';
import type { Result } from '../../lib/output/view.ts';
import { getMeta, sandboxNow, worldOffset } from '../../sandbox/db/settings.ts';
import { countRows, type Db, openDb } from '../../sandbox/db/store.ts';
import { addedTo, advanceClock, ensureWorld, resetWorld, sandboxPartners } from '../../sandbox/db/world.ts';
import { countDeliveries } from '../../sandbox/deliver/deliver.ts';
import { findServed, readBaseUrl } from './served.ts';

interface OpenOptions {
  /** `--db`. */
  db?: string | undefined;
  /** A new database stays empty, without the built-in data. */
  keepsEmpty?: boolean;
  /** A database of another version of sotra is replaced. */
  replaces?: boolean;
}

/**
 * Runs `act` on the database of `--db`, of a served sandbox at the base URL of the line or the environment, or the built-in one, whatever
 * context is set; with `--dry-run` on a copy. Errors: `usage` if the typed base URL is no such sandbox: data must not land in another
 * database; those of `openDb`.
 */
export async function withSandbox(
  context: Context,
  options: OpenOptions,
  act: (db: Db) => Result | Promise<Result>,
): Promise<Result> {
  const file = await findFile(context, options.db);
  if (!context.options.preview || file === ':memory:') return actOn(file, context, options, act);
  const result = await withTemporaryFolder(async (folder) => {
    const copy = join(folder, 'sandbox.db');
    for (const part of ['', '-wal']) if (existsSync(file + part)) copyFileSync(file + part, copy + part);
    return actOn(copy, context, options, act);
  });
  context.note(`Dry run: the result on a copy; ${file} is unchanged.`);
  if (result.kind !== 'answer' || !Object.hasOwn(Object(result.answer), 'db')) return result;
  return { ...result, answer: { ...(result.answer as object), db: file } };
}

async function actOn(
  file: string,
  { io }: Context,
  { keepsEmpty = false, replaces = false }: OpenOptions,
  act: (db: Db) => Result | Promise<Result>,
): Promise<Result> {
  const db = openDb(file, { replace: replaces });
  try {
    if (!keepsEmpty) ensureWorld(db, io.now(), 'demo');
    return await act(db);
  } finally {
    db.close();
  }
}

async function findFile(context: Context, db: string | undefined): Promise<string> {
  const { options } = context;
  const rival = options.sandbox ? '--sandbox' : options.baseUrl !== undefined ? '--base-url' : '--context';
  if (db !== undefined && (options.sandbox || (options.baseUrl ?? options.context) !== undefined))
    throw usageError(`--db cannot be used with ${rival}`, 'Omit one of them.');
  if (db !== undefined) return db;
  const { url: baseUrl, isTyped } = await readBaseUrl(context);
  if (baseUrl === undefined) return sandboxFile(context.io);
  const hint = 'Name its database with --db, or use --sandbox for the built-in one.';
  const served = await orUndefined(findServed(context, undefined, baseUrl), 'not-found');
  if (served === undefined && !isTyped) {
    context.note(`No sandbox is served at SOTRA_BASE_URL (${baseUrl}): using the built-in one.`);
    return sandboxFile(context.io);
  }
  if (served === undefined) throw usageError(`${baseUrl} is not a sandbox that is served from this data folder`, hint);
  if (served.db !== ':memory:') return served.db;
  throw usageError(`the sandbox at ${baseUrl} keeps its data in memory, which other commands cannot read`, hint);
}

/** The output of `sandbox status`; times in ISO, by the sandbox's clock. */
export function describeSandbox(db: Db, realNowMs: number) {
  const count = (from: string) => countRows(db, from);
  const newest = db.value<number>('SELECT max(at_ms) FROM trade');
  return {
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
}

export function sandboxStatus(db: string | undefined, context: Context): Promise<Result> {
  return withSandbox(context, { db }, (opened) => ({
    kind: 'answer',
    answer: describeSandbox(opened, context.io.now()),
  }));
}

export function advanceSandbox(byMs: number, db: string | undefined, context: Context): Promise<Result> {
  const { now } = context.io;
  return withSandbox(context, { db }, (opened) => {
    advanceClock(opened, byMs, now());
    return { kind: 'answer', answer: describeSandbox(opened, now()) };
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
      await confirm(`reset ${db.file}, including ${added} that you added`, context);
      if (options.dryRun) context.note(`Would be deleted: ${added}.`);
    }
    const frozenMs = input.asOf === undefined ? undefined : parseTime(input.asOf);
    resetWorld(db, io.now(), input.empty ? 'empty' : 'demo', frozenMs);
    return { kind: 'answer', answer: describeSandbox(db, io.now()) };
  });
}
