import type { Result } from '../../cli/command.ts';
import type { Context } from '../../context.ts';
import { SotraError, usageError } from '../../errors.ts';
import { parseJson } from '../../model/json.ts';
import { confirmReplace } from '../../output/confirm.ts';
import { jsonTokens } from '../../output/json.ts';
import * as endpoints from './endpoints.ts';
import { listed, shownSecret } from './listed.ts';
import { jobsFolder, listJobs, serviceId } from './upload/jobs.ts';
import { keptSecret, maskSecret, writeSecret } from './upload/secret-file.ts';
import { list as listView, secretWritten } from './view.ts';

/** The caller's webhooks, secrets masked in every format unless asked for. */
export async function listWebhooks(showSecrets: boolean, context: Context): Promise<Result> {
  const { data, text } = await context.call(endpoints.list, {});
  if (showSecrets) return { kind: 'answer', answer: data, text, view: listView };
  const masked = await maskSecrets(text, context);
  return { kind: 'answer', answer: parseJson(masked), text: masked, view: listView };
}

/** The JSON as it came, its secrets masked, also where they stand in a shape that is not the contract's. */
async function maskSecrets(text: string, { world }: Context): Promise<string> {
  const parts: string[] = [];
  let part = '';
  let name = '';
  let held = '';
  const masked = (token: string, next: string) => {
    if (!token.startsWith('"')) return token;
    const value = token.includes('\\') ? String(parseJson(token)) : token.slice(1, -1);
    if (next === ':') name = value;
    else if (value !== '' && (/secret/i.test(name) || value.startsWith('whsec_')))
      return JSON.stringify(maskSecret(value));
    return token;
  };
  for (const token of jsonTokens(text)) {
    part += masked(held, token);
    held = token;
    if (part.length < 1_000_000) continue;
    parts.push(part);
    part = '';
    await world.sleep(0, world.signal);
  }
  return parts.join('') + part + masked(held, '');
}

/** Writes the secret of a webhook to a new file. Errors: `usage` for a file that exists, `not-found` where nobody knows the secret. */
export async function writeWebhookSecret(uid: string, out: string, context: Context): Promise<Result> {
  await confirmReplace('--out', out, context);
  const secret = (await secretOfUpload(uid, context)) ?? (await listedSecret(uid, context));
  try {
    writeSecret(out, secret);
  } catch (cause) {
    throw usageError(`--out ${out}: cannot be written: ${cause instanceof Error ? cause.message : cause}`);
  }
  return { kind: 'answer', answer: { uid, secretFile: out }, view: secretWritten };
}

/** The secret that an upload of this machine keeps. */
async function secretOfUpload(uid: string, context: Context): Promise<string | undefined> {
  if (context.options.preview) return undefined;
  const { baseUrl } = await serviceId(context);
  const job = listJobs(await jobsFolder(context)).find(
    ({ state }) => state.uid === uid && state.plan.baseUrl === baseUrl && state.plan.task === 'register',
  );
  return job && keptSecret(job)?.secret;
}

async function listedSecret(uid: string, context: Context): Promise<string> {
  const { data } = await context.call(endpoints.list, {});
  const webhook = listed(data).find((each) => each.uid === uid);
  if (webhook === undefined)
    throw new SotraError('not-found', `webhook ${uid} does not exist`, { hint: 'sotra webhook list shows yours.' });
  const secret = shownSecret(webhook);
  if (secret !== undefined) return secret;
  throw new SotraError('not-found', `the service does not show the secret of webhook ${uid}`, {
    hint: 'It was told once, at registration. Where it is lost, register a new webhook and delete this one.',
  });
}
