import { existsSync, rmSync } from 'node:fs';
import * as endpoints from '../api/webhook.ts';
import type { WebhookList } from '../api/webhook-answers.ts';
import { hideUrlSecrets } from '../client/secrets.ts';
import { SotraError, toSotraError, writeMessage } from '../errors.ts';
import { ClosedPipe } from '../lib/io.ts';
import { counted, formatCount } from '../lib/output/format.ts';
import type { Result } from '../lib/output/result.ts';
import { batchesOf } from './address-lines.ts';
import { openConfirmed } from './confirmed.ts';
import { makeWebhook } from './make-webhook.ts';
import type { AddressList } from './read-addresses.ts';
import { handOverSecret } from './secrets.ts';
import { forgetWebhook, saveState } from './state.ts';
import { continuing, formatLine, type UploadRun } from './upload-run.ts';
import { callWithRetries } from './with-retries.ts';

interface SendOptions {
  /** The webhooks of the destination, as the service listed them. */
  listed?: WebhookList;
  /** The webhook that a new one replaces; the caller deletes it afterwards. */
  replaces?: string | undefined;
}

/**
 * Sends what is left of a list in chunks, each on disk once it is confirmed, and makes the webhook first if there is none; returns whether it did.
 * Errors: those of the call while nothing was confirmed; `partial` (exit 10) after that; `interrupted`. The same command continues after each.
 */
export async function sendAddresses(run: UploadRun, { listed = [], replaces }: SendOptions = {}): Promise<boolean> {
  const { upload, list, show, context, input } = run;
  const { state } = upload;
  const [before, isKnown] = [structuredClone(state), existsSync(upload.folder)];
  if (replaces !== undefined) forgetWebhook(upload, { replaces });
  saveState(upload, { line: formatLine(input, context), digest: list.digest });
  const makes = state.uid === null;
  const progress = { confirmed: list.size - list.left.count, isBegun: false };
  show.started(list, makes);
  try {
    const made = makes ? await makeWebhook(run, firstChunk(list)) : undefined;
    if (makes) handOverSecret(run, listed);
    await sendChunks(run, progress, made === 'sent');
    if (state.replaces === null) saveState(upload, { line: null });
    return made === 'sent' || made === 'found';
  } catch (thrown) {
    const isBegun = progress.isBegun || (makes && state.uid !== null);
    const leftNothing = state.uid === null && state.posting === null && state.gap === null;
    if (leftNothing && isRefused(thrown))
      if (isKnown) saveState(upload, before);
      else rmSync(upload.folder, { recursive: true, force: true });
    throw asPartial(thrown, run, progress.confirmed, isBegun);
  }
}

function isRefused(thrown: unknown): boolean {
  return thrown instanceof SotraError && thrown.outcome === undefined && thrown.code !== 'interrupted';
}

function firstChunk({ left }: AddressList): string[] {
  return batchesOf(left, endpoints.chunkSize).next().value ?? [];
}

interface SendProgress {
  /** Addresses of the list, also from earlier runs. */
  confirmed: number;
  /** Whether this run confirmed some. */
  isBegun: boolean;
}

/** Sends chunks, a few at a time; the webhook may have the first already. Errors: the first one, once those on their way have ended. */
async function sendChunks(run: UploadRun, progress: SendProgress, hasFirst: boolean): Promise<void> {
  const { upload, list, show, context, input } = run;
  const confirmed = openConfirmed(upload);
  const chunks = batchesOf(list.left, endpoints.chunkSize);
  const count = Math.ceil(list.left.count / endpoints.chunkSize);
  const saving: Promise<void>[] = [];
  let [number, done] = [0, 0];
  let failure: unknown;
  const fail = (error: unknown) => {
    failure ??= error;
  };
  const confirm = async (chunk: number, addresses: readonly string[]) => {
    await confirmed.add(addresses);
    done += 1;
    progress.confirmed += addresses.length;
    progress.isBegun = true;
    await show.event({ event: 'chunk-done', chunk, addresses: addresses.length, done, chunks: count });
  };
  const work = async () => {
    for (const addresses of chunks) {
      failure ??= context.io.signal.reason;
      if (failure !== undefined) return;
      number += 1;
      const chunk = number;
      if (chunk > 1 || !hasFirst) await putChunk(run, chunk, addresses);
      // The next chunk need not wait for the disk.
      saving.push(confirm(chunk, addresses).catch(fail));
    }
  };
  try {
    await Promise.all(Array.from({ length: input.concurrency ?? 4 }, () => work().catch(fail)));
    await Promise.all(saving);
    if (failure !== undefined) throw failure;
  } finally {
    confirmed.close();
  }
}

async function putChunk({ upload, context, show }: UploadRun, chunk: number, walletAddresses: string[]): Promise<void> {
  const { state } = upload;
  const { data } = await callWithRetries(
    context,
    endpoints.addAddresses,
    { uid: state.uid ?? '', walletAddresses },
    (error, delayMs) => show.event({ event: 'chunk-retried', chunk, why: writeMessage(error), delayMs }),
  );
  if (data?.destinationUrl !== undefined) state.destinationUrl ??= hideUrlSecrets(data.destinationUrl);
}

/** The error of an upload that ended half-way, with what is confirmed. */
function asPartial(
  thrown: unknown,
  { list, upload, context }: UploadRun,
  confirmed: number,
  isBegun: boolean,
): unknown {
  const some = `${formatCount(confirmed)} of ${counted(list.size, 'address')}`;
  if (context.io.signal.aborted)
    return new SotraError('interrupted', `interrupted with ${some} confirmed`, { hint: continuing, cause: thrown });
  if (thrown instanceof ClosedPipe) return thrown;
  const error = toSotraError(thrown);
  if (error.code === 'internal' || error.code === 'partial' || !isBegun) return error;
  return new SotraError('partial', `${some} confirmed, then: ${writeMessage(error)}`, {
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
  const request =
    uid === null
      ? await context.client.previewCall(endpoints.register, {
          walletAddresses,
          destinationUrl: input.destinationUrl ?? '',
        })
      : await context.client.previewCall(endpoints.addAddresses, { uid, walletAddresses });
  return { kind: 'request', request };
}
