import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Result } from '../../cli/command.ts';
import type { Context } from '../../context.ts';
import { SotraError, usageError } from '../../errors.ts';
import * as endpoints from './endpoints.ts';
import { jobsFolder, listJobs, serviceId } from './jobs.ts';
import { listed } from './listed.ts';
import { maskSecret, readSecrets, writeSecret } from './secret-file.ts';
import { secretWritten } from './sync-view.ts';
import { list as listView } from './view.ts';

/** The caller's webhooks, secrets masked in every format unless asked for. */
export async function listWebhooks(showSecrets: boolean, context: Context): Promise<Result> {
  const { data, text } = await context.call(endpoints.list, {});
  if (showSecrets) return { kind: 'answer', answer: data, text, view: listView };
  return { kind: 'answer', answer: masked(data), view: listView };
}

/** The answer with its secrets masked, also where they stand in a shape that is not the contract's. */
function masked(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(masked);
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).map(([name, each]) => {
    const isSecret = typeof each === 'string' && each !== '' && (/secret/i.test(name) || each.startsWith('whsec_'));
    return [name, isSecret ? maskSecret(each) : masked(each)];
  });
  return Object.fromEntries(fields);
}

/** Writes the secret of a webhook to a new file. Errors: `usage` for a file that exists, `not-found` where nobody knows the secret. */
export async function writeWebhookSecret(uid: string, out: string, context: Context): Promise<Result> {
  if (existsSync(out)) throw usageError(`--out ${out}: exists already`, 'Name a new file, or remove this one.');
  const secret = (await keptSecret(uid, context)) ?? (await listedSecret(uid, context));
  try {
    writeSecret(out, secret);
  } catch (cause) {
    throw usageError(`--out ${out}: cannot be written: ${cause instanceof Error ? cause.message : cause}`);
  }
  return { kind: 'answer', answer: { uid, secretFile: out }, view: secretWritten };
}

/** The secret that an upload of this machine keeps. */
async function keptSecret(uid: string, context: Context): Promise<string | undefined> {
  if (context.options.dryRun || context.options.curl) return undefined;
  const { baseUrl } = await serviceId(context);
  for (const { folder, state } of listJobs(await jobsFolder(context))) {
    if (state.uid !== uid || state.plan.baseUrl !== baseUrl || state.plan.task !== 'register') continue;
    const file = state.plan.secretFile ?? join(folder, 'secret');
    if (existsSync(file)) return readSecrets(file)[0];
  }
  return undefined;
}

async function listedSecret(uid: string, context: Context): Promise<string> {
  const { data } = await context.call(endpoints.list, {});
  const webhook = listed(data).find((each) => each.uid === uid);
  if (webhook === undefined)
    throw new SotraError('not-found', `webhook ${uid} does not exist`, { hint: 'sotra webhook list shows yours.' });
  if (webhook.secret) return webhook.secret;
  throw new SotraError('not-found', `the service does not show the secret of webhook ${uid}`, {
    hint: 'It was told once, at registration. Where it is lost, register a new webhook and delete this one.',
  });
}
