import { join } from 'node:path';
import { serviceFlags } from '../cli/globals.ts';
import type { Context } from '../context.ts';
import { normalizeDestination } from '../model/http-address.ts';
import { shellLine } from '../model/shell.ts';
import { hideUrlSecrets } from '../model/url-secrets.ts';
import * as endpoints from '../resources/webhook/endpoints.ts';
import { hashParts, readServiceId } from './jobs.ts';
import { type Job, type Journal, openJournal, type Plan } from './journal.ts';
import type { AddressInput, AddressList } from './read-addresses.ts';
import type { UploadDisplay } from './show-upload.ts';
import { type Chunk, runUpload } from './upload.ts';

export interface UploadInput extends AddressInput {
  task: Plan['task'];
  destinationUrl?: string | undefined;
  uid?: string | undefined;
  secretFile?: string | undefined;
  concurrency?: number | undefined;
  another?: boolean | undefined;
  again?: boolean | undefined;
  check?: boolean | undefined;
  exact?: boolean | undefined;
  replace?: boolean | undefined;
}

/** A command line with its list, and what this machine did before with the same key. */
export interface UploadRun {
  input: UploadInput;
  list: AddressList;
  /** Where the folders of the jobs are. */
  folder: string;
  jobs: readonly Job[];
  show: UploadDisplay;
  context: Context;
}

type Target = Pick<Plan, 'uid' | 'replaces' | 'retires'>;

/** What a job does: it sends these addresses to a webhook, which it makes where there is no uid. The same command line gives the same job. */
export async function planJob(
  { input, list, context }: Pick<UploadRun, 'input' | 'list' | 'context'>,
  { uid, ...replacing }: Target,
  { size } = list.addresses,
): Promise<Plan> {
  const { task, destinationUrl } = input;
  const { duplicates, rejected, digest } = list;
  const service = await readServiceId(context);
  const destination = normalizeDestination(destinationUrl ?? '');
  const syncParts = uid === null ? [task, null, destination, replacing.replaces ?? null] : [task, uid];
  const parts = task === 'sync' ? syncParts : [task, uid, destination, digest];
  return {
    ...{ kind: 'plan', v: 2, job: hashParts([service, ...parts]).slice(0, 12), task, ...service },
    destinationUrl: destinationUrl === undefined ? null : hideUrlSecrets(destinationUrl),
    ...{ uid, addresses: size, chunks: Math.ceil(size / endpoints.chunkSize), duplicates, rejected, digest },
    ...{ atMs: context.world.now(), line: formatLine(input, context), ...replacing },
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

export function findOwnJob({ folder, jobs }: UploadRun, { job }: Pick<Plan, 'job'>): Job | undefined {
  return jobs.find((each) => each.folder === join(folder, job));
}

/** Does what a job lacks, and gives its journal, closed; an unfinished one of the same list goes on as it was planned. Errors: as in `runUpload`. */
export async function runJob(run: UploadRun, plan: Plan, addresses: ReadonlySet<string>): Promise<Journal> {
  const { input, jobs, show, context } = run;
  const earlier = findOwnJob(run, plan);
  const isSame = plan.task !== 'sync' && earlier?.state.finishedMs === undefined;
  const journal = openJournal(join(run.folder, plan.job), earlier, (isSame && earlier?.state.plan) || plan);
  show.planned(plan);
  show.started(journal.state);
  const others = jobs.filter((each) => each !== earlier);
  await runUpload({ ...input, context, journal, addresses, others, onEvent: show.event });
  return journal;
}

/** Previews the request of a chunk. A preview ends the command. */
export async function previewChunk(uid: string | undefined, chunk: Chunk | undefined, { input, context }: UploadRun) {
  const { destinationUrl = '' } = input;
  if (chunk === undefined) return;
  if (uid !== undefined) await context.call(endpoints.addAddresses, { uid, walletAddresses: chunk.addresses });
  else await context.call(endpoints.register, { walletAddresses: chunk.addresses, destinationUrl });
}
