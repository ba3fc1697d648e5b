import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Result } from '../cli/command.ts';
import type { Context } from '../context.ts';
import { SotraError, toSotraError, usageError } from '../errors.ts';
import { replaceFile } from '../files/durable-file.ts';
import { hideUrlSecrets } from '../model/url-secrets.ts';
import { confirm } from '../output/confirm.ts';
import { counted } from '../output/format.ts';
import * as endpoints from '../resources/webhook/endpoints.ts';
import { checkSecretFile } from '../resources/webhook/secrets.ts';
import { type SyncResult, synced as view } from '../resources/webhook/view.ts';
import {
  hashParts,
  isSameDestination,
  type Job,
  jobsFolder,
  jobsOfKey,
  lockJob,
  readConfirmed,
  readServiceId,
} from './jobs.ts';
import { openJournal, readJournal, resentChunks } from './journal.ts';
import { type AddressInput, type AddressList, readAddresses } from './read-addresses.ts';
import { planUpload, sendList, type UploadInput } from './run-upload.ts';
import { showUpload, type UploadDisplay } from './show-upload.ts';
import {
  findSyncedWebhook,
  finishJob,
  finishReplacement,
  keepInFile,
  type MadeWebhook,
  makeTarget,
  type Target,
} from './sync-webhook.ts';
import { continuing } from './upload.ts';

interface SyncInput extends AddressInput {
  uid?: string | undefined;
  url?: string | undefined;
  secretFile?: string | undefined;
  concurrency?: number | undefined;
  check?: boolean | undefined;
  exact?: boolean | undefined;
  replace?: boolean | undefined;
}

/** Addresses that the result names of those that the file no longer has. */
const maxNamed = 20;

/**
 * Sees to it that a webhook has the addresses of a file, sending only what is not confirmed; `check` sends nothing and ends with 10 where
 * something would be sent. Errors: as in an upload.
 */
export async function syncAddresses(input: SyncInput, context: Context): Promise<Result> {
  checkFlags(input);
  const { url, uid } = input;
  const isCheck = input.check || context.options.preview;
  const jobs = await jobsFolder(context);
  const service = await readServiceId(context);
  const show = await showUpload(context, { brief: true });
  let release: (() => void) | undefined;
  try {
    show.reading();
    const list = await readAddresses(input, context, show.read);
    if (input.secretFile !== undefined && !isCheck) checkSecretFile(input.secretFile, { mayHold: true });
    const job = url === undefined ? hashParts([service, 'sync', uid]).slice(0, 12) : '';
    if (!isCheck) release = lockJob(jobs, { job, ...service, destinationUrl: url ?? null }, context.world);
    const known = await jobsOfKey(context);
    const target = url === undefined ? undefined : await findSyncedWebhook(url, { jobs: known, isCheck }, context);
    return await syncTarget({ input, list, show, context, isCheck, jobs: known, target });
  } finally {
    show.stop();
    release?.();
  }
}

function checkFlags({ uid, url, secretFile, replace }: SyncInput): void {
  if ((uid === undefined) === (url === undefined))
    throw usageError(
      uid === undefined ? '--url is required: which webhook?' : '--url and a uid both name the webhook',
      uid === undefined ? 'Give the destination with --url, or the uid of a webhook.' : 'Omit one of them.',
    );
  if (url === undefined && secretFile !== undefined) throw usageError('--secret-file is for --url', 'Omit it.');
  if (url === undefined && replace) throw usageError('--replace is for --url', 'Name the webhook by its destination.');
}

interface SyncJob {
  input: SyncInput;
  list: AddressList;
  show: UploadDisplay;
  context: Context;
  isCheck: boolean;
  jobs: readonly Job[];
  target: Target | undefined;
}

async function syncTarget(sync: SyncJob): Promise<Result> {
  const { input, list, show, context, isCheck, jobs, target } = sync;
  const found = input.uid ?? target?.uid;
  const before = compareList(list, found, jobs);
  const isOpen = target?.replacement !== undefined;
  // A webhook of which this machine knows nothing may have any addresses.
  const hasOthers = before.surplus.length > 0 || before.confirmed === 0;
  const replaces = input.replace && !isOpen && found !== undefined && hasOthers ? found : undefined;
  const result: SyncResult = {
    uid: found ?? null,
    wanted: list.addresses.size,
    confirmed: before.confirmed,
    missing: replaces === undefined ? before.missing.size : list.addresses.size,
    sent: 0,
    notRemovable: before.surplus.length,
    notRemovableAddresses: before.surplus.slice(0, maxNamed),
    inSync: before.missing.size === 0 && before.surplus.length === 0 && !isOpen,
    job: null,
    chunks: 0,
    resentChunks: 0,
    destinationUrl: input.url === undefined ? null : hideUrlSecrets(input.url),
    notRemovableFile: await writeSurplus(before.surplus, found, context),
    registered: false,
    replaced: replaces ?? target?.replacement?.state.plan.replaces ?? null,
    gapMs: null,
    checked: isCheck,
  };
  if (isCheck) {
    if (context.options.curl) await previewFirst(sync, result.missing === 0 ? new Set() : before.missing, found);
    const isSent = result.missing > 0 || isOpen;
    const isOff = isSent || (input.exact === true && result.notRemovable > 0);
    return await show.result(result, view, isOff ? 10 : 0);
  }
  if (replaces !== undefined) await confirmReplacing(sync, replaces, before.surplus.length);
  const made = await makeMissing(sync, found, replaces);
  const uid = made?.uid ?? found ?? '';
  const now = made === undefined ? jobs : await jobsOfKey(context);
  if (input.secretFile !== undefined) keepInFile(input.secretFile, uid, now, target?.listed ?? []);
  const after = made === undefined ? before : compareList(list, uid, now);
  Object.assign(result, { uid, registered: made !== undefined });
  try {
    await sendMissing(sync, uid, after.missing, result);
  } catch (thrown) {
    throw made === undefined ? thrown : afterMaking(uid, thrown);
  }
  if (made !== undefined) {
    const wasLost = made.job.state.settled;
    result.sent = wasLost ? result.sent : list.addresses.size;
    result.chunks += wasLost ? 0 : 1;
    result.resentChunks += wasLost ? 1 : 0;
    result.job ??= made.job.state.plan.job;
  }
  const replacement = replaces === undefined ? target?.replacement : made?.job;
  if (replacement !== undefined) {
    await finishReplacement(replacement, context);
    const { gap } = made?.job.state ?? replacement.state;
    result.gapMs = gap?.toMs === undefined ? null : gap.toMs - gap.fromMs;
    Object.assign(result, { notRemovable: 0, notRemovableAddresses: [], notRemovableFile: null });
  }
  await closeCovered(sync, uid);
  result.inSync = result.notRemovable === 0;
  if (input.secretFile !== undefined) result.secretFile = input.secretFile;
  else if (made?.secret !== undefined) result.secret = made.secret;
  return await show.result(result, view);
}

/** What a webhook lacks of a list, and has besides, as far as this machine confirmed it. Memory: some 50 bytes an address. */
function compareList({ addresses }: AddressList, uid: string | undefined, jobs: readonly Job[]) {
  const missing = new Set(addresses);
  const surplus = new Set<string>();
  const takeOut = (address: string) => (addresses.has(address) ? missing.delete(address) : surplus.add(address));
  if (uid !== undefined) readConfirmed(jobs, uid, (confirmed) => confirmed.forEach(takeOut));
  return { missing, surplus: [...surplus], confirmed: addresses.size - missing.size + surplus.size };
}

/** Lists what left the file in a file of its own, and gives its name. */
async function writeSurplus(surplus: readonly string[], uid: string | undefined, context: Context) {
  if (context.options.preview || uid === undefined) return null;
  const name = `not-in-file-${hashParts([await readServiceId(context), uid]).slice(0, 12)}.txt`;
  const file = join(await context.dataDirectory(), 'webhook', name);
  if (surplus.length === 0) rmSync(file, { force: true });
  else replaceFile(file, `${surplus.join('\n')}\n`);
  return surplus.length === 0 ? null : file;
}

async function previewFirst({ input, context }: SyncJob, missing: ReadonlySet<string>, uid: string | undefined) {
  const walletAddresses = [...missing].slice(0, endpoints.chunkSize);
  if (walletAddresses.length === 0) return;
  if (uid !== undefined) await context.call(endpoints.addAddresses, { uid, walletAddresses });
  else await context.call(endpoints.register, { walletAddresses, destinationUrl: input.url ?? '' });
}

async function confirmReplacing({ input, list, context }: SyncJob, old: string, surplus: number): Promise<void> {
  const to = hideUrlSecrets(input.url ?? '');
  const what = `replace webhook ${old} by a new one with ${counted(list.addresses.size, 'address', 'es')}`;
  const shown =
    `Webhook ${old} sends to ${to}; ${counted(surplus, 'address', 'es')} of it ${surplus === 1 ? 'is' : 'are'} not in the file.\n` +
    'The new one has another secret. Where the service allows one webhook a destination, the old one is deleted first.\n';
  await confirm(what, context, shown);
}

function uploadInput({ input }: SyncJob): UploadInput {
  return { ...input, task: 'sync', destinationUrl: input.url };
}

/** Makes the webhook where there is none, or the one that replaces another. */
async function makeMissing(
  sync: SyncJob,
  found: string | undefined,
  replaces: string | undefined,
): Promise<MadeWebhook | undefined> {
  const { input, list, show, context, target } = sync;
  if (input.url === undefined || (found !== undefined && replaces === undefined)) return undefined;
  const old = replaces ?? target?.replacement?.state.plan.replaces;
  return makeTarget({ url: input.url, replaces: old, input: uploadInput(sync), list, show, context });
}

async function sendMissing(
  sync: SyncJob,
  uid: string,
  missing: ReadonlySet<string>,
  result: SyncResult,
): Promise<void> {
  const { list, show, context } = sync;
  const input: UploadInput = uploadInput(sync);
  const planned = await planUpload(['sync', uid], input, { ...list, addresses: missing }, context);
  const plan = { ...planned, uid };
  const jobs = await jobsFolder(context);
  // A sync by --url holds the lock of the destination, which says nothing to one by uid.
  const release =
    input.destinationUrl === undefined ? undefined : lockJob(jobs, { ...plan, destinationUrl: null }, context.world);
  try {
    if (missing.size === 0) return;
    const folder = join(jobs, plan.job);
    const journal = openJournal(folder, readJournal(folder), plan);
    show.planned(plan);
    await sendList({ folder, state: journal.state }, journal, { addresses: missing }, input, show, context);
    result.sent = missing.size;
    Object.assign(result, { job: plan.job, chunks: plan.chunks, resentChunks: resentChunks(journal.state) });
  } finally {
    release?.();
  }
}

/** The error of what comes after a webhook was made. */
function afterMaking(uid: string, thrown: unknown): unknown {
  const error = toSotraError(thrown);
  if (error.code === 'internal' || error.code === 'partial' || error.code === 'interrupted') return thrown;
  return new SotraError('partial', `webhook ${uid} is made and has its first addresses, then: ${error.message}`, {
    hint: error.hint === undefined ? continuing : `${continuing} ${error.hint}`,
    cause: thrown,
    status: error.status,
    requestId: error.requestId,
  });
}

/** Uploads that a sync has done the rest of are no longer open. */
async function closeCovered({ input, context }: SyncJob, uid: string): Promise<void> {
  for (const job of await jobsOfKey(context)) {
    const { plan, finishedMs } = job.state;
    if (finishedMs !== undefined || plan.task === 'add-addresses') continue;
    const isHere = input.url !== undefined && isSameDestination(plan.destinationUrl, input.url);
    if (isHere && job.state.uid === undefined) rmSync(job.folder, { recursive: true });
    else if (job.state.uid === uid && (isHere || plan.task === 'sync')) await finishJob(job, context);
  }
}
