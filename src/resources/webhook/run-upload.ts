import { existsSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Result } from '../../cli/command.ts';
import type { Context } from '../../context.ts';
import { draftFolder } from '../../durable-file.ts';
import { SotraError } from '../../errors.ts';
import { takeLock } from '../../lock.ts';
import { formatCount } from '../../output/format.ts';
import type { AddressSet } from './address-set.ts';
import { type AddressInput, takeAddresses } from './address-source.ts';
import * as endpoints from './endpoints.ts';
import type { FirstPass } from './first-pass.ts';
import {
  addressesFile,
  checkList,
  digestOf,
  findJob,
  type Job,
  jobsFolder,
  readChunks,
  serviceId,
  setAside,
  settleDraft,
} from './jobs.ts';
import { journalFile, type Plan, readJournal, resentChunks } from './journal.ts';
import { createPatience, patiently } from './patience.ts';
import { checkSecretFile, readSecrets, writeSecret } from './secret-file.ts';
import { counted, showUpload } from './show-upload.ts';
import { runUpload } from './upload.ts';
import { uploaded as view } from './view.ts';

/** What `webhook register` and `add-addresses` take. */
export interface UploadInput extends AddressInput {
  task: Plan['task'];
  destinationUrl?: string | undefined;
  uid?: string | undefined;
  secretFile?: string | undefined;
  concurrency?: number | undefined;
  another?: boolean | undefined;
  again?: boolean | undefined;
  /** Addresses that are confirmed already (`sync`). */
  known?: Pick<AddressSet, 'has'>;
}

/** The result of an upload; section "Results of the commands that are more than one call" of the command-line names. */
export interface UploadResult {
  uid: string;
  destinationUrl: string | null;
  job: string;
  addresses: number;
  chunks: number;
  duplicates: number;
  rejected: number;
  resentChunks: number;
  secret?: string;
  secretFile?: string;
}

/**
 * Checks all addresses, then sends what is not confirmed yet; the same input again goes on where it stopped. Errors: `usage` with
 * nothing sent; those of the upload.
 */
export async function uploadAddresses(input: UploadInput, context: Context): Promise<Result> {
  const jobs = await jobsFolder(context);
  const { world, options } = context;
  const draft = draftFolder(jobs, 'draft', world);
  const show = await showUpload(context);
  try {
    show.reading();
    const onRead = (addresses: number) => show.read(addresses);
    const known = input.known === undefined ? {} : { known: input.known };
    const pass = await takeAddresses(input, context, { to: addressesFile(draft), onRead, ...known });
    if (options.dryRun || options.curl) {
      context.note(
        `${counted(pass.addresses, 'address', 'es')} in ${requests(Math.ceil(pass.addresses / endpoints.chunkSize))}`,
      );
      return await preview(input, draft, context);
    }
    if (pass.addresses === 0) return { kind: 'none' };
    const plan = await planOf(input, pass, context);
    const folder = await jobFolder(input, jobs, plan, draft, context);
    show.planned(plan);
    return await runJob(folder, input, show, context, pass);
  } finally {
    show.stop();
    rmSync(draft, { recursive: true, force: true });
  }
}

/** Goes on with a job by its name. Errors: `not-found` for an unknown one, `usage` for one of another service. */
export async function resumeUpload(
  input: { job: string; concurrency?: number | undefined },
  context: Context,
): Promise<Result> {
  const job = findJob(await jobsFolder(context), input.job);
  const { folder, state } = job;
  const { baseUrl, keyId } = await serviceId(context);
  if (state.plan.baseUrl !== baseUrl)
    throw new SotraError('usage', `upload ${state.plan.job} belongs to ${state.plan.baseUrl}, not to ${baseUrl}`, {
      hint: 'Name that service with --base-url, --context or --sandbox.',
    });
  if (state.plan.keyId !== keyId) context.warn('this upload was begun with another API key');
  if (state.finishedMs === undefined) {
    checkList(job);
    if (context.options.dryRun || context.options.curl) {
      context.note(`Still to be sent: ${requests(state.plan.chunks - state.done.size)}`);
      const { uid, destinationUrl } = state.plan;
      return await preview({ uid: state.uid ?? uid, destinationUrl }, folder, context, state.done);
    }
  }
  const show = await showUpload(context);
  try {
    show.planned(state.plan);
    return await runJob(folder, { ...input, task: state.plan.task, another: true }, show, context);
  } finally {
    show.stop();
  }
}

/** Shows the first request that is not done; `RequestPreview` ends the command. */
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
    job: digestOf([service, task, uid, destinationUrl, pass.digest]).slice(0, 12),
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

/** The folder of the job: an earlier run's, unless its webhook is gone or the list is to be sent once more. */
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
    const { data } = await patiently(createPatience(context.world), () => context.call(endpoints.list, {}));
    if (Array.isArray(data) && !data.some(({ uid }) => uid === state.uid)) {
      context.warn(`webhook ${state.uid} of an earlier run is gone: it is registered anew`);
      setAside(earlier);
    }
  } else if (state?.finishedMs !== undefined && input.again) setAside(earlier);
  if (input.secretFile !== undefined && !existsSync(earlier)) checkSecretFile(input.secretFile);
  return settleDraft(jobs, draft, plan);
}

async function runJob(
  folder: string,
  input: Pick<UploadInput, 'task' | 'secretFile' | 'concurrency' | 'another'>,
  show: Awaited<ReturnType<typeof showUpload>>,
  context: Context,
  pass?: FirstPass,
): Promise<Result> {
  const release = takeLock(join(folder, 'lock'), `upload ${folder.split(/[\\/]/).at(-1)}`, context.world);
  try {
    const state = readJournal(folder);
    if (state === undefined)
      throw new SotraError('local-file', `${journalFile(folder)} is empty`, {
        hint: 'Look which webhooks there are with sotra webhook list, then move the folder away to begin anew.',
      });
    const job: Job = { folder, state };
    const { plan } = state;
    const secretFile = input.secretFile ?? plan.secretFile ?? undefined;
    if (state.finishedMs !== undefined) show.finished(plan, state.finishedMs);
    else {
      const keepSecret = (_: string, secret: string | undefined) => {
        if (secret !== undefined) writeSecret(plan.secretFile ?? join(folder, 'secret'), secret);
      };
      const { concurrency = 4, another = false } = input;
      for await (const event of runUpload({ context, job, concurrency, another, keepSecret })) await show.event(event);
    }
    const result: UploadResult = {
      uid: state.uid ?? '',
      destinationUrl: state.destinationUrl ?? null,
      job: plan.job,
      addresses: plan.addresses,
      chunks: plan.chunks,
      duplicates: pass?.duplicates ?? plan.duplicates,
      rejected: pass?.rejected ?? plan.rejected,
      resentChunks: resentChunks(state),
      ...(plan.task === 'register' ? secretOf(folder, plan, secretFile) : {}),
    };
    return await show.result(result, view);
  } finally {
    release();
  }
}

/** The secret of a registered webhook, or the file that it is in: one asked for now is written where it is not there yet. */
function secretOf(
  folder: string,
  plan: Plan,
  secretFile: string | undefined,
): { secret?: string; secretFile?: string } {
  const own = plan.secretFile ?? join(folder, 'secret');
  if (!existsSync(own)) return {};
  const [secret = ''] = readSecrets(own);
  if (secretFile === undefined) return { secret };
  if (!existsSync(secretFile)) writeSecret(secretFile, secret);
  return { secretFile };
}
