import { createHash, randomUUID } from 'node:crypto';
import { existsSync, readdirSync, renameSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { normalizeDestination } from '../api/http-address.ts';
import { hideUrlSecrets } from '../client/url-secrets.ts';
import type { Context } from '../context.ts';
import { readMessage } from '../errors.ts';
import { makeFolder, syncFolder } from '../lib/files/durable-file.ts';
import { takeLock } from '../lib/files/lock.ts';
import { counted, formatCount } from '../lib/output/format.ts';
import { type Job, type Plan, readJournal } from './journal.ts';

export async function jobsFolder(context: Context): Promise<string> {
  const folder = join(await context.dataDirectory(), 'webhook', 'jobs');
  if (!context.options.preview) makeFolder(folder);
  return folder;
}

/** The service of this command line, its key as a hash. */
export async function readServiceId(context: Context): Promise<Pick<Plan, 'baseUrl' | 'keyId'>> {
  const { baseUrl, apiKey } = await context.service();
  return { baseUrl, keyId: hashParts(['key', apiKey ?? '']).slice(0, 16) };
}

export function hashParts(parts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}

/** Locks a job; one lock for all that registers a destination, which would not see each other's webhook. Errors: `locked`. */
export function lockJob(
  jobs: string,
  { job, baseUrl, destinationUrl }: Pick<Plan, 'job' | 'baseUrl' | 'destinationUrl'>,
): () => void {
  if (destinationUrl === null) return takeLock(join(jobs, `${job}.lock`), `upload ${job}`);
  const destination = hideUrlSecrets(destinationUrl);
  const name = hashParts([baseUrl, normalizeDestination(destination)]).slice(0, 12);
  return takeLock(join(jobs, `to-${name}.lock`), `destination ${destination}`);
}

/** Takes a job out of the list, with all that is kept of it. */
export function setAside({ folder }: Job): void {
  renameSync(folder, `${folder}.gone-${randomUUID().slice(0, 8)}`);
  syncFolder(dirname(folder));
}

/** All uploads of this machine, oldest first, with the addresses that they confirmed of wanted webhooks. Errors: as in `readJournal`. */
function listJobs(jobs: string, isWanted: (uid: string) => boolean = () => false): Job[] {
  const names = existsSync(jobs) ? readdirSync(jobs).filter((name) => /^[0-9a-f]{12}$/.test(name)) : [];
  return names
    .flatMap((name) => readJournal(join(jobs, name), isWanted) ?? [])
    .sort((a, b) => a.state.plan.atMs - b.state.plan.atMs);
}

/** The uploads from this machine to the service in use. */
export async function jobsOfService(context: Context, isWanted?: (uid: string) => boolean): Promise<Job[]> {
  const { baseUrl } = await context.service();
  return listJobs(await jobsFolder(context), isWanted).filter(({ state }) => state.plan.baseUrl === baseUrl);
}

/** Those that were made with the key in use, too. */
export async function jobsOfKey(context: Context, isWanted?: (uid: string) => boolean): Promise<Job[]> {
  const { keyId } = await readServiceId(context);
  return (await jobsOfService(context, isWanted)).filter(({ state }) => state.plan.keyId === keyId);
}

/** Whether a plan, which does not have what is secret in it, is for a destination. */
export function isSameDestination(planned: string | null, url: string): boolean {
  const normalize = (text: string) => normalizeDestination(hideUrlSecrets(text));
  return planned !== null && normalize(planned) === normalize(url);
}

/** The chunks of addresses that a webhook is known to have. */
export function listConfirmed(jobs: readonly Job[], uid: string): (readonly string[])[] {
  return jobs.flatMap(({ confirmed }) => confirmed.flatMap((each) => (each.uid === uid ? [each.addresses] : [])));
}

/** The unfinished uploads from this machine to the service in use. Warns of a journal that cannot be read. */
export async function findUnfinished(context: Context): Promise<Job[]> {
  const folder = join(await context.dataDirectory(), 'webhook', 'jobs');
  const { baseUrl } = await context.service();
  try {
    return listJobs(folder).filter(({ state }) => state.plan.baseUrl === baseUrl && state.finishedMs === undefined);
  } catch (thrown) {
    context.warn(readMessage(thrown));
    return [];
  }
}

/** Removes each upload whose webhook the service does not list any more, with a warning, and gives the others. */
export async function removeGone(
  unfinished: readonly Job[],
  listed: readonly { uid: string }[],
  context: Context,
): Promise<Job[]> {
  const { keyId } = await readServiceId(context);
  const isGone = ({ state: { uid, plan } }: Job) =>
    uid !== undefined && plan.keyId === keyId && !listed.some((each) => each.uid === uid);
  const left: Job[] = [];
  for (const job of unfinished)
    if (isGone(job) && trySetAside(job))
      context.warn(`webhook ${job.state.uid} is gone: its unfinished upload is removed`);
    else left.push(job);
  return left;
}

/** Whether a job could be taken out of the list: another process may hold it. */
function trySetAside(job: Job): boolean {
  try {
    const release = lockJob(dirname(job.folder), job.state.plan);
    setAside(job);
    release();
    return true;
  } catch {
    return false;
  }
}

/** A line for each unfinished upload: how far it is, and the command that continues it. */
export function describeUnfinished(jobs: readonly Job[]): string[] {
  return jobs
    .filter(({ state }) => state.finishedMs === undefined)
    .map(({ state: { plan, done, uid } }) => {
      const to = uid === undefined ? plan.destinationUrl : `webhook ${uid}`;
      const progress = `${formatCount(done.size)} of ${counted(plan.chunks, 'request')} confirmed`;
      return `The upload to ${to} is not finished, ${progress}; continue with: ${plan.line}`;
    });
}
