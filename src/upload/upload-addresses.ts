import * as endpoints from '../api/webhook.ts';
import type { Context } from '../context.ts';
import { readMessage, SotraError } from '../errors.ts';
import { counted, formatCount } from '../lib/output/format.ts';
import type { Result } from '../lib/output/result.ts';
import { jobsFolder, jobsOfKey, lockJob, setAside } from './jobs.ts';
import type { Job, Plan } from './journal.ts';
import { readAddresses } from './read-addresses.ts';
import { findOwnJob, planJob, previewChunk, runJob, splitChunks, type UploadInput, type UploadRun } from './run-job.ts';
import { syncList } from './run-sync.ts';
import { addSecret, checkSecretFile, keptSecret, keptSecretFile, readOwnSecret } from './secrets.ts';
import { showUpload } from './show-upload.ts';
import { checkSyncFlags, findSyncTarget } from './sync-webhook.ts';
import { type UploadResult, uploaded as view } from './view.ts';
import { callWithRetries } from './with-retries.ts';

/**
 * The one path of a list to a webhook: every address is checked, what is confirmed already is taken out, and the rest is sent in chunks,
 * each of which is on disk once it is confirmed. Errors: `usage` with nothing sent; as in `runJob`.
 */
export async function uploadAddresses(input: UploadInput, context: Context): Promise<Result> {
  const isSync = input.task === 'sync';
  if (isSync) checkSyncFlags(input);
  const folder = await jobsFolder(context);
  const show = await showUpload(context, { brief: isSync });
  let release: (() => void) | undefined;
  try {
    show.reading();
    const changesNothing = context.options.preview || input.check === true;
    const isCheck = isSync && changesNothing;
    const list = await readAddresses({ ...input, refusesStrays: isCheck }, context, show.read);
    if (isCheck && list.duplicates > 0) context.note(`${counted(list.duplicates, 'duplicate')} in the list.`);
    const plan = await planJob({ input, list, context }, { uid: input.uid ?? null });
    if (isSync && input.secretFile !== undefined && !changesNothing)
      checkSecretFile(input.secretFile, { mayHold: true });
    if (!changesNothing) release = lockJob(folder, plan);
    if (!isSync) return await sendList({ input, list, folder, jobs: await jobsOfKey(context), show, context }, plan);
    const target = await findSyncTarget(input, changesNothing, context);
    return await syncList({ input, list, folder, jobs: target.jobs, show, context }, target);
  } finally {
    show.stop();
    release?.();
  }
}

/** Sends all of a list, as far as the same command has not done so before. */
async function sendList(run: UploadRun, plan: Plan): Promise<Result> {
  const { input, list, show, context } = run;
  if (context.options.preview) return previewList(run, plan);
  const before = findOwnJob(run, plan);
  if (before !== undefined && (await isGone(before, context))) {
    context.warn(`webhook ${before.state.uid} of an earlier run is gone: registering a new one`);
    setAside(before);
    return sendList({ ...run, jobs: run.jobs.filter((job) => job !== before) }, plan);
  }
  const kept = before && keptSecret(before);
  const { secretFile } = input;
  if (secretFile !== undefined && !(kept && readOwnSecret(secretFile)?.split('\n').includes(kept)))
    checkSecretFile(secretFile);
  if (before?.state.finishedMs === undefined || input.again === true)
    return show.result(describeUpload(await runJob(run, plan, list.addresses), run), view);
  show.finished(before.state.plan, before.state.finishedMs);
  return show.result(describeUpload(before, run), view);
}

/** Whether the webhook that a job made was deleted. */
async function isGone({ state }: Job, context: Context): Promise<boolean> {
  if (state.plan.task !== 'register' || state.uid === undefined) return false;
  const { data } = await callWithRetries(context, endpoints.list, {});
  return Array.isArray(data) && !data.some(({ uid }) => uid === state.uid);
}

/** Previews the first request that is not done. */
async function previewList(run: UploadRun, plan: Plan): Promise<Result> {
  const { list, show, context } = run;
  const state = findOwnJob(run, plan)?.state;
  const chunks = [...splitChunks(list.addresses)].filter(({ index }) => !state?.done.has(index));
  if (state?.finishedMs !== undefined) show.finished(state.plan, state.finishedMs);
  else if (chunks.length < plan.chunks) context.note(`Still to be sent: ${formatRequests(chunks.length)}`);
  else context.note(`${counted(plan.addresses, 'address')} in ${formatRequests(chunks.length)}`);
  const [first] = chunks;
  if (state?.finishedMs !== undefined || first === undefined) return { kind: 'none' };
  return previewChunk(state?.uid ?? run.input.uid, first, run);
}

function formatRequests(count: number): string {
  return count <= 1
    ? 'one request.'
    : `${formatCount(count)} requests; this is the first, the others are PUTs of up to 1,000.`;
}

function describeUpload(job: Job, { list, input }: UploadRun): UploadResult {
  const { state } = job;
  const { plan } = state;
  return {
    uid: state.uid ?? '',
    destinationUrl: state.destinationUrl ?? null,
    addresses: plan.addresses,
    chunks: plan.chunks,
    duplicates: list.duplicates,
    rejected: list.rejected,
    ...(plan.task === 'register' ? readJobSecret(job, input) : {}),
  };
}

/** The file that holds the secret of a registered webhook, and the secret if it is to be shown. Errors: `partial` where it cannot be written. */
function readJobSecret(job: Job, { secretFile: file, showSecrets }: UploadInput) {
  const { plan, uid } = job.state;
  const secret = keptSecret(job);
  if (secret === undefined) return {};
  const shown = showSecrets ? { secret } : {};
  if (file === undefined) return { secretFile: keptSecretFile(job), ...shown };
  try {
    addSecret(file, secret);
  } catch (cause) {
    const kept = keptSecretFile(job);
    throw new SotraError(
      'partial',
      `all is confirmed, but --secret-file ${file} cannot be written: ${readMessage(cause)}`,
      {
        hint: `The secret of webhook ${uid} is in ${kept}; the same command again writes it where it was asked for.`,
        cause,
        details: { job: plan.job, uid, secretFile: kept },
      },
    );
  }
  return { secretFile: file, ...shown };
}
