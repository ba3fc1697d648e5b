import { copyFileSync, existsSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import type { Result } from '../../cli/command.ts';
import type { Context } from '../../context.ts';
import { local } from '../../contract/endpoint.ts';
import { SotraError, usageError } from '../../errors.ts';
import { workFolder } from '../../files/durable-file.ts';
import { serviceOf } from '../../tool/auth-status.ts';

export const dbParam = local(
  z.string().min(1).optional(),
  'database file; left out, that of the served sandbox at the base URL, or else the built-in one',
);

/** What a command does with the sandbox it is about; with `--dry-run` it works on a copy, whose end state is what is shown. */
export async function withSandboxFile(
  context: Context,
  db: string | undefined,
  act: (file: string) => Result | Promise<Result>,
): Promise<Result> {
  const file = await resolveFile(context, db);
  if (!context.options.preview) return act(file);
  const result = await onCopy(file, context, act);
  context.note(`Dry run: this is how it would end, and ${file} is as it was.`);
  if (result.kind !== 'answer' || !Object.hasOwn(Object(result.answer), 'db')) return result;
  return { ...result, answer: { ...(result.answer as object), db: file } };
}

/**
 * The database of `--db`, that of a served sandbox at the base URL, or the built-in one. Errors: `usage` where the base URL is of something
 * else: its data must not land in another database.
 */
async function resolveFile(context: Context, db: string | undefined): Promise<string> {
  const { options } = context;
  const rival = options.sandbox ? '--sandbox' : options.baseUrl !== undefined ? '--base-url' : '--context';
  if (db !== undefined && (options.sandbox || (options.baseUrl ?? options.context) !== undefined))
    throw usageError(`--db and ${rival} name two sandboxes`, 'Leave one of them out.');
  if (db !== undefined) return db;
  const service = await serviceOf(context);
  if (service === undefined || service.kind === 'sandbox') return context.sandboxFile();
  const { baseUrl } = service;
  const hint = 'Name its database with --db, or say --sandbox for the built-in one.';
  const { findServed } = await import('./served.ts');
  const served = await findServed(context, undefined, baseUrl).catch((thrown: unknown) => {
    if (!(thrown instanceof SotraError) || thrown.code !== 'not-found') throw thrown;
    throw usageError(`${baseUrl} is not a sandbox that is served from this data folder`, hint);
  });
  if (served.db !== ':memory:') return served.db;
  throw usageError(`the sandbox at ${baseUrl} keeps its world in memory, where nothing else reaches it`, hint);
}

/** What `act` gives for a copy of a database that is dropped afterwards: neither the file nor its folder is touched. */
async function onCopy<T>(file: string, context: Context, act: (copy: string) => T | Promise<T>): Promise<T> {
  if (file === ':memory:') return act(file);
  const folder = workFolder(dirname(file), 'copy', context);
  try {
    const copy = join(folder, 'sandbox.db');
    for (const part of ['', '-wal']) if (existsSync(file + part)) copyFileSync(file + part, copy + part);
    return await act(copy);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
