import { createHash, randomUUID } from 'node:crypto';
import { existsSync, readdirSync, renameSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Result } from '../cli/command.ts';
import type { Context } from '../context.ts';
import { SotraError } from '../errors.ts';
import { makeFolder, syncFolder } from '../files/durable-file.ts';
import { takeLock } from '../files/lock.ts';
import { dayMs } from '../model/duration.ts';
import { normalizeDestination } from '../model/http-address.ts';
import { hideUrlSecrets } from '../model/url-secrets.ts';
import { type JobRow, jobs as jobsView } from '../resources/webhook/view.ts';
import type { World } from '../world.ts';
import { type Job, type Plan, readJournal, resentChunks } from './journal.ts';

/** A finished upload is listed for so long. What it confirmed stays known: a sync needs it. */
const listedMs = 30 * dayMs;

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
  world: World,
): () => void {
  if (destinationUrl === null) return takeLock(join(jobs, `${job}.lock`), `upload ${job}`, world);
  const destination = hideUrlSecrets(destinationUrl);
  const name = hashParts([baseUrl, normalizeDestination(destination)]).slice(0, 12);
  return takeLock(join(jobs, `to-${name}.lock`), `destination ${destination}`, world);
}

/** Takes a job out of the list, with all that is kept of it. */
export function setAside({ folder }: Job): void {
  renameSync(folder, `${folder}.gone-${randomUUID().slice(0, 8)}`);
  syncFolder(dirname(folder));
}

/** All uploads of this machine, oldest first, with the addresses that they confirmed of wanted webhooks. Errors: as in `readJournal`. */
export function listJobs(jobs: string, isWanted: (uid: string) => boolean = () => false): Job[] {
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

/** The job of a name or the start of one. Errors: `not-found`. */
export function findJob(jobs: string, name: string): Job {
  const [found, other] = listJobs(jobs).filter(({ state }) => state.plan.job.startsWith(name));
  if (found !== undefined && other === undefined) return found;
  throw new SotraError('not-found', `upload ${name}: ${found === undefined ? 'no such upload' : 'ambiguous prefix'}`, {
    hint: 'sotra webhook jobs lists them.',
  });
}

/** The uploads of this machine: those to be continued first, with the line that does so, then those that finished lately. */
export async function showJobs(context: Context): Promise<Result> {
  const sinceMs = context.world.now() - listedMs;
  const listed = listJobs(await jobsFolder(context)).filter(({ state }) => (state.finishedMs ?? sinceMs) >= sinceMs);
  const isOpen = ({ state }: Job) => state.finishedMs === undefined;
  const answer = [...listed.filter(isOpen), ...listed.filter((job) => !isOpen(job))].map(
    ({ state }): JobRow => ({
      job: state.plan.job,
      task: state.plan.task,
      uid: state.uid ?? null,
      destinationUrl: state.destinationUrl ?? null,
      baseUrl: state.plan.baseUrl,
      addresses: state.plan.addresses,
      chunks: state.plan.chunks,
      confirmed: state.done.size,
      resentChunks: resentChunks(state),
      finished: state.finishedMs !== undefined,
      startedAt: Math.floor(state.plan.atMs / 1000),
      continueWith: state.finishedMs === undefined ? state.plan.line : null,
    }),
  );
  return { kind: 'answer', answer, view: jobsView };
}
