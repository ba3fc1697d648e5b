import { rmSync } from 'node:fs';
import type { Result } from '../cli/command.ts';
import type { Context } from '../context.ts';
import { workFolder } from '../files/durable-file.ts';
import { type AddressSet, createAddressSet } from '../model/address-set.ts';
import { formatCount } from '../output/format.ts';
import { type SyncResult, synced, type UploadResult } from '../resources/webhook/view.ts';
import { type AddressInput, checkAddresses } from './first-pass.ts';
import { addressesFile, checkList, type Job, jobsFolder, jobsOfService, listJobs, readChunks } from './jobs.ts';
import { resumeUpload, uploadAddresses } from './run-upload.ts';

interface SyncInput extends AddressInput {
  uid: string;
  concurrency?: number | undefined;
  check?: boolean | undefined;
}

/** Addresses that the result names of those that the file no longer has. */
const maxNamed = 20;

/** Sends what is not confirmed yet; `check` sends nothing and ends with 10 where file and webhook differ. Errors: as in an upload. */
export async function syncAddresses({ check, ...input }: SyncInput, context: Context): Promise<Result> {
  const jobs = await jobsFolder(context);
  const draft = workFolder(jobs, 'draft', context);
  try {
    const wantedFile = addressesFile(draft);
    const pass = await checkAddresses(input, context, { to: wantedFile, onRead: () => undefined });
    const wanted = createAddressSet();
    for (const { addresses } of readChunks(draft)) for (const address of addresses) wanted.add(address);
    const resumed = check ? [] : await resumeEarlier(jobs, input, wanted, context);
    const uploads = (await jobsOfService(context)).filter(({ state }) => state.uid === input.uid);
    const confirmed = confirmedBy(uploads);
    const surplus = surplusOf(uploads, wanted);
    const missing = pass.addresses - (confirmed.size() - surplus.count);
    const result: SyncResult = {
      uid: input.uid,
      wanted: pass.addresses,
      confirmed: confirmed.size(),
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
    if (missing > 0) await send(input, wantedFile, confirmed, result, context);
    return { kind: 'answer', answer: result, view: synced };
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

async function send(
  { uid, concurrency }: SyncInput,
  wantedFile: string,
  known: AddressSet,
  result: SyncResult,
  context: Context,
): Promise<void> {
  // The list is normalized and was checked already.
  const input = { task: 'sync', uid, file: wantedFile, allowBadChecksum: true, known, concurrency } as const;
  const uploaded = await uploadAddresses(input, context);
  result.sent += result.missing;
  result.inSync = result.notRemovable === 0;
  if (uploaded.kind !== 'answer') return;
  const { job, chunks, resentChunks } = uploaded.answer as UploadResult;
  Object.assign(result, { job, chunks: result.chunks + chunks, resentChunks: result.resentChunks + resentChunks });
}

/** Resumes interrupted syncs of which everything left to send is wanted: their journals count what they sent. */
async function resumeEarlier(
  jobs: string,
  { uid, concurrency }: SyncInput,
  wanted: AddressSet,
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

/** The addresses in the confirmed chunks of uploads. Memory: some 30 bytes an address. Errors: `local-file` for a damaged list. */
function confirmedBy(uploads: readonly Job[]): AddressSet {
  const confirmed = createAddressSet();
  for (const job of uploads) checkList(job);
  for (const address of confirmedAddresses(uploads)) confirmed.add(address);
  return confirmed;
}

function* confirmedAddresses(uploads: readonly Job[]): Generator<string> {
  for (const { folder, state } of uploads)
    for (const { index, addresses } of readChunks(folder)) if (state.done.has(index)) yield* addresses;
}

function surplusOf(uploads: readonly Job[], wanted: AddressSet): { count: number; first: string[] } {
  const surplus = createAddressSet();
  const first: string[] = [];
  for (const address of confirmedAddresses(uploads))
    if (!wanted.has(address) && surplus.add(address) && first.length < maxNamed) first.push(address);
  return { count: surplus.size(), first };
}
