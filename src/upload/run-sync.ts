import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { defined } from '../api/json.ts';
import { hideUrlSecrets } from '../client/url-secrets.ts';
import { replaceFile } from '../lib/files/durable-file.ts';
import { confirm } from '../lib/output/confirm.ts';
import { counted } from '../lib/output/format.ts';
import type { Result } from '../lib/output/result.ts';
import {
  describeUnfinished,
  hashParts,
  isSameDestination,
  listConfirmed,
  lockJob,
  readServiceId,
  setAside,
} from './jobs.ts';
import { finishJob, type Job, type Journal } from './journal.ts';
import { type Chunk, findOwnJob, planJob, previewChunk, runJob, splitChunks, type UploadRun } from './run-job.ts';
import { findWebhookSecret, fingerprintSecret, keptSecret, keptSecretFile } from './secrets.ts';
import { finishReplacement, keepInFile, type Target } from './sync-webhook.ts';
import { type SyncResult, synced as view } from './view.ts';

/**
 * Sees to it that a webhook has the addresses of a list, sending only what is not confirmed; `check` sends nothing and ends with 10 where
 * something would be sent. Errors: as in `runJob`.
 */
export async function syncList(run: UploadRun, target: Target): Promise<Result> {
  const { input, list, show, context } = run;
  const { missing, surplus, confirmed } = compareList(run, target.uid);
  const isOpen = target.replacement !== undefined;
  // A webhook of which this machine knows nothing may have any addresses.
  const hasOthers = surplus.length > 0 || confirmed === 0;
  const replaces = input.replace && !isOpen && hasOthers ? target.uid : undefined;
  const isCheck = input.check === true || context.options.preview;
  const result: SyncResult = {
    uid: target.uid ?? null,
    wanted: list.addresses.size,
    confirmed,
    missing: replaces === undefined ? missing.size : list.addresses.size,
    sent: 0,
    rejected: list.rejected,
    notRemovable: surplus.length,
    destinationUrl: input.destinationUrl === undefined ? null : hideUrlSecrets(input.destinationUrl),
    registered: false,
    replaced: replaces ?? target.replacement?.state.plan.replaces ?? null,
    gapMs: null,
    checked: isCheck,
  };
  if (isCheck || replaces === undefined) await listSurplus(surplus, target.uid, run);
  if (isCheck) {
    for (const line of describeUnfinished(run.jobs.filter((job) => isFor(job, target.uid, input)))) context.note(line);
    const first: Chunk | undefined = splitChunks(missing).next().value;
    if (context.options.curl && first !== undefined) return previewChunk(target.uid, first, run);
    const isSent = result.missing > 0 || isOpen;
    const isOff = isSent || (input.exact === true && result.notRemovable > 0);
    return await show.result(result, view, isOff ? 10 : 0);
  }
  if (replaces !== undefined) await confirmReplacing(run, replaces, surplus.length);
  const makes = target.uid === undefined || replaces !== undefined;
  const { secretFile } = input;
  if (!makes && secretFile !== undefined) keepInFile(secretFile, target.uid ?? '', run.jobs, target.listed);
  const journal = makes ? await makeAndSend(run, target, replaces) : await sendMissing(run, target.uid ?? '', missing);
  const jobs = journal === undefined ? run.jobs : [...run.jobs.filter((job) => job.folder !== journal.folder), journal];
  const uid = journal?.state.uid ?? target.uid ?? '';
  if (makes && secretFile !== undefined) keepInFile(secretFile, uid, jobs, target.listed);
  if (journal !== undefined) result.sent = journal.state.plan.addresses;
  const replacement = makes ? journal : target.replacement;
  if (replacement?.state.plan.replaces !== undefined) {
    await finishReplacement(replacement, jobs, context);
    const { gap } = replacement.state;
    result.gapMs = gap?.toMs === undefined ? null : gap.toMs - gap.fromMs;
    result.notRemovable = 0;
    await listSurplus([], replacement.state.plan.replaces, run);
  }
  await closeCovered(run, jobs, uid);
  const isKept = makes && journal !== undefined && keptSecret(journal) !== undefined;
  const holder = secretFile ?? (isKept ? keptSecretFile(journal) : undefined);
  const secret = input.showSecrets ? findWebhookSecret(uid, jobs, target.listed) : undefined;
  if (secretFile === undefined && holder !== undefined) context.note(`The secret of webhook ${uid} is in ${holder}`);
  const told = defined({ secretFile: holder, secret });
  const registered = makes && journal?.state.inPlaceOf === undefined;
  return await show.result({ ...result, uid, registered, ...told }, view);
}

function isFor({ state }: Job, uid: string | undefined, { destinationUrl }: UploadRun['input']): boolean {
  if (uid !== undefined && state.uid === uid) return true;
  return destinationUrl !== undefined && isSameDestination(state.plan.destinationUrl, destinationUrl);
}

/**
 * What a webhook lacks of a list, and has besides, as far as this machine confirmed it. Memory: some 50 bytes an address, none where nothing but this
 * list was ever confirmed.
 */
function compareList({ list, jobs }: UploadRun, uid: string | undefined) {
  const { addresses, digest } = list;
  const chunks = uid === undefined ? [] : listConfirmed(jobs, uid);
  const count = chunks.reduce((sum, { length }) => sum + length, 0);
  if (count === 0) return { missing: addresses, surplus: [], confirmed: 0 };
  // What was not part of the plan was confirmed before it, but for a webhook that it made.
  const hasWhole = ({ state: { plan, done, uid: of } }: Job) =>
    of === uid &&
    plan.digest === digest &&
    done.size === plan.chunks &&
    (plan.uid !== null || plan.addresses === count);
  if (count === addresses.size && jobs.some(hasWhole))
    return { missing: new Set<string>(), surplus: [], confirmed: count };
  const missing = new Set(addresses);
  const surplus = new Set<string>();
  for (const chunk of chunks)
    for (const address of chunk)
      if (addresses.has(address)) missing.delete(address);
      else surplus.add(address);
  return { missing, surplus: [...surplus], confirmed: addresses.size - missing.size + surplus.size };
}

/** Writes the addresses that left the file to a file of their own, and prints its name; without any, removes it. */
async function listSurplus(surplus: readonly string[], uid: string | undefined, { context }: UploadRun): Promise<void> {
  if (context.options.preview || uid === undefined) return;
  const name = `not-in-file-${hashParts([await readServiceId(context), uid]).slice(0, 12)}.txt`;
  const file = join(await context.dataDirectory(), 'webhook', name);
  if (surplus.length === 0) return rmSync(file, { force: true });
  replaceFile(file, `${surplus.join('\n')}\n`);
  context.note(`The addresses that are not in the file are listed in ${file}`);
}

async function confirmReplacing({ input, list, context }: UploadRun, old: string, surplus: number): Promise<void> {
  const to = hideUrlSecrets(input.destinationUrl ?? '');
  const what = `replace webhook ${old} with a new one of ${counted(list.addresses.size, 'address')}`;
  const shown =
    `Webhook ${old} sends to ${to}; ${counted(surplus, 'address')} of it ${surplus === 1 ? 'is' : 'are'} not in the file.\n` +
    'The new one has another secret. If the service allows one webhook per URL, the old one is deleted first.\n';
  await confirm(what, context, shown);
}

/** Makes the webhook of a destination, or the one that replaces another, and sends it the list. */
async function makeAndSend(run: UploadRun, { replacement }: Target, old: string | undefined): Promise<Journal> {
  const { list, jobs } = run;
  const replaces = old ?? replacement?.state.plan.replaces;
  const retires = replaces === undefined ? undefined : findWebhookSecret(replaces, jobs, []);
  const plan = await planJob(run, {
    uid: null,
    ...(replaces !== undefined && { replaces }),
    ...(retires !== undefined && { retires: fingerprintSecret(retires) }),
  });
  const before = findOwnJob(run, plan);
  const isOver = before?.state.uid !== undefined;
  // What it made is gone.
  if (isOver) setAside(before);
  const rest = isOver ? jobs.filter((job) => job !== before) : jobs;
  return runJob({ ...run, jobs: rest, input: { ...run.input, another: true } }, plan, list.addresses);
}

async function sendMissing(run: UploadRun, uid: string, missing: ReadonlySet<string>): Promise<Journal | undefined> {
  const plan = await planJob(run, { uid }, missing);
  // A sync by --url holds the lock of the destination, which says nothing to one by uid.
  const lock = run.input.destinationUrl === undefined ? undefined : { ...plan, destinationUrl: null };
  const release = lock && lockJob(run.folder, lock);
  try {
    return missing.size === 0 ? undefined : await runJob(run, plan, missing);
  } finally {
    release?.();
  }
}

/** Uploads that a sync has done the rest of are no longer open. */
async function closeCovered({ input, context }: UploadRun, jobs: readonly Job[], uid: string): Promise<void> {
  for (const job of jobs) {
    const { plan, finishedMs } = job.state;
    if (finishedMs !== undefined || plan.task === 'add-addresses') continue;
    const isHere = input.destinationUrl !== undefined && isSameDestination(plan.destinationUrl, input.destinationUrl);
    if (isHere && job.state.uid === undefined) rmSync(job.folder, { recursive: true });
    else if (job.state.uid === uid && (isHere || plan.task === 'sync')) await finishJob(job, context.io.now());
  }
}
