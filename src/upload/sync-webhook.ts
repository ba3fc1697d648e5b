import { rmSync } from 'node:fs';
import type { WebhookList } from '../api/webhook-answers.ts';
import { command } from '../client/shell.ts';
import { hideUrlSecrets } from '../client/url-secrets.ts';
import type { Context } from '../context.ts';
import { SotraError, usageError } from '../errors.ts';
import { isSameDestination, jobsOfKey, setAside } from './jobs.ts';
import { finishJob, type Job } from './journal.ts';
import { deleteWebhook, listWebhooksFor } from './make-webhook.ts';
import type { UploadInput } from './run-job.ts';
import { addSecret, findWebhookSecret, readOwnSecret } from './secrets.ts';

/** The webhook that a list is for. */
export interface Target {
  /** `undefined` where it is still to be made. */
  uid: string | undefined;
  /** A replacement that an earlier run began. */
  replacement: Job | undefined;
  /** The webhooks of the destination. */
  listed: WebhookList;
  /** What this machine did with this key, with the addresses that it confirmed of those webhooks. */
  jobs: readonly Job[];
}

/** Errors: `usage` where a command line names no webhook, or two, or one that a flag is not for. */
export function checkSyncFlags({ uid, destinationUrl: url, secretFile, replace }: UploadInput): void {
  if (uid !== undefined && /^https?:/i.test(uid))
    throw usageError(
      `<uid> ${hideUrlSecrets(uid)}: is an address, not the uid of a webhook`,
      'Give the address with --url.',
    );
  if (uid !== undefined && /\.\w+$|\/|^-$/.test(uid))
    throw usageError(`<uid> ${uid}: is a file, not the uid of a webhook`, command`Give it with --file ${uid}.`);
  if ((uid === undefined) === (url === undefined))
    throw usageError(
      uid === undefined ? '--url is required: which webhook?' : '--url and a uid both name the webhook',
      uid === undefined ? 'Give the destination with --url, or the uid of a webhook.' : 'Omit one of them.',
    );
  if (url === undefined && secretFile !== undefined) throw usageError('--secret-file is for --url', 'Omit it.');
  if (url === undefined && replace) throw usageError('--replace is for --url', 'Name the webhook by its destination.');
}

/**
 * Finds the webhook of a sync; a preview asks nobody and goes by what this machine made. With `isCheck` nothing is changed. Errors: those of
 * the list; `conflict` where a destination has several and none is known to be meant.
 */
export async function findSyncTarget(
  { uid, destinationUrl: url }: UploadInput,
  isCheck: boolean,
  context: Context,
): Promise<Target> {
  if (url === undefined)
    return { uid, replacement: undefined, listed: [], jobs: await jobsOfKey(context, (each) => each === uid) };
  const answer = context.options.preview ? undefined : await listWebhooksFor(url, context);
  const jobs = await jobsOfKey(context, (each) => answer?.some((listed) => listed.uid === each) ?? true);
  const own = jobs.filter(({ state }) => isSameDestination(state.plan.destinationUrl, url));
  const made = own.flatMap(({ state }) => (state.uid === undefined ? [] : [{ uid: state.uid, destinationUrl: url }]));
  const listed = answer ?? made.slice(-1);
  const isListed = (uid: string | undefined) => listed.some((each) => each.uid === uid);
  const open = own.filter(({ state }) => state.finishedMs === undefined);
  const replacement = open.find(({ state }) => state.plan.replaces !== undefined);
  if (replacement !== undefined) {
    const { uid } = replacement.state;
    if (uid === undefined || isListed(uid)) return { uid, replacement, listed, jobs };
    if (!isCheck) setAside(replacement);
  }
  const found = { replacement: undefined, listed, jobs: jobs.filter((job) => job !== replacement) };
  // A POST without an answer made one of those that came since.
  const lost = open.find(({ state }) => state.posting !== undefined)?.state.posting;
  if (lost !== undefined && (listed.length === 0 || listed.some(({ uid }) => !lost.before.includes(uid))))
    return { uid: undefined, ...found };
  const [first, second] = listed;
  const known = listed.filter(({ uid }) => jobs.some(({ state }) => state.uid === uid));
  const gone = own.at(-1)?.state.uid;
  if (gone !== undefined && known.length === 0) {
    const next = first === undefined ? 'registering a new one' : `using ${first.uid}, which sends to the same address`;
    context.warn(`webhook ${gone} of an earlier run is gone${isCheck ? '' : `: ${next}`}`);
  }
  if (second !== undefined && known.length !== 1)
    throw new SotraError('conflict', `${listed.length} webhooks send to ${hideUrlSecrets(url)}`, {
      hint: `Name one in place of --url: ${listed.map(({ uid }) => uid).join(', ')}. sotra webhook delete removes another.`,
    });
  const { uid: used } = (second === undefined ? first : known[0]) ?? {};
  if (second !== undefined)
    context.warn(
      `${listed.length} webhooks send to ${hideUrlSecrets(url)}: ${listed.map(({ uid }) => uid).join(', ')}. ` +
        `This sync uses ${used}; sotra webhook delete removes another.`,
    );
  return { uid: used, ...found };
}

/** The last step of a replacement: the old webhook goes, with all that this machine keeps of it. Errors: those of the call. */
export async function finishReplacement(job: Job, jobs: readonly Job[], context: Context): Promise<void> {
  const { replaces } = job.state.plan;
  if (replaces === undefined) return;
  await deleteWebhook(replaces, context);
  for (const other of jobs)
    if (other.state.uid === replaces && other.folder !== job.folder) rmSync(other.folder, { recursive: true });
  await finishJob(job, context.io.now());
}

/**
 * Sees to it that a file has the secret of a webhook, beside others that it holds; without the one that this webhook's predecessor replaced.
 * Errors: `not-found` where nobody knows the secret and the file is empty; those of the file system.
 */
export function keepInFile(file: string, uid: string, jobs: readonly Job[], listed: WebhookList): void {
  const isEmpty = readOwnSecret(file) === undefined;
  const secret = findWebhookSecret(uid, jobs, isEmpty ? listed : []);
  if (secret === undefined && isEmpty)
    throw new SotraError(
      'not-found',
      `webhook ${uid} exists, and neither this machine nor the service tells its secret`,
      { hint: `Write it to ${file} if you have it; --replace makes a webhook with a new one.` },
    );
  if (secret === undefined) return;
  const before = jobs.find(({ state }) => state.registered === uid)?.state.plan.replaces;
  const retired = jobs.find(({ state }) => before !== undefined && state.registered === before)?.state.plan.retires;
  addSecret(file, secret, retired);
}
