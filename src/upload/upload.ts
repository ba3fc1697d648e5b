import type { Context } from '../context.ts';
import { SotraError, toSotraError } from '../errors.ts';
import { computeBackoff, policies } from '../http/retry.ts';
import { sameDestination } from '../model/http-address.ts';
import { command } from '../model/shell.ts';
import { hidden, hideUrlSecrets } from '../model/url-secrets.ts';
import * as endpoints from '../resources/webhook/endpoints.ts';
import { checkedList, shownSecret } from '../resources/webhook/secrets.ts';
import { ClosedPipe } from '../world.ts';
import { type Journal, resentChunks } from './journal.ts';

/** What happens during an upload, for its display and for `--format ndjson`. */
export type UploadEvent =
  | { event: 'settling'; why: string }
  | { event: 'registered'; uid: string; destinationUrl: string; settled: boolean }
  | { event: 'chunk-retried'; chunk: number; why: string; delayMs: number }
  | { event: 'chunk-done'; chunk: number; addresses: number; done: number; chunks: number };

export interface Upload {
  context: Context;
  journal: Journal;
  addresses: Iterable<string>;
  concurrency: number;
  /** With what is secret in it; `null` where the webhook is there already. */
  destinationUrl: string | null;
  /** Makes a webhook also where the destination has one. */
  another: boolean;
  /** Webhooks that other uploads of this machine made. */
  others: ReadonlySet<string>;
  /** The webhooks from before a POST to this destination that another upload of this machine lost the answer of. */
  lostBefore: readonly string[] | undefined;
  /** The secret that an earlier run put on disk before it could record the webhook. */
  keptSecret: () => string | undefined;
  /** Makes the secret safe; called before anything else is sent. */
  keepSecret: (uid: string, secret: string | undefined) => void;
  onEvent: (event: UploadEvent) => Promise<void>;
}

/**
 * Sends what a job has not confirmed yet; what is confirmed is on disk before its event. Errors: those of the call where nothing was
 * confirmed; `partial` (exit 10) once something was; `interrupted`. The same command continues after each.
 */
export async function runUpload(upload: Upload): Promise<void> {
  const { journal, context } = upload;
  try {
    if (journal.state.uid === undefined) await registerWebhook(upload);
    await sendChunks(upload);
    await journal.write({ kind: 'finished', atMs: context.world.now() });
  } catch (thrown) {
    throw asPartial(thrown, upload);
  }
}

/** Repeats an idempotent act while its failure may be temporary (no answer, a broken one, 5xx, 429). Errors: the last one. */
export async function withRetries<T>(
  context: Context,
  act: (retries: number | undefined) => Promise<T>,
  onFailure: (error: SotraError, delayMs: number) => void | Promise<void> = () => undefined,
): Promise<T> {
  let sent = 0;
  for (let failures = 1; ; failures += 1) {
    try {
      return await act(retriesLeft(sent, context));
    } catch (thrown) {
      if (!(thrown instanceof SotraError) || thrown.outcome === undefined || thrown.code === 'interrupted')
        throw thrown;
      sent += thrown.attempts ?? 1;
      if (!mayRepeat(failures, sent, context)) throw thrown;
      const delayMs = computeDelay(failures, thrown, context);
      await onFailure(thrown, delayMs);
      await pause(delayMs, context);
    }
  }
}

/** How often the next call may repeat by itself; `undefined`: as often as any. */
function retriesLeft(sent: number, { options: { retries } }: Context): number | undefined {
  return retries === undefined ? undefined : retries - sent;
}

/** Eight tries, or as many requests as `--retries` allows. */
function mayRepeat(failures: number, sent: number, { options: { retries } }: Context): boolean {
  return retries === undefined ? failures <= policies.upload.retries : sent <= retries;
}

function computeDelay(failures: number, { code }: SotraError, { world }: Context): number {
  const delayMs = computeBackoff(policies.upload, failures, world.random);
  return code === 'rate-limited' ? Math.max(1000, delayMs) : delayMs;
}

/** Errors: `interrupted`. */
async function pause(ms: number, { world }: Context): Promise<void> {
  try {
    await world.sleep(ms, world.signal);
  } catch (cause) {
    throw new SotraError('interrupted', 'interrupted', { cause });
  }
}

/** Makes the webhook with the first chunk, its secret safe before its uid is recorded. Errors: those of the call; `partial`. */
export async function registerWebhook(upload: Upload): Promise<void> {
  const { journal } = upload;
  const [first] = splitChunks(upload.addresses);
  const addresses = first?.addresses ?? [];
  const { uid, destinationUrl, secret, settled } = await makeWebhook(upload, addresses);
  try {
    upload.keepSecret(uid, secret);
    await journal.write({
      ...{ kind: 'registered', uid, destinationUrl: hideUrlSecrets(destinationUrl), settled },
      ...(!settled && { addresses }),
      atMs: upload.context.world.now(),
    });
  } catch (cause) {
    throw new SotraError('partial', `webhook ${uid} was made, then: ${toSotraError(cause).message}`, {
      hint: `${continuing} It finds the webhook again.`,
      cause,
      details: { job: journal.state.plan.job, uid },
    });
  }
  await upload.onEvent({ event: 'registered', uid, destinationUrl, settled });
  const { chunks } = journal.state.plan;
  if (!settled) await upload.onEvent({ event: 'chunk-done', chunk: 1, addresses: addresses.length, done: 1, chunks });
}

/** Looks, a second apart, after which a POST of unknown outcome made no webhook; not timed, since a slow service lists slowly. Assumed. */
const maxLooks = 10;
const lookEveryMs = 1000;
const maxPosts = 5;

interface NewWebhook {
  uid: string;
  destinationUrl: string;
  secret: string | undefined;
  /** Found in the list, because the POST's answer was lost. */
  settled: boolean;
}

/**
 * Makes exactly one webhook: the intention is on disk before the POST, the list settles a POST of unknown outcome, and it is sent again
 * only where it surely made none. Errors: those of the call; `partial` where a webhook was made whose secret is lost.
 */
async function makeWebhook(upload: Upload, walletAddresses: string[]): Promise<NewWebhook> {
  const { context, journal } = upload;
  const destinationUrl = upload.destinationUrl ?? '';
  let failed: SotraError | undefined;
  let sent = 0;
  for (let posts = 0; ; posts += 1) {
    const lost = journal.state.posting;
    const unsettled = lost?.before ?? (posts === 0 ? upload.lostBefore : undefined);
    if (unsettled !== undefined) {
      await upload.onEvent({ event: 'settling', why: failed?.message ?? 'an earlier run ended before the answer' });
      const found = await settleWebhook(upload, unsettled);
      if (found !== undefined) return found;
    }
    if (failed !== undefined) {
      if (posts >= maxPosts || !mayRepeat(posts, sent, context)) throw failed;
      await pause(computeDelay(posts, failed, context), context);
    }
    // From before the first POST: a webhook of ours that shows late is not among them.
    let before = lost?.before;
    if (before === undefined || posts === 0) {
      const existing = await listWebhooksFor(destinationUrl, context);
      if (posts === 0 && !upload.another) refuseSecond(existing);
      before ??= existing.map(({ uid }) => uid);
    }
    await journal.write({ kind: 'posting', before });
    try {
      const { data } = await context.call(
        endpoints.register,
        { walletAddresses, destinationUrl },
        undefined,
        retriesLeft(sent, context),
      );
      if (typeof data?.uid !== 'string')
        throw new SotraError('contract', 'the service registered a webhook and did not say its uid', {
          hint: 'sotra webhook list shows it.',
        });
      // A recording has the mask in its place.
      const secret = data.secret === null || data.secret === hidden ? undefined : data.secret;
      // An answer that does not fit the contract may lack it.
      const made: string | undefined = data.destinationUrl;
      return { uid: data.uid, destinationUrl: made ?? destinationUrl, secret, settled: false };
    } catch (thrown) {
      if (!(thrown instanceof SotraError) || thrown.code === 'contract' || thrown.code === 'interrupted') throw thrown;
      if (thrown.outcome !== 'unknown' && lost === undefined) await journal.write({ kind: 'not-created' });
      if (thrown.outcome === undefined) throw thrown;
      failed = thrown;
      sent += thrown.attempts ?? 1;
    }
  }
}

function refuseSecond([existing]: endpoints.WebhookList): void {
  if (existing === undefined) return;
  throw new SotraError(
    'conflict',
    `webhook ${existing.uid} sends to ${hideUrlSecrets(existing.destinationUrl)} already`,
    { hint: 'sotra webhook sync sends it what is missing; --another makes a second one all the same.' },
  );
}

/** The webhooks of a destination. Errors: `contract` for no list: counted as none, it would make a second webhook. */
export async function listWebhooksFor(destinationUrl: string, context: Context): Promise<endpoints.WebhookList> {
  const { data } = await withRetries(context, (retries) => context.call(endpoints.list, {}, undefined, retries));
  return checkedList(data).filter((webhook) => sameDestination(webhook.destinationUrl, destinationUrl));
}

async function settleWebhook(upload: Upload, before: readonly string[]): Promise<NewWebhook | undefined> {
  const { context, others } = upload;
  for (let looks = 0; ; looks += 1) {
    const webhooks = await listWebhooksFor(upload.destinationUrl ?? '', context);
    const [found, other] = webhooks.filter(({ uid }) => !before.includes(uid) && !others.has(uid));
    if (found !== undefined && other !== undefined)
      throw new SotraError('conflict', `${found.uid} and ${other.uid} were both made for this destination meanwhile`, {
        hint: 'Delete the one that is not yours with sotra webhook delete, then run this again.',
      });
    if (found !== undefined) {
      const { uid, destinationUrl } = found;
      const secret = upload.keptSecret() ?? shownSecret(found);
      if (secret !== undefined) return { uid, destinationUrl, secret, settled: true };
      throw new SotraError('partial', `webhook ${uid} was made, but its secret was in an answer that got lost`, {
        hint: command`The service does not show it again: sotra webhook delete ${uid} --yes, then run this again.`,
      });
    }
    if (looks >= maxLooks) return undefined;
    await context.world.sleep(lookEveryMs, context.world.signal);
  }
}

export interface Chunk {
  index: number;
  addresses: string[];
}

/** Addresses in pieces of what one request may carry. */
export function* splitChunks(addresses: Iterable<string>): Generator<Chunk> {
  let chunk: Chunk = { index: 0, addresses: [] };
  for (const address of addresses) {
    if (chunk.addresses.push(address) < endpoints.chunkSize) continue;
    yield chunk;
    chunk = { index: chunk.index + 1, addresses: [] };
  }
  if (chunk.addresses.length > 0) yield chunk;
}

async function sendChunks(upload: Upload): Promise<void> {
  const { context, journal } = upload;
  const { state } = journal;
  const running = new Map<number, Promise<ChunkResult>>();
  const saving: Promise<void>[] = [];
  const chunks = splitChunks(upload.addresses);
  let failure: unknown;
  let done = state.done.size;
  const confirm = ({ chunk, addresses, sends }: SentChunk): Promise<void> =>
    journal.writeSoon({ kind: 'done', chunk, sends, addresses }).then(() => {
      done += 1;
      const told = { chunk: chunk + 1, addresses: addresses.length, done, chunks: state.plan.chunks };
      return upload.onEvent({ event: 'chunk-done', ...told });
    });
  for (let more = true; more || running.size > 0; ) {
    // Nothing until somebody stops the upload.
    failure ??= context.world.signal.reason;
    while (more && failure === undefined && running.size < upload.concurrency) {
      const next = chunks.next();
      if (next.done) more = false;
      else if (!state.done.has(next.value.index)) running.set(next.value.index, sendChunk(upload, next.value));
    }
    if (running.size === 0) break;
    const result = await Promise.race(running.values());
    running.delete(result.chunk);
    if ('error' in result) failure ??= result.error;
    // The next chunk need not wait for the disk.
    else {
      const saved = confirm(result);
      saved.catch((error: unknown) => {
        failure ??= error;
      });
      saving.push(saved);
    }
  }
  chunks.return(undefined);
  await Promise.all(saving);
  if (failure !== undefined) throw failure;
}

interface SentChunk {
  chunk: number;
  addresses: string[];
  sends: number;
}

type ChunkResult = SentChunk | { chunk: number; error: unknown };

async function sendChunk(upload: Upload, { index, addresses }: Chunk): Promise<ChunkResult> {
  const { context, journal } = upload;
  const { state } = journal;
  const input = { uid: state.uid ?? '', walletAddresses: addresses };
  let sends = 0;
  try {
    journal.append({ kind: 'sending', chunk: index });
    const answer = await withRetries(
      context,
      (retries) => context.call(endpoints.addAddresses, input, undefined, retries),
      (error, delayMs) => {
        sends += error.attempts ?? 1;
        return upload.onEvent({ event: 'chunk-retried', chunk: index + 1, why: error.message, delayMs });
      },
    );
    state.destinationUrl ??= answer.data?.destinationUrl;
    return { chunk: index, addresses, sends: sends + answer.attempts };
  } catch (error) {
    return { chunk: index, error };
  }
}

export const continuing = 'The same command continues; sotra webhook jobs shows it.';

/** The error of an upload that ended half-way, with what is confirmed. */
function asPartial(thrown: unknown, { context, journal }: Pick<Upload, 'context' | 'journal'>): unknown {
  const { plan, done, uid } = journal.state;
  if (context.world.signal.aborted)
    return new SotraError('interrupted', `interrupted with ${done.size} of ${plan.chunks} chunks confirmed`, {
      hint: continuing,
      cause: thrown,
    });
  if (thrown instanceof ClosedPipe) return thrown;
  const error = toSotraError(thrown);
  const hasStarted = plan.uid === null ? uid !== undefined : done.size > 0;
  if (error.code === 'internal' || error.code === 'partial' || !hasStarted) return error;
  return new SotraError('partial', `${done.size} of ${plan.chunks} chunks are confirmed, then: ${error.message}`, {
    hint: error.hint === undefined ? continuing : `${continuing} ${error.hint}`,
    cause: thrown,
    status: error.status,
    requestId: error.requestId,
    details: {
      job: plan.job,
      uid: uid ?? null,
      chunks: plan.chunks,
      confirmed: done.size,
      resentChunks: resentChunks(journal.state),
    },
  });
}
