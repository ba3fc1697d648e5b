import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Result } from '../cli/command.ts';
import { serviceFlags } from '../cli/globals.ts';
import type { Context } from '../context.ts';
import { readMessage, SotraError } from '../errors.ts';
import { normalizeDestination } from '../model/http-address.ts';
import { shellLine } from '../model/shell.ts';
import { hideUrlSecrets } from '../model/url-secrets.ts';
import { counted, formatCount } from '../output/format.ts';
import * as endpoints from '../resources/webhook/endpoints.ts';
import { addSecret, checkSecretFile, keptSecret, readOwnSecret, reserveSecret } from '../resources/webhook/secrets.ts';
import { type UploadResult, uploaded as view } from '../resources/webhook/view.ts';
import {
  hashParts,
  isSameDestination,
  type Job,
  jobsFolder,
  jobsOfKey,
  lockJob,
  readServiceId,
  setAside,
} from './jobs.ts';
import { type Journal, openJournal, type Plan, readJournal, resentChunks } from './journal.ts';
import { type AddressInput, type AddressList, readAddresses } from './read-addresses.ts';
import { showUpload, type UploadDisplay } from './show-upload.ts';
import { runUpload, splitChunks, type Upload, withRetries } from './upload.ts';

export interface UploadInput extends AddressInput {
  task: Plan['task'];
  destinationUrl?: string | undefined;
  uid?: string | undefined;
  secretFile?: string | undefined;
  concurrency?: number | undefined;
  another?: boolean | undefined;
  again?: boolean | undefined;
}

/** Checks all addresses, then sends what is not confirmed yet. Errors: `usage` with nothing sent; as in `runUpload`. */
export async function uploadAddresses(input: UploadInput, context: Context): Promise<Result> {
  const jobs = await jobsFolder(context);
  const show = await showUpload(context);
  let release: (() => void) | undefined;
  try {
    show.reading();
    const list = await readAddresses(input, context, show.read);
    const { task, uid, destinationUrl } = input;
    const parts = [task, uid ?? null, normalizeDestination(destinationUrl ?? ''), list.digest];
    const plan = await planUpload(parts, input, list, context);
    const folder = join(jobs, plan.job);
    if (context.options.preview) return await previewUpload(folder, input, list, show, context);
    release = lockJob(jobs, plan, context.world);
    const state = await findEarlier(folder, input, context);
    const isOver = state?.finishedMs !== undefined && !(input.again && task === 'add-addresses');
    if (state !== undefined && isOver) {
      show.finished(state.plan, state.finishedMs ?? 0);
      return await show.result(describeUpload({ folder, state }, list, input, context), view);
    }
    show.planned(plan);
    const journal = openJournal(folder, state, state?.finishedMs === undefined ? (state?.plan ?? plan) : plan);
    await sendList({ folder, state: journal.state }, journal, list, input, show, context);
    return await show.result(describeUpload({ folder, state: journal.state }, list, input, context), view);
  } finally {
    show.stop();
    release?.();
  }
}

/** What is to be done for a list; the job is named by its parts. */
export async function planUpload(
  parts: readonly unknown[],
  input: UploadInput,
  { addresses, duplicates, rejected, digest }: AddressList,
  context: Context,
): Promise<Plan> {
  const service = await readServiceId(context);
  return {
    ...{ kind: 'plan', v: 2, job: hashParts([service, ...parts]).slice(0, 12), task: input.task, ...service },
    destinationUrl: input.destinationUrl === undefined ? null : hideUrlSecrets(input.destinationUrl),
    uid: input.uid ?? null,
    ...{ addresses: addresses.size, chunks: Math.ceil(addresses.size / endpoints.chunkSize) },
    ...{ duplicates, rejected, digest, atMs: context.world.now() },
    line: formatLine(input, context),
  };
}

/** The command line of an upload, as it continues one; typed addresses are left to the reader. */
function formatLine(input: UploadInput, { options }: Context): string {
  const { task, uid, destinationUrl, walletAddresses } = input;
  const texts = { '--url': destinationUrl && hideUrlSecrets(destinationUrl), '--file': input.file };
  const more = { '--column': input.column, '--secret-file': input.secretFile };
  const flags = Object.entries({ ...texts, ...more }).flatMap(([flag, text]) => (text ? [flag, text] : []));
  const given = { '--allow-bad-checksum': input.allowBadChecksum, '--skip-invalid': input.skipInvalid };
  const marks = Object.entries({ ...given, '--another': input.another }).flatMap(([flag, on]) => (on ? [flag] : []));
  const words = ['sotra', ...serviceFlags(options), 'webhook', task, ...(uid ? [uid] : []), ...flags, ...marks];
  return shellLine(words) + (walletAddresses === undefined ? '' : ' --wallet-addresses <the same>');
}

/** What an earlier run of the same command did, unless its webhook is gone. */
async function findEarlier(folder: string, { secretFile, task }: UploadInput, context: Context) {
  const state = readJournal(folder);
  let isGone = false;
  if (state !== undefined && task === 'register' && state.uid !== undefined) {
    const { data } = await withRetries(context, (retries) => context.call(endpoints.list, {}, undefined, retries));
    isGone = Array.isArray(data) && !data.some(({ uid }) => uid === state.uid);
    if (isGone) {
      context.warn(`webhook ${state.uid} of an earlier run is gone: registering a new one`);
      setAside(folder);
    }
  }
  const earlier = isGone ? undefined : state;
  const kept = earlier === undefined ? undefined : keptSecret({ folder, state: earlier });
  const isKept =
    kept !== undefined && secretFile !== undefined && readOwnSecret(secretFile)?.split('\n').includes(kept);
  if (secretFile !== undefined && !isKept) checkSecretFile(secretFile);
  return earlier;
}

/** Sends what a job lacks of its list. Errors: as in `runUpload`. */
export async function sendList(
  job: Job,
  journal: Journal,
  { addresses }: Pick<AddressList, 'addresses'>,
  input: UploadInput,
  show: UploadDisplay,
  context: Context,
): Promise<void> {
  show.started(journal.state);
  await withUpload(job, journal, { ...input, addresses }, context, (upload) =>
    runUpload({ ...upload, onEvent: show.event }),
  );
}

/** Runs `act` on an upload, with space reserved for its secret; closes the journal. A registration that was refused leaves no job. */
export async function withUpload(
  job: Job,
  journal: Journal,
  input: Pick<UploadInput, 'concurrency' | 'another' | 'destinationUrl' | 'secretFile'> & {
    addresses: Iterable<string>;
  },
  context: Context,
  act: (upload: Upload) => Promise<void>,
): Promise<void> {
  const { folder } = job;
  const { destinationUrl = null, concurrency = 4, another = false, addresses, secretFile } = input;
  const others = (await jobsOfKey(context)).filter((each) => each.folder !== folder);
  const lost = others.find(
    ({ state }) => state.posting !== undefined && isSameDestination(state.plan.destinationUrl, destinationUrl ?? ''),
  );
  const reserved = journal.state.uid === undefined ? reserveSecret(job) : undefined;
  try {
    await act({
      ...{ context, journal, addresses, concurrency, another, destinationUrl },
      others: new Set(others.flatMap(({ state }) => state.registered ?? [])),
      lostBefore: lost?.state.posting?.before,
      keptSecret: () => keptSecret(job) ?? (lost && keptSecret(lost)),
      keepSecret: (uid, secret) => {
        if (secret === undefined) return;
        if (keptSecret(job) !== secret) reserved?.write(`${secret}\n`);
        if (secretFile === undefined) return;
        try {
          addSecret(secretFile, secret);
        } catch (error) {
          const where = `the secret of webhook ${uid} is in ${join(folder, 'secret')} for now`;
          context.warn(`--secret-file ${secretFile}: cannot be written: ${readMessage(error)}; ${where}`);
        }
      },
      onEvent: async () => undefined,
    });
  } catch (error) {
    const { uid, posting, gap } = journal.state;
    const isRefused = error instanceof SotraError && error.outcome === undefined && error.code !== 'interrupted';
    if (isRefused && uid === undefined && posting === undefined && gap === undefined)
      rmSync(folder, { recursive: true, force: true });
    throw error;
  } finally {
    journal.close();
    reserved?.close();
  }
}

/** Previews the first request that is not done, which ends the command. */
async function previewUpload(
  folder: string,
  { uid: given, destinationUrl = '' }: UploadInput,
  { addresses }: AddressList,
  show: UploadDisplay,
  context: Context,
): Promise<Result> {
  const state = readJournal(folder);
  const chunks = Math.ceil(addresses.size / endpoints.chunkSize);
  const done = state?.done ?? new Set();
  if (state?.finishedMs !== undefined) show.finished(state.plan, state.finishedMs);
  else if (done.size > 0) context.note(`Still to be sent: ${formatRequests(chunks - done.size)}`);
  else context.note(`${counted(addresses.size, 'address', 'es')} in ${formatRequests(chunks)}`);
  const uid = state?.uid ?? given;
  for (const { index, addresses: walletAddresses } of splitChunks(addresses)) {
    if (done.has(index) || state?.finishedMs !== undefined) continue;
    if (uid !== undefined) await context.call(endpoints.addAddresses, { uid, walletAddresses });
    else await context.call(endpoints.register, { walletAddresses, destinationUrl });
  }
  return { kind: 'none' };
}

export function formatRequests(count: number): string {
  return count <= 1
    ? 'one request.'
    : `${formatCount(count)} requests; this is the first, the others are PUTs of up to 1,000.`;
}

function describeUpload(job: Job, list: AddressList, { secretFile }: UploadInput, context: Context): UploadResult {
  const { state } = job;
  const { plan } = state;
  return {
    uid: state.uid ?? '',
    destinationUrl: state.destinationUrl ?? null,
    job: plan.job,
    addresses: plan.addresses,
    chunks: plan.chunks,
    duplicates: list.duplicates,
    rejected: list.rejected,
    resentChunks: resentChunks(state),
    ...(plan.task === 'register' ? readJobSecret(job, secretFile, context) : {}),
  };
}

/** The secret of a registered webhook, or the file that holds it now. Errors: `partial` where it cannot be written. */
function readJobSecret(job: Job, file: string | undefined, { warn, options }: Context) {
  const { plan, uid } = job.state;
  const secret = keptSecret(job);
  if (secret === undefined) {
    const unwritten = file === undefined ? '' : `: nothing is written to ${file}`;
    if (options.replay !== undefined) warn(`a recording does not hold the secret of webhook ${uid}${unwritten}`);
    return {};
  }
  if (file === undefined) return { secret };
  try {
    addSecret(file, secret);
  } catch (cause) {
    const kept = join(job.folder, 'secret');
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
  return { secretFile: file };
}
