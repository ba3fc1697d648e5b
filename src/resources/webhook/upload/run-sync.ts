import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Result } from '../../../cli/command.ts';
import type { Context } from '../../../context.ts';
import { workFolder } from '../../../files/durable-file.ts';
import { formatCount } from '../../../output/format.ts';
import { type JobRow, jobs as jobsView, type SyncResult, synced } from '../view.ts';
import type { AddressSet } from './address-set.ts';
import { type AddressInput, takeAddresses } from './address-source.ts';
import { jobsFolder, listJobs, readChunks, serviceId } from './jobs.ts';
import { resentChunks } from './journal.ts';
import { beyond, readLedger, readSet } from './ledger.ts';
import { resumeUpload, type UploadResult, uploadAddresses } from './run-upload.ts';

interface SyncInput extends AddressInput {
  uid: string;
  concurrency?: number | undefined;
  check?: boolean | undefined;
}

const shownBeyond = 20;

/**
 * Sends the addresses of a file that are not confirmed yet and says which confirmed ones the file no longer has. With `check` nothing is
 * sent: exit 10 where file and ledger differ. Errors: as in an upload.
 */
export async function syncAddresses({ check, ...input }: SyncInput, context: Context): Promise<Result> {
  const jobs = await jobsFolder(context);
  const draft = workFolder(jobs, 'draft', context);
  try {
    const wantedFile = join(draft, 'wanted.txt');
    const pass = await takeAddresses(input, context, { to: wantedFile, onRead: () => undefined });
    const wanted = await readSet(wantedFile);
    const resumed = check ? [] : await resumeEarlier(jobs, input, wanted, context);
    const ledger = readLedger(jobs, input.uid, await serviceId(context));
    const surplus = beyond(ledger, wanted, shownBeyond);
    const missing = pass.addresses - (ledger.confirmed.size() - surplus.count);
    const result: SyncResult = {
      uid: input.uid,
      wanted: pass.addresses,
      confirmed: ledger.confirmed.size(),
      missing,
      sent: resumed.reduce((sum, each) => sum + each.addresses, 0),
      notRemovable: surplus.count,
      notRemovableAddresses: surplus.first,
      inSync: missing === 0 && surplus.count === 0,
      job: null,
      chunks: resumed.reduce((sum, each) => sum + each.chunks, 0),
      resentChunks: resumed.reduce((sum, each) => sum + each.resentChunks, 0),
    };
    if (surplus.count > 0)
      context.warn(
        `${formatCount(surplus.count)} addresses that the webhook has are not in the file; the service has no way to remove them ` +
          '(a new webhook would be without them)',
      );
    if (check) return { kind: 'answer', answer: result, view: synced, exitCode: result.inSync ? 0 : 10 };
    if (missing > 0) await send(input, wantedFile, ledger.confirmed, result, context);
    return { kind: 'answer', answer: result, view: synced };
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

async function send(
  { uid, concurrency }: SyncInput,
  wantedFile: string,
  known: Awaited<ReturnType<typeof readLedger>>['confirmed'],
  result: SyncResult,
  context: Context,
): Promise<void> {
  // The list is normalized already: it is judged by no rule a second time.
  const input = { task: 'sync', uid, file: wantedFile, allowBadChecksum: true, known, concurrency } as const;
  const uploaded = await uploadAddresses(input, context);
  result.sent += result.missing;
  result.inSync = result.notRemovable === 0;
  if (uploaded.kind !== 'answer') return;
  const { job, chunks, resentChunks: resent } = uploaded.answer as UploadResult;
  Object.assign(result, { job, chunks: result.chunks + chunks, resentChunks: result.resentChunks + resent });
}

/** Goes on with syncs that were interrupted, where everything they still have to send is wanted: what they sent is counted there. */
async function resumeEarlier(
  jobs: string,
  { uid, concurrency }: SyncInput,
  wanted: Pick<AddressSet, 'has'>,
  context: Context,
): Promise<UploadResult[]> {
  const results: UploadResult[] = [];
  for (const { folder, state } of listJobs(jobs)) {
    if (state.plan.task !== 'sync' || state.uid !== uid || state.finishedMs !== undefined) continue;
    let isWanted = true;
    for (const { index, addresses } of readChunks(folder))
      isWanted &&= state.done.has(index) || addresses.every((address) => wanted.has(address));
    if (!isWanted) continue;
    const resumed = await resumeUpload({ job: state.plan.job, concurrency }, context);
    if (resumed.kind === 'answer') results.push(resumed.answer as UploadResult);
  }
  return results;
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
