import { isAscii } from 'node:buffer';
import { createHash, randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Result } from '../cli/command.ts';
import type { Context } from '../context.ts';
import { messageOf, SotraError, toSotraError } from '../errors.ts';
import { replaceFile, syncFolder } from '../files/durable-file.ts';
import { takeLock } from '../files/lock.ts';
import { openLog, readPieces } from '../files/log-file.ts';
import { normalizeDestination } from '../model/http-address.ts';
import { hideUrlSecrets } from '../model/url-secrets.ts';
import { confirm, showPlan } from '../output/confirm.ts';
import { counted, formatCount } from '../output/format.ts';
import { chunkSize } from '../resources/webhook/endpoints.ts';
import { type JobRow, jobs as jobsView, type RemovedJob, removedJob } from '../resources/webhook/view.ts';
import type { World } from '../world.ts';
import { destinationFile, type JobState, journalFile, type Plan, readJournal, resentChunks } from './journal.ts';

export interface Job {
  folder: string;
  state: JobState;
}

export async function jobsFolder(context: Context): Promise<string> {
  const folder = join(await context.dataDirectory(), 'webhook', 'jobs');
  if (!context.options.preview) mkdirSync(folder, { recursive: true, mode: 0o700 });
  return folder;
}

/** The service of this command line, its key as a hash. */
export async function serviceId(context: Context): Promise<Pick<Plan, 'baseUrl' | 'keyId'>> {
  const { baseUrl, apiKey } = await context.service();
  return { baseUrl, keyId: digestOf(['key', apiKey ?? '']).slice(0, 16) };
}

export function digestOf(parts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}

/** Locks a job; one lock for all registrations of a destination, which would not see each other's webhook. */
export function lockJob(
  jobs: string,
  { job, baseUrl, destinationUrl }: Pick<Plan, 'job' | 'baseUrl' | 'destinationUrl'>,
  world: World,
): () => void {
  if (destinationUrl === null) return takeLock(join(jobs, `${job}.lock`), `upload ${job}`, world);
  // Whoever resumes it may not know what is secret in it.
  const destination = hideUrlSecrets(destinationUrl);
  const name = digestOf([baseUrl, normalizeDestination(destination)]).slice(0, 12);
  return takeLock(join(jobs, `to-${name}.lock`), `destination ${destination}`, world);
}

export function addressesFile(folder: string): string {
  return join(folder, 'addresses.txt');
}

/** Makes a draft the folder of its job, and gives that; a job that exists gets a new copy of its list. */
export async function settleDraft(jobs: string, draft: string, plan: Plan): Promise<string> {
  const folder = join(jobs, plan.job);
  if (existsSync(journalFile(folder))) {
    try {
      renameSync(addressesFile(draft), addressesFile(folder));
    } catch {
      // Windows does not replace the file that a running upload reads.
    }
    rmSync(draft, { recursive: true });
    return folder;
  }
  const shown = plan.destinationUrl && hideUrlSecrets(plan.destinationUrl);
  if (plan.destinationUrl !== null && shown !== plan.destinationUrl)
    replaceFile(destinationFile(draft), plan.destinationUrl);
  const log = openLog(journalFile(draft));
  log.append({ ...plan, destinationUrl: shown });
  await log.flush();
  log.close();
  syncFolder(draft);
  renameSync(draft, folder);
  syncFolder(jobs);
  return folder;
}

/** Errors: `local-file` where the list of a job was changed since it started. */
export function checkList({ folder, state }: Job): void {
  const file = addressesFile(folder);
  const hint = 'The command that started this upload, with the same addresses, restores the list and continues.';
  const hash = createHash('sha256');
  try {
    for (const bytes of readPieces(file)) hash.update(bytes);
  } catch (cause) {
    throw new SotraError('local-file', `the list of upload ${state.plan.job} cannot be read: ${messageOf(cause)}`, {
      hint,
      cause,
    });
  }
  if (hash.digest('hex') !== state.plan.digest)
    throw new SotraError('local-file', `${file}, the list of upload ${state.plan.job}, was changed since it started`, {
      hint,
    });
}

export function setAside(folder: string): string {
  const aside = `${folder}.gone-${randomUUID().slice(0, 8)}`;
  renameSync(folder, aside);
  syncFolder(dirname(folder));
  return aside;
}

export function listJobs(jobs: string): Job[] {
  return jobNames(jobs)
    .flatMap((name) => {
      const state = readJournal(join(jobs, name));
      return state === undefined ? [] : [{ folder: join(jobs, name), state }];
    })
    .sort((a, b) => a.state.plan.atMs - b.state.plan.atMs);
}

/** The uploads from this machine to the service in use. */
export async function jobsOfService(context: Context): Promise<Job[]> {
  const { baseUrl } = await context.service();
  return listJobs(await jobsFolder(context)).filter(({ state }) => state.plan.baseUrl === baseUrl);
}

function jobNames(jobs: string): string[] {
  return existsSync(jobs) ? readdirSync(jobs).filter((name) => /^[0-9a-f]{12}$/.test(name)) : [];
}

/** The job of a name or the start of one. Errors: `not-found`, `local-file`. */
export function findJob(jobs: string, name: string): Job {
  const folder = findJobFolder(jobs, name);
  const state = readJournal(folder);
  if (state !== undefined) return { folder, state };
  throw emptyJournal(folder);
}

/** The same without a look at its journal. Errors: `not-found`. */
export function findJobFolder(jobs: string, name: string): string {
  const [found, other] = jobNames(jobs).filter((each) => each.startsWith(name));
  if (found !== undefined && other === undefined) return join(jobs, found);
  throw new SotraError('not-found', `upload ${name}: ${found === undefined ? 'no such upload' : 'ambiguous prefix'}`, {
    hint: 'sotra webhook jobs lists them.',
  });
}

export function emptyJournal(folder: string): SotraError {
  return new SotraError('local-file', `${journalFile(folder)} is empty`, {
    hint: 'See which webhooks there are with sotra webhook list, then move the folder away to start again.',
  });
}

export interface Chunk {
  index: number;
  addresses: string[];
}

/** The chunks of a job's list, in order. Memory: one piece of the file. */
export function* readChunks(folder: string): Generator<Chunk> {
  let index = 0;
  let waiting: string[] = [];
  for (const lines of readLines(folder)) {
    waiting = waiting.concat(lines);
    let from = 0;
    for (; waiting.length - from >= chunkSize; from += chunkSize) {
      yield { index, addresses: waiting.slice(from, from + chunkSize) };
      index += 1;
    }
    waiting = waiting.slice(from);
  }
  if (waiting.length > 0) yield { index, addresses: waiting };
}

/** Lines piece by piece; every line has its end and is shorter than a piece. */
function* readLines(folder: string): Generator<string[]> {
  let rest = Buffer.alloc(0);
  for (const piece of readPieces(addressesFile(folder))) {
    const bytes = Buffer.concat([rest, piece]);
    const end = bytes.lastIndexOf(0x0a);
    // Almost every address is ASCII, which is read in a tenth of the time of UTF-8.
    yield bytes.toString(isAscii(bytes) ? 'latin1' : 'utf8', 0, end).split('\n');
    rest = bytes.subarray(end + 1);
  }
}

/** Every upload of this machine with what is confirmed, oldest first. */
export async function showJobs(context: Context): Promise<Result> {
  const answer = listJobs(await jobsFolder(context)).map(
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
    }),
  );
  return { kind: 'answer', answer, view: jobsView };
}

/** Removes what this machine keeps of an upload, damaged or not. Errors: `not-found`; `locked` while it runs. */
export async function removeJob(name: string, context: Context): Promise<Result> {
  const folder = findJobFolder(await jobsFolder(context), name);
  const job = folder.slice(-12);
  const state = stateOf(folder);
  const lost = state instanceof Error ? [`what it confirmed: ${state.message}`] : losses(folder, state);
  if (context.options.dryRun)
    return showPlan([
      { action: 'remove', what: `upload ${job}`, detail: folder },
      ...lost.map((what) => ({ action: 'lose', what, detail: null })),
    ]);
  const plan = state instanceof Error || state === undefined ? undefined : state.plan;
  const release = lockJob(dirname(folder), plan ?? { job, baseUrl: '', destinationUrl: null }, context.world);
  try {
    await confirm(`remove upload ${job}`, context, lost.map((what) => `This loses ${what}.\n`).join(''));
    // First moved: a folder that is removed in part would be an upload without its list.
    rmSync(setAside(folder), { recursive: true });
  } finally {
    release();
  }
  const uid = state instanceof Error ? null : (state?.uid ?? null);
  return { kind: 'answer', answer: { job, uid, lost } satisfies RemovedJob, view: removedJob };
}

function stateOf(folder: string): JobState | undefined | Error {
  try {
    return readJournal(folder);
  } catch (thrown) {
    return toSotraError(thrown);
  }
}

/** What is lost with an upload; each completes "This loses". */
function losses(folder: string, state: JobState | undefined): string[] {
  if (state === undefined) return [];
  const { plan, done, uid } = state;
  const open = plan.chunks - done.size;
  const lost: string[] = [];
  if (open > 0) lost.push(`${counted(open, 'chunk')} of ${formatCount(plan.chunks)} not sent yet`);
  if (state.posting !== undefined) lost.push('whether its webhook was made, which sotra webhook list may show');
  if (done.size > 0) lost.push(`the record of what webhook ${uid} has, which webhook sync needs`);
  if (existsSync(join(folder, 'secret')))
    lost.push(`the secret of webhook ${uid}, which this machine has nowhere else`);
  return lost;
}
