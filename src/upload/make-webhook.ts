import { sameDestination } from '../api/http-address.ts';
import * as endpoints from '../api/webhook.ts';
import type { Webhook, WebhookList } from '../api/webhook-answers.ts';
import { command } from '../client/shell.ts';
import { hidden, hideUrlSecrets } from '../client/url-secrets.ts';
import type { Context } from '../context.ts';
import { countAttempts, readMessage, SotraError, toSotraError } from '../errors.ts';
import { isSameDestination } from './jobs.ts';
import type { Job, Journal } from './journal.ts';
import {
  addSecret,
  checkedList,
  checkRoomForSecret,
  keptSecret,
  keptSecretFile,
  replaceKeptSecret,
  shownSecret,
} from './secrets.ts';
import { callWithRetries, computeDelay, hasTriesLeft, pauseUpload, retriesLeft } from './with-retries.ts';

/** What happens during an upload, for its display and for `--format ndjson`. */
export type UploadEvent =
  | { event: 'settling'; why: string }
  | { event: 'registered'; uid: string; destinationUrl: string; settled: boolean }
  | { event: 'chunk-retried'; chunk: number; why: string; delayMs: number }
  | { event: 'chunk-done'; chunk: number; addresses: number; done: number; chunks: number };

export interface Upload {
  context: Context;
  /** Closed at the end. */
  journal: Journal;
  addresses: Iterable<string>;
  concurrency?: number | undefined;
  /** With what is secret in it; absent where the webhook is there already. */
  destinationUrl?: string | undefined;
  /** Makes a webhook also where the destination has one. */
  another?: boolean | undefined;
  secretFile?: string | undefined;
  /** The other uploads of this machine with this key. */
  others: readonly Job[];
  onEvent: (event: UploadEvent) => Promise<void>;
}

/** The upload whose webhook is to be made, with its first chunk. */
type Registration = Upload & { destinationUrl: string; walletAddresses: string[] };

export interface NewWebhook {
  uid: string;
  destinationUrl: string;
  secret: string | undefined;
  /** Found in the list, because the POST's answer was lost; it may lack the addresses. */
  settled: boolean;
}

export const continuing = 'The same command continues; sotra webhook list shows it.';

/** Statuses of a service that allows one webhook a destination; of others nothing can be concluded. */
const refusals = [400, 409, 422];

/**
 * Makes the webhook of a job. Where the service refuses a second one beside the one to be replaced, that goes first. Errors: as in
 * `registerWebhook`; `partial` once the old one is gone.
 */
export async function makeWebhook(registration: Registration): Promise<NewWebhook> {
  const { context, journal, walletAddresses } = registration;
  const { replaces } = journal.state.plan;
  if (replaces === undefined) return registerWebhook(registration);
  if (journal.state.gap === undefined)
    try {
      return await registerWebhook(registration);
    } catch (thrown) {
      if (!(thrown instanceof SotraError) || !refusals.includes(thrown.status ?? 0)) throw thrown;
      // The old webhook takes the same addresses: what is refused is the second webhook. Otherwise this throws, and the old one stays.
      await callWithRetries(context, endpoints.addAddresses, { uid: replaces, walletAddresses });
      await journal.write({ kind: 'deleting', atMs: context.io.now() });
    }
  try {
    await deleteWebhook(replaces, context);
    return await registerWebhook(registration);
  } catch (cause) {
    if (journal.state.uid !== undefined || context.io.signal.aborted) throw cause;
    const { message, hint } = toSotraError(cause);
    const missing = `webhook ${replaces} had to be deleted first, and the new one is not made yet: ${message}`;
    throw new SotraError('partial', missing, {
      hint: hint === undefined ? continuing : `${continuing} ${hint}`,
      cause,
    });
  }
}

/** Makes a webhook, its secret safe before its uid is recorded. Errors: those of the call; `partial`. */
async function registerWebhook(registration: Registration): Promise<NewWebhook> {
  const { journal, context, walletAddresses: addresses } = registration;
  checkRoomForSecret(journal);
  const made = await postOnce(registration);
  const before = new Set(journal.state.posting?.before);
  const { uid, secret, settled } = made;
  const destinationUrl = hideUrlSecrets(made.destinationUrl);
  const atMs = context.io.now();
  try {
    if (secret !== undefined && keptSecret(journal) !== secret) replaceKeptSecret(journal, secret);
    await journal.write({ kind: 'registered', uid, destinationUrl, settled, ...(!settled && { addresses }), atMs });
    const used = (await yieldToTwin(registration, uid, before)) ?? made;
    if (used.secret !== undefined) addToFile(used.secret, used.uid, registration);
    return used;
  } catch (cause) {
    throw new SotraError('partial', `webhook ${uid} was made, then: ${toSotraError(cause).message}`, {
      hint: `${continuing} It finds the webhook again.`,
      cause,
      details: { job: journal.state.plan.job, uid },
    });
  }
}

/**
 * The webhook that another machine made for the destination since `before`: a sync uses it and deletes its own. Of two that see each other at once
 * the one with the smaller uid stays. Errors: those of the calls.
 */
async function yieldToTwin(
  { context, journal, destinationUrl }: Registration,
  own: string,
  before: ReadonlySet<string>,
): Promise<NewWebhook | undefined> {
  if (journal.state.plan.task !== 'sync') return undefined;
  for (let looks = 0; ; looks += 1) {
    const listed = await listWebhooksFor(destinationUrl, context);
    const twins = listed.filter(({ uid }) => uid !== own && !before.has(uid));
    const [twin] = twins.sort((one, other) => (one.uid < other.uid ? -1 : 1));
    if (twin === undefined) return undefined;
    if (twin.uid < own || looks >= maxLooks) return takeTwin(twin);
    // The other machine gives way if it is still looking.
    await context.io.sleep(lookEveryMs, context.io.signal);
  }

  async function takeTwin(twin: Webhook): Promise<NewWebhook> {
    const { uid } = twin;
    context.warn(`another machine registered webhook ${uid} for this destination: using it, and deleting ${own}`);
    await deleteWebhook(own, context);
    const secret = shownSecret(twin);
    replaceKeptSecret(journal, secret);
    const registered = { uid, destinationUrl: hideUrlSecrets(twin.destinationUrl), settled: true };
    await journal.write({ kind: 'registered', ...registered, inPlaceOf: own, atMs: context.io.now() });
    return { uid, destinationUrl: twin.destinationUrl, secret, settled: true };
  }
}

function addToFile(secret: string, uid: string, { secretFile, journal, context }: Registration): void {
  try {
    if (secretFile !== undefined) addSecret(secretFile, secret);
  } catch (error) {
    const where = `the secret of webhook ${uid} is in ${keptSecretFile(journal)} for now`;
    context.warn(`--secret-file ${secretFile}: cannot be written: ${readMessage(error)}; ${where}`);
  }
}

/** Looks, a second apart, after which a POST of unknown outcome made no webhook; not timed, since a slow service lists slowly. Assumed. */
const maxLooks = 10;
const lookEveryMs = 1000;
const maxPosts = 5;

/**
 * Makes exactly one webhook: the intention is on disk before the POST, the list settles a POST of unknown outcome, and it is sent again
 * only where it surely made none. Errors: those of the call; `partial` where a webhook was made whose secret is lost.
 */
async function postOnce(registration: Registration): Promise<NewWebhook> {
  const { context, journal, destinationUrl, walletAddresses } = registration;
  const other = findLost(registration);
  let failed: SotraError | undefined;
  let sent = 0;
  for (let posts = 0; ; posts += 1) {
    const lost = journal.state.posting;
    const unsettled = lost?.before ?? (posts === 0 ? other?.state.posting?.before : undefined);
    if (unsettled !== undefined) {
      const why = failed?.message ?? 'an earlier run ended before the answer';
      await registration.onEvent({ event: 'settling', why });
      const found = await findMade(registration, unsettled);
      if (found !== undefined) return found;
    }
    if (failed !== undefined) {
      if (posts >= maxPosts || !hasTriesLeft(posts, sent, context)) throw failed;
      await pauseUpload(computeDelay(posts, failed, context), context);
    }
    // From before the first POST: a webhook of ours that shows late is not among them.
    let before = lost?.before;
    if (before === undefined || posts === 0) {
      const existing = await listWebhooksFor(destinationUrl, context);
      if (posts === 0 && !registration.another) refuseSecond(existing);
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
      sent += thrown.attempts ?? 1;
      failed = countAttempts(thrown, sent);
    }
  }
}

function refuseSecond([existing]: WebhookList): void {
  if (existing === undefined) return;
  throw new SotraError(
    'conflict',
    `webhook ${existing.uid} sends to ${hideUrlSecrets(existing.destinationUrl)} already`,
    { hint: 'sotra webhook sync sends it what is missing; --another makes a second one all the same.' },
  );
}

/** The webhooks of a destination. Errors: `contract` for no list: counted as none, it would make a second webhook. */
export async function listWebhooksFor(destinationUrl: string, context: Context): Promise<WebhookList> {
  const { data } = await callWithRetries(context, endpoints.list, {});
  return checkedList(data).filter((webhook) => sameDestination(webhook.destinationUrl, destinationUrl));
}

/** Another upload to this destination that lost the answer of its POST. */
function findLost({ others, destinationUrl }: Registration): Job | undefined {
  return others.find(
    ({ state }) => state.posting !== undefined && isSameDestination(state.plan.destinationUrl, destinationUrl),
  );
}

/** The webhook that a POST made whose answer was lost. Errors: `conflict` where it may be one of two, `partial` where its secret is lost. */
async function findMade(registration: Registration, before: readonly string[]): Promise<NewWebhook | undefined> {
  const { context, journal, others, destinationUrl } = registration;
  const known = new Set([...before, ...others.flatMap(({ state }) => state.registered ?? [])]);
  for (let looks = 0; ; looks += 1) {
    const webhooks = await listWebhooksFor(destinationUrl, context);
    const [found, other] = webhooks.filter(({ uid }) => !known.has(uid));
    if (found !== undefined && other !== undefined)
      throw new SotraError('conflict', `${found.uid} and ${other.uid} were both made for this destination meanwhile`, {
        hint: 'Delete the one that is not yours with sotra webhook delete, then run this again.',
      });
    if (found !== undefined) {
      const { uid } = found;
      const lost = findLost(registration);
      const secret = keptSecret(journal) ?? (lost && keptSecret(lost)) ?? shownSecret(found);
      if (secret !== undefined) return { uid, destinationUrl: found.destinationUrl, secret, settled: true };
      throw new SotraError('partial', `webhook ${uid} was made, but its secret was in an answer that got lost`, {
        hint: command`The service does not show it again: sotra webhook delete ${uid} --yes, then run this again.`,
      });
    }
    if (looks >= maxLooks) return undefined;
    await context.io.sleep(lookEveryMs, context.io.signal);
  }
}

/** Deletes a webhook, also one that is gone already. Errors: those of the call. */
export async function deleteWebhook(uid: string, context: Context): Promise<void> {
  try {
    await callWithRetries(context, endpoints.remove, { uid });
  } catch (thrown) {
    if (!(thrown instanceof SotraError) || thrown.code !== 'not-found') throw thrown;
  }
}
