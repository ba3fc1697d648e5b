import { existsSync, rmSync } from 'node:fs';
import { addAddresses, chunkSize, register } from '../api/webhook.ts';
import { hideUrlSecrets } from '../client/secrets.ts';
import { SotraError, toSotraError, writeMessage } from '../errors.ts';
import { counted, formatCount } from '../lib/output/format.ts';
import type { Result } from '../lib/output/view.ts';
import { type AddressLines, chunksOf, toJson, unpackLines } from './address-lines.ts';
import { makeWebhook } from './make-webhook.ts';
import type { AddressList } from './read-addresses.ts';
import { callRepeatedly } from './repeat-call.ts';
import { handOverSecret } from './secrets.ts';
import { forgetWebhook, openConfirmed, saveState } from './state.ts';
import { continuing, formatLine, type UploadRun } from './upload-run.ts';

/**
 * Sends what is left of a list in chunks, each on disk once it is confirmed, and makes the webhook first if there is none, or one that
 * `replaces` another, which the caller deletes afterwards; returns whether it did.
 * Errors: those of the call while nothing was confirmed; `partial` (exit 10) after that; `interrupted`. The same command continues after each.
 */
export async function sendAddresses(run: UploadRun, replaces?: string): Promise<boolean> {
  const { upload, list, context, input } = run;
  const { state } = upload;
  const [before, isKnown] = [structuredClone(state), existsSync(upload.folder)];
  if (replaces !== undefined) forgetWebhook(upload, { replaces });
  saveState(upload, { line: formatLine(input, context), digest: list.digest });
  const makes = state.uid === null;
  announce(run, makes);
  try {
    const made = makes ? await makeWebhook(run, firstChunk(list)) : undefined;
    if (makes) handOverSecret(run);
    await sendChunks(run, made === 'sent');
    if (state.replaces === null) saveState(upload, { line: null });
    return made === 'sent' || made === 'found';
  } catch (thrown) {
    const isMade = makes && state.uid !== null;
    const isRefused = thrown instanceof SotraError && thrown.outcome === undefined && thrown.code !== 'interrupted';
    if (isRefused && state.uid === null && state.posting === null && state.gap === null)
      if (isKnown) saveState(upload, before);
      else rmSync(upload.folder, { recursive: true, force: true });
    throw asPartial(thrown, run, isMade);
  }
}

function announce({ list, show }: UploadRun, makes: boolean): void {
  const { size, left, duplicates, rejected } = list;
  const some = left.count < size ? `${formatCount(left.count)} of ` : '';
  const requests = counted(Math.ceil(left.count / chunkSize), 'request');
  const skipped = [
    ...(duplicates > 0 ? [counted(duplicates, 'duplicate')] : []),
    ...(rejected > 0 ? [counted(rejected, 'bad line')] : []),
  ];
  const notes = skipped.length === 0 ? '' : ` (${skipped.join(', ')})`;
  show.done(`sending ${some}${counted(size, 'address')} in ${requests}${notes}`);
  show.started(size - left.count, size);
  if (makes) show.stepLive('registering the webhook');
}

function firstChunk({ left }: AddressList): string[] {
  return (chunksOf(left, chunkSize).next().value?.pieces ?? []).flatMap(unpackLines);
}

/** How many addresses of the list are confirmed, now or by earlier runs. */
function countConfirmed({ list, sent }: UploadRun): number {
  return list.size - list.left.count + sent;
}

/** Sends chunks, a few at a time; the webhook may have the first already. Errors: the first one, once those on their way have ended. */
async function sendChunks(run: UploadRun, hasFirst: boolean): Promise<void> {
  const { upload, list, show, context, input } = run;
  const confirmed = openConfirmed(upload);
  const chunks = chunksOf(list.left, chunkSize);
  let isKnown = hasFirst;
  let failure: unknown;
  const fail = (error: unknown) => {
    failure ??= error;
  };
  const work = async () => {
    for (const chunk of chunks) {
      failure ??= context.io.signal.reason;
      if (failure !== undefined) return;
      if (isKnown) isKnown = false;
      else await putChunk(run, chunk);
      confirmed.add(chunk.pieces);
      run.sent += chunk.count;
      show.confirmed(countConfirmed(run), list.size);
    }
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
  const { data } = await callRepeatedly(context, addAddresses, input, { editBody });
  if (data?.destinationUrl !== undefined) state.destinationUrl ??= hideUrlSecrets(data.destinationUrl);
}

/** The error of an upload that ended half-way, with what is confirmed. */
function asPartial(thrown: unknown, run: UploadRun, isMade: boolean): unknown {
  const { list, upload, context, sent } = run;
  const confirmed = countConfirmed(run);
  const some = `${formatCount(confirmed)} of ${counted(list.size, 'address')} confirmed`;
  if (context.io.signal.aborted)
    return new SotraError('interrupted', `interrupted with ${some}`, { hint: continuing, cause: thrown });
  const error = toSotraError(thrown);
  if (error.code === 'internal' || error.code === 'partial' || (sent === 0 && !isMade)) return error;
  return new SotraError('partial', `${some}, then: ${writeMessage(error)}`, {
    hint: error.hint === undefined ? continuing : `${continuing} ${error.hint}`,
    cause: thrown,
    status: error.status,
    requestId: error.requestId,
    details: { uid: upload.state.uid, addresses: list.size, confirmed },
  });
}

/** The next request of an upload, which is not sent. */
export async function previewNext({ input, list, upload, context }: UploadRun): Promise<Result> {
  const walletAddresses = firstChunk(list);
  const { uid } = upload.state;
  const { destinationUrl = '' } = input;
  const request =
    uid === null
      ? await context.client.previewCall(register, { walletAddresses, destinationUrl })
      : await context.client.previewCall(addAddresses, { uid, walletAddresses });
  return { kind: 'request', request };
}
