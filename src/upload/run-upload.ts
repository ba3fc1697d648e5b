import { existsSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Result } from '../cli/command.ts';
import type { Context } from '../context.ts';
import { messageOf, SotraError } from '../errors.ts';
import { workFolder } from '../files/durable-file.ts';
import { openOutput } from '../files/source.ts';
import type { AddressSet } from '../model/address-set.ts';
import { normalizeDestination } from '../model/http-address.ts';
import { counted, formatCount } from '../output/format.ts';
import * as endpoints from '../resources/webhook/endpoints.ts';
import { checkSecretFile, keptSecret, reserveSecret, secretIn, writeSecret } from '../resources/webhook/secrets.ts';
import { type UploadResult, uploaded as view } from '../resources/webhook/view.ts';
import { type AddressInput, checkAddresses, type FirstPass } from './first-pass.ts';
import {
  addressesFile,
  checkList,
  digestOf,
  emptyJournal,
  findJob,
  type Job,
  jobsFolder,
  listJobs,
  lockJob,
  readChunks,
  serviceId,
  setAside,
  settleDraft,
} from './jobs.ts';
import { type Plan, readJournal, resentChunks } from './journal.ts';
import { showUpload, type UploadDisplay, writeReport } from './show-upload.ts';
import { createRetryPolicy, runUpload, withRetries } from './upload.ts';

interface UploadInput extends AddressInput {
  task: Plan['task'];
  destinationUrl?: string | undefined;
  uid?: string | undefined;
  secretFile?: string | undefined;
  concurrency?: number | undefined;
  another?: boolean | undefined;
  again?: boolean | undefined;
  /** File that says what became of each address. */
  report?: string | undefined;
  /** Addresses that are confirmed already (`sync`). */
  known?: AddressSet | undefined;
}

/** Checks all addresses, then sends what is not confirmed yet. Errors: `usage` with nothing sent; as in `runUpload`. */
export async function uploadAddresses(input: UploadInput, context: Context): Promise<Result> {
  const jobs = await jobsFolder(context);
  const { options } = context;
  const draft = workFolder(jobs, 'draft', context);
  const show = await showUpload(context);
  let release: (() => void) | undefined;
  try {
    show.reading();
    const to = addressesFile(draft);
    const pass = await checkAddresses(input, context, { to, onRead: show.read, known: input.known });
    if (options.preview) {
      const chunks = Math.ceil(pass.addresses / endpoints.chunkSize);
      context.note(`${counted(pass.addresses, 'address', 'es')} in ${requests(chunks)}`);
      return await preview(input, draft, context);
    }
    const plan = await planOf(input, pass, context);
    release = lockJob(jobs, plan, context.world);
    const folder = await jobFolder(input, jobs, plan, draft, context);
    show.planned(plan);
    return await runJob(folder, input, show, context, pass);
  } finally {
    show.stop();
    release?.();
    rmSync(draft, { recursive: true, force: true });
  }
}

/** Continues a job by its name. Errors: `not-found` for an unknown one, `usage` for one of another service. */
export async function resumeUpload(
  input: { job: string; concurrency?: number | undefined; report?: string | undefined },
  context: Context,
): Promise<Result> {
  const jobs = await jobsFolder(context);
  const job = findJob(jobs, input.job);
  const { folder, state } = job;
  const { baseUrl, keyId } = await serviceId(context);
  if (state.plan.baseUrl !== baseUrl)
    throw new SotraError('usage', `upload ${state.plan.job} belongs to ${state.plan.baseUrl}, not to ${baseUrl}`, {
      hint: 'Name that service with --base-url, --context or --sandbox.',
    });
  if (state.plan.keyId !== keyId) context.warn('this upload was started with another API key');
  if (state.finishedMs === undefined) checkList(job);
  if (context.options.preview) {
    const { uid, destinationUrl, chunks } = state.plan;
    if (state.finishedMs !== undefined) (await showUpload(context)).finished(state.plan, state.finishedMs);
    else context.note(`Still to be sent: ${requests(chunks - state.done.size)}`);
    return await preview({ uid: state.uid ?? uid, destinationUrl }, folder, context, state.done);
  }
  const show = await showUpload(context);
  const release = lockJob(jobs, state.plan, context.world);
  try {
    show.planned(state.plan);
    return await runJob(folder, { ...input, another: true }, show, context);
  } finally {
    show.stop();
    release();
  }
}

/** Previews the first request that is not done, which ends the command. */
async function preview(
  { uid, destinationUrl }: { uid?: string | null | undefined; destinationUrl?: string | null | undefined },
  folder: string,
  context: Context,
  done: ReadonlySet<number> = new Set(),
): Promise<Result> {
  for (const { index, addresses: walletAddresses } of readChunks(folder)) {
    if (done.has(index)) continue;
    if (uid) await context.call(endpoints.addAddresses, { uid, walletAddresses });
    else await context.call(endpoints.register, { walletAddresses, destinationUrl: destinationUrl ?? '' });
  }
  return { kind: 'none' };
}

function requests(count: number): string {
  return count <= 1
    ? 'one request.'
    : `${formatCount(count)} requests; this is the first, the others are PUTs of up to 1,000.`;
}

async function planOf(input: UploadInput, pass: FirstPass, context: Context): Promise<Plan> {
  const service = await serviceId(context);
  const { task, uid = null, destinationUrl = null } = input;
  return {
    kind: 'plan',
    v: 1,
    job: digestOf([service, task, uid, normalizeDestination(destinationUrl ?? ''), pass.digest]).slice(0, 12),
    task,
    ...service,
    destinationUrl,
    uid,
    secretFile: input.secretFile === undefined ? null : resolve(input.secretFile),
    addresses: pass.addresses,
    chunks: Math.ceil(pass.addresses / endpoints.chunkSize),
    duplicates: pass.duplicates,
    rejected: pass.rejected,
    digest: pass.digest,
    atMs: context.world.now(),
  };
}

/** The folder of the job, also that of an earlier run, unless its webhook is gone or the list is to be sent once more. */
async function jobFolder(
  input: UploadInput,
  jobs: string,
  plan: Plan,
  draft: string,
  context: Context,
): Promise<string> {
  const earlier = join(jobs, plan.job);
  const state = existsSync(earlier) ? readJournal(earlier) : undefined;
  if (state !== undefined && plan.task === 'register' && state.uid !== undefined) {
    const { data } = await withRetries(createRetryPolicy(context), (retries) =>
      context.call(endpoints.list, {}, undefined, retries),
    );
    if (Array.isArray(data) && !data.some(({ uid }) => uid === state.uid)) {
      context.warn(`webhook ${state.uid} of an earlier run is gone: registering a new one`);
      setAside(earlier);
    }
  } else if (state?.finishedMs !== undefined && input.again) setAside(earlier);
  const kept = state !== undefined && existsSync(earlier) ? keptSecret({ folder: earlier, state })?.secret : undefined;
  if (input.secretFile !== undefined && (kept === undefined || secretIn(input.secretFile) !== kept))
    checkSecretFile(input.secretFile);
  return settleDraft(jobs, draft, plan);
}

async function runJob(
  folder: string,
  input: Pick<UploadInput, 'secretFile' | 'concurrency' | 'another' | 'report' | 'file'>,
  show: UploadDisplay,
  context: Context,
  pass?: FirstPass,
): Promise<Result> {
  const state = readJournal(folder);
  if (state === undefined) throw emptyJournal(folder);
  const job: Job = { folder, state };
  const { plan } = state;
  const { secretFile, concurrency = 4, another = false } = input;
  const report = await openOutput('--report', input.report, [input.file]);
  const failures = new Map<number, unknown>();
  if (state.finishedMs !== undefined) show.finished(plan, state.finishedMs);
  else {
    show.started(state);
    const reserved = state.uid === undefined ? reserveSecret(job, context.warn) : undefined;
    try {
      await runUpload({
        context,
        job,
        concurrency,
        another,
        others: () => registeredIn(dirname(folder)),
        keptSecret: () => keptSecret(job)?.secret,
        keepSecret: (uid, secret) => reserved?.keep(uid, secret),
        onEvent: show.event,
        onFailure: (chunk, error) => failures.set(chunk, error),
      });
    } catch (error) {
      await writeReport(report, job, failures);
      throw error;
    } finally {
      reserved?.close();
    }
  }
  await writeReport(report, job, failures);
  const result: UploadResult = {
    uid: state.uid ?? '',
    destinationUrl: state.destinationUrl ?? null,
    job: plan.job,
    addresses: plan.addresses,
    chunks: plan.chunks,
    duplicates: pass?.duplicates ?? plan.duplicates,
    rejected: pass?.rejected ?? plan.rejected,
    resentChunks: resentChunks(state),
    ...(plan.task === 'register' ? secretOf(job, secretFile, context) : {}),
  };
  return await show.result(result, view);
}

/** The webhooks that uploads of this machine made. */
function registeredIn(jobs: string): Set<string> {
  const registrations = listJobs(jobs).filter(({ state }) => state.plan.task === 'register');
  return new Set(registrations.flatMap(({ state }) => state.uid ?? []));
}

/** The secret of a registered webhook, or the file that holds it, which is written if it was asked for now. */
function secretOf(
  job: Job,
  secretFile: string | undefined,
  { warn, options }: Context,
): { secret?: string; secretFile?: string } {
  const { plan, uid } = job.state;
  const kept = keptSecret(job);
  const wanted = secretFile ?? plan.secretFile;
  if (kept === undefined) {
    const unwritten = wanted === null ? '' : `: nothing is written to ${wanted}`;
    if (options.replay !== undefined) warn(`a recording does not hold the secret of webhook ${uid}${unwritten}`);
    return {};
  }
  if (wanted === null) return { secret: kept.secret };
  if (secretIn(wanted) === undefined)
    try {
      writeSecret(wanted, kept.secret);
      // It was kept in the job's folder, since the file could not be written when it came.
      if (resolve(wanted) === plan.secretFile) rmSync(kept.file);
    } catch (cause) {
      throw new SotraError(
        'partial',
        `all is confirmed, but --secret-file ${wanted} cannot be written: ${messageOf(cause)}`,
        {
          hint: `The secret of webhook ${uid} is in ${kept.file}; the same command again writes it where it was asked for.`,
          cause,
          details: { job: plan.job, uid, secretFile: kept.file },
        },
      );
    }
  return { secretFile: wanted };
}
