import { existsSync, rmSync } from 'node:fs';
import * as endpoints from '../api/webhook.ts';
import { hideUrlSecrets } from '../client/secrets.ts';
import { serviceFlags, shellLine, writeFlags } from '../client/shell.ts';
import type { Context } from '../context.ts';
import { SotraError, toSotraError, writeMessage } from '../errors.ts';
import { counted, formatCount } from '../lib/output/format.ts';
import type { Result } from '../lib/output/view.ts';
import { type AddressLines, chunksOf, toJson, unpackLines } from './address-lines.ts';
import { callSafely, continuing, makeWebhook, type UploadInput, type UploadRun } from './make-webhook.ts';
import type { AddressList } from './read-addresses.ts';
import { handOverSecret, openConfirmed, saveState, setWebhook } from './state.ts';

/**
 * Sends what is left of a list in chunks, each on disk once it is confirmed, and makes the webhook first if there is none, or one that
 * `replaces` another, which the caller deletes afterwards; returns whether it did.
 * Errors: those of the call while nothing was confirmed; `partial` (exit 10) after that; `interrupted`. The same command continues after each.
 */
export async function sendAddresses(run: UploadRun, replaces?: string): Promise<boolean> {
  const { upload, list, context, input, progress } = run;
  const { state } = upload;
  const [before, isKnown] = [structuredClone(state), existsSync(upload.folder)];
  if (replaces !== undefined) setWebhook(upload, null, { replaces });
  saveState(upload, { line: formatLine(input, context), digest: list.digest });
  const makes = state.uid === null;
  try {
    if (makes && progress.live) progress.step('registering the webhook');
    const made = makes ? await makeWebhook(run, firstChunk(list)) : undefined;
    if (makes && !handOverSecret(upload, run.listed, input.secretFile))
      context.warn(`the service did not return the secret of webhook ${state.uid}`);
    await sendChunks(run, made === 'sent');
    if (state.replaces === null) saveState(upload, { line: null });
    return made === 'sent' || made === 'found';
  } catch (thrown) {
    const isMade = makes && state.uid !== null;
    const isRefused = thrown instanceof SotraError && thrown.outcome === undefined && thrown.code !== 'interrupted';
    if (isRefused && state.uid === null && state.posting === null && state.gapFromMs === null)
      if (isKnown) saveState(upload, before);
      else rmSync(upload.folder, { recursive: true, force: true });
    throw asPartial(thrown, run, isMade);
  }
}

/** The command line that continues an upload; typed addresses are left to the reader. */
function formatLine(input: UploadInput, { options }: Context): string {
  const { task, uid, destinationUrl, walletAddresses } = input;
  const flags = writeFlags({
    '--url': destinationUrl && hideUrlSecrets(destinationUrl),
    '--file': input.file,
    '--column': input.column,
    '--secret-file': input.secretFile,
    '--allow-bad-checksum': input.allowBadChecksum,
    '--skip-invalid': input.skipInvalid,
    '--another': input.another,
  });
  const words = ['sotra', ...serviceFlags(options), 'webhook', task, ...(uid ? [uid] : []), ...flags];
  return shellLine(words) + (walletAddresses === undefined ? '' : ' --wallet-addresses <the same>');
}

function firstChunk({ left }: AddressList): string[] {
  return (chunksOf(left, endpoints.chunkSize).next().value?.pieces ?? []).flatMap(unpackLines);
}

/** Sends chunks, a few at a time; the webhook may have the first already. Errors: the first one, once those on their way have ended. */
async function sendChunks(run: UploadRun, hasFirst: boolean): Promise<void> {
  const { upload, list, context, input } = run;
  const confirmed = openConfirmed(upload);
  const chunks = chunksOf(list.left, endpoints.chunkSize);
  const showConfirmed = confirmedProgress(run);
  let isKnown = hasFirst;
  let failure: unknown;
  const work = async () => {
    for (const chunk of chunks) {
      failure ??= context.io.signal.reason;
      if (failure !== undefined) return;
      if (isKnown) isKnown = false;
      else await putChunk(run, chunk);
      confirmed.add(chunk.pieces);
      run.sent += chunk.count;
      showConfirmed();
    }
  };
  const fail = (error: unknown) => {
    failure ??= error;
  };
  try {
    await Promise.all(Array.from({ length: input.concurrency ?? 4 }, () => work().catch(fail)));
    if (failure !== undefined) throw failure;
  } finally {
    confirmed.close();
  }
}

async function putChunk({ upload, context }: UploadRun, chunk: AddressLines): Promise<void> {
  const { state } = upload;
  // A million strings would take longer than the requests.
  const editBody = (json: string) => json.replace('[]', () => toJson(chunk));
  const input = { uid: state.uid ?? '', walletAddresses: [] };
  const { data } = await callSafely(context, endpoints.addAddresses, input, { editBody });
  if (data?.destinationUrl !== undefined) state.destinationUrl ??= hideUrlSecrets(data.destinationUrl);
}

/** How often a line in a log says how far the upload is. */
const logEveryMs = 5000;

/** Says how much is confirmed: on a terminal after each chunk, else now and then. */
function confirmedProgress(run: UploadRun): () => void {
  const { progress, list, context } = run;
  let saidMs = context.io.now();
  return () => {
    const nowMs = context.io.now();
    if (!progress.live && nowMs - saidMs < logEveryMs) return;
    saidMs = nowMs;
    const percent = Math.floor((countConfirmed(run) * 100) / list.size);
    progress.step(`${percent} %: ${describeConfirmed(run)}`);
  };
}

/** How many addresses of the list are confirmed, now or by earlier runs. */
function countConfirmed({ list, sent }: UploadRun): number {
  return list.size - list.left.count + sent;
}

function describeConfirmed(run: UploadRun): string {
  return `${formatCount(countConfirmed(run))} of ${counted(run.list.size, 'address')} confirmed`;
}

/** The error of an upload that ended half-way, with what is confirmed. */
function asPartial(thrown: unknown, run: UploadRun, isMade: boolean): unknown {
  const { list, upload, context, sent } = run;
  const some = describeConfirmed(run);
  if (context.io.signal.aborted)
    return new SotraError('interrupted', `interrupted with ${some}`, { hint: continuing, cause: thrown });
  const error = toSotraError(thrown);
  if (error.code === 'internal' || error.code === 'partial' || (sent === 0 && !isMade)) return error;
  return new SotraError('partial', `${some}, then: ${writeMessage(error)}`, {
    hint: error.hint === undefined ? continuing : `${continuing} ${error.hint}`,
    cause: thrown,
    status: error.status,
    requestId: error.requestId,
    details: { uid: upload.state.uid, addresses: list.size, confirmed: countConfirmed(run) },
  });
}

/** The next request of an upload, which is not sent. */
export async function previewNext({ input, list, upload, context }: UploadRun): Promise<Result> {
  const walletAddresses = firstChunk(list);
  const { uid } = upload.state;
  const { destinationUrl = '' } = input;
  const request =
    uid === null
      ? await context.client.previewCall(endpoints.register, { walletAddresses, destinationUrl })
      : await context.client.previewCall(endpoints.addAddresses, { uid, walletAddresses });
  return { kind: 'request', request };
}
