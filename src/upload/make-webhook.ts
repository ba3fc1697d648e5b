import type { Webhook, WebhookList } from '../api/answers.ts';
import type { Endpoint, InputOf, Params } from '../api/endpoint.ts';
import { sameDestination } from '../api/http-address.ts';
import * as endpoints from '../api/webhook.ts';
import type { CallAnswer, RequestChange } from '../client/client.ts';
import { hidden, hideUrlSecrets } from '../client/secrets.ts';
import { command } from '../client/shell.ts';
import type { Context } from '../context.ts';
import { orUndefined, SotraError, toSotraError } from '../errors.ts';
import type { Progress } from '../lib/output/progress.ts';
import type { AddressInput, AddressList } from './read-addresses.ts';
import { type Destination, findSecret, keepSecret, saveState, setWebhook, type Upload } from './state.ts';

export interface UploadInput extends AddressInput, Destination {
  task: 'register' | 'add-addresses' | 'sync';
  showSecrets?: boolean | undefined;
  concurrency?: number | undefined;
  another?: boolean | undefined;
  again?: boolean | undefined;
  check?: boolean | undefined;
  exact?: boolean | undefined;
  replace?: boolean | undefined;
}

/** A command line, its list, and what this machine knows of the destination. */
export interface UploadRun {
  input: UploadInput;
  list: AddressList;
  upload: Upload;
  /** The webhooks of the destination, if the service was asked for them. */
  listed: WebhookList;
  /** How many addresses this run has sent and the webhook has confirmed. */
  sent: number;
  /** How long the destination had no webhook, if the old one had to be deleted first. */
  gapMs: number | null;
  progress: Progress;
  context: Context;
}

export const continuing = 'The same command continues; sotra webhook list shows it.';

/** Attempts after the first, of a call that may be made twice and of the POST that makes a webhook, unless `--retries` is given. */
const [callRetries, postRetries] = [7, 4];
/** After so many looks at the list, a second apart, a POST counts as failed; a count, since a slow service lists slowly. Assumed. */
const maxLooks = 10;
const lookEveryMs = 1000;

/** Whether a service that allows one webhook per URL may have refused a second one; other statuses prove nothing. */
export function isRefusal(thrown: unknown): boolean {
  return thrown instanceof SotraError && [400, 409, 422].includes(thrown.status ?? 0);
}

interface Made {
  uid: string;
  destinationUrl: string;
  secret: string | undefined;
  /** Found in the list, because the answer of the POST was lost; it may lack the addresses. */
  isFound: boolean;
}

/**
 * Makes the webhook of an upload, once: `sent` with its first addresses; `found`, perhaps without them, if the answer was lost; `twin` if another
 * machine's is used. Its secret is safe before its uid is. If the service refuses a second webhook beside the one to be replaced, that
 * goes first. Errors: those of the call; `partial`.
 */
export async function makeWebhook(run: UploadRun, walletAddresses: string[]): Promise<'sent' | 'found' | 'twin'> {
  const { upload, context, input } = run;
  const { state } = upload;
  const post = state.replaces === null ? postOnce : postReplacement;
  const { uid, secret, isFound, destinationUrl } = await post(run, walletAddresses);
  const { posting, gapFromMs } = state;
  if (secret !== undefined) keepSecret(upload, uid, secret);
  if (gapFromMs !== null) run.gapMs = context.io.now() - gapFromMs;
  setWebhook(upload, uid, { destinationUrl: hideUrlSecrets(destinationUrl), posting: null, gapFromMs: null });
  if (input.task === 'sync' && (await yieldToTwin(run, posting?.before ?? []))) return 'twin';
  return isFound ? 'found' : 'sent';
}

async function postReplacement(run: UploadRun, walletAddresses: string[]): Promise<Made> {
  const { upload, context } = run;
  const { state } = upload;
  const uid = state.replaces ?? '';
  if (state.gapFromMs === null)
    try {
      return await postOnce(run, walletAddresses);
    } catch (thrown) {
      if (!isRefusal(thrown)) throw thrown;
      // If the old webhook accepts these addresses, the service refused the second webhook. Otherwise this throws, and the old one stays.
      await callSafely(context, endpoints.addAddresses, { uid, walletAddresses });
      saveState(upload, { gapFromMs: context.io.now() });
    }
  try {
    await deleteWebhook(uid, context);
    return await postOnce(run, walletAddresses);
  } catch (cause) {
    if (context.io.signal.aborted) throw cause;
    const { message, hint } = toSotraError(cause);
    throw new SotraError(
      'partial',
      `webhook ${uid} had to be deleted first, and the new one is not registered yet: ${message}`,
      { hint: hint === undefined ? continuing : `${continuing} ${hint}`, cause },
    );
  }
}

/**
 * Makes exactly one webhook: the intention is on disk before the POST, the list settles a POST of unknown outcome, and it is sent again
 * only if it surely made none. Errors: those of the call; `conflict`; `partial` for a webhook whose secret is lost.
 */
async function postOnce(run: UploadRun, walletAddresses: string[]): Promise<Made> {
  const { upload, context, input, progress } = run;
  const { destinationUrl = '' } = input;
  const { retries = postRetries } = context.options;
  let failure: SotraError | undefined;
  for (let attempts = 0; ; ) {
    const lost = upload.state.posting;
    if (lost !== null) {
      const why = failure?.message ?? 'an earlier run ended before the answer';
      progress.step(`checking the list for 10 s for the webhook: ${why}`);
      const found = await findMade(run, lost.before);
      if (found !== undefined) return found;
    } else {
      // Of a sync, as it was at the start: one that came since is a twin.
      const existing = input.task === 'sync' ? run.listed : await listWebhooks(context, { destinationUrl });
      if (input.task === 'register' && !input.another) refuseSecond(existing);
      saveState(upload, { posting: { before: existing.map(({ uid }) => uid) } });
    }
    if (failure !== undefined && attempts > retries) throw failure;
    try {
      return await post({ walletAddresses, destinationUrl }, context, retries - attempts);
    } catch (thrown) {
      failure = toSotraError(thrown);
      const { outcome, code } = failure;
      // What was there before a POST of unknown outcome stays noted: its webhook may show late.
      if (outcome !== 'unknown' && code !== 'contract' && lost === null) saveState(upload, { posting: null });
      attempts += failure.attempts ?? 1;
      Object.assign(failure, { attempts });
      if (outcome !== 'unknown' || code === 'interrupted') throw failure;
    }
  }
}

async function post(
  input: { walletAddresses: string[]; destinationUrl: string },
  { client }: Context,
  retries: number,
): Promise<Made> {
  const { data } = await client.call(endpoints.register, input, { retries });
  if (!isText(data?.uid))
    throw new SotraError('contract', 'the service registered a webhook and did not return its uid', {
      hint: 'sotra webhook list shows it.',
    });
  const secret = data.secret === null || data.secret === hidden ? undefined : data.secret;
  // An answer that does not fit the contract may lack the destination.
  return { uid: data.uid, destinationUrl: data.destinationUrl ?? input.destinationUrl, secret, isFound: false };
}

/** Errors: `conflict` if a destination has a webhook. */
export function refuseSecond([existing]: WebhookList): void {
  if (existing === undefined) return;
  throw new SotraError(
    'conflict',
    `webhook ${existing.uid} already sends to ${hideUrlSecrets(existing.destinationUrl)}`,
    { hint: 'sotra webhook sync sends it the missing addresses; --another registers a second one anyway.' },
  );
}

/** The answer of a call that may be made twice. Errors: the last one. */
export function callSafely<P extends Params, Answer>(
  { client, options }: Context,
  endpoint: Endpoint<string, P, Answer>,
  input: InputOf<P>,
  change?: RequestChange,
): Promise<CallAnswer<Answer>> {
  return client.call(endpoint, input, { ...change, retries: options.retries ?? callRetries });
}

interface ListOptions {
  destinationUrl?: string | undefined;
  /** A known webhook, listed whatever its destination: a service may write that in another form. */
  uid?: string | null;
  /** Which webhook is expected; default: the known one. */
  isExpected?: ((uid: string) => boolean) | undefined;
}

/**
 * All webhooks, or those of a destination. A list may lag behind: it is read until the expected one is in it, eleven times at most.
 * Errors: `contract` for another shape: counted as none, it would make a second webhook.
 */
export async function listWebhooks(
  context: Context,
  { destinationUrl, uid, isExpected = uid ? (each) => each === uid : undefined }: ListOptions = {},
): Promise<WebhookList> {
  for (let looks = 0; ; looks += 1) {
    const { data } = await callSafely(context, endpoints.list, {});
    const isList = Array.isArray(data) && data.every((each) => isText(each?.uid) && isText(each.destinationUrl));
    if (!isList)
      throw new SotraError('contract', 'the service answered with something other than a list of webhooks', {
        hint: 'See the raw answer: sotra request GET /v1/webhooks/feed',
      });
    const isWanted = (each: Webhook) => !destinationUrl || sameDestination(each.destinationUrl, destinationUrl);
    const listed = data.filter((each) => each.uid === uid || isWanted(each));
    if (!isExpected || looks === maxLooks || listed.some((each) => isExpected(each.uid))) return listed;
    if (uid) context.client.onWait({ kind: 'wait', ms: lookEveryMs, why: `webhook ${uid} is not in the list` });
    await context.io.sleep(lookEveryMs, context.io.signal);
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

/** The webhook that a POST made whose answer was lost. Errors: `conflict` if it may be one of two, `partial` if its secret is lost. */
async function findMade({ upload, input, context }: UploadRun, before: readonly string[]): Promise<Made | undefined> {
  const isNew = (uid: string) => !before.includes(uid);
  const listed = await listWebhooks(context, { destinationUrl: input.destinationUrl, isExpected: isNew });
  const [found, other] = listed.filter(({ uid }) => isNew(uid));
  if (found === undefined) return undefined;
  const { uid, destinationUrl } = found;
  if (other !== undefined)
    throw new SotraError(
      'conflict',
      `${uid} and ${other.uid} were both registered for this destination in the meantime`,
      { hint: 'Delete the one that is not yours with sotra webhook delete, then run this again.' },
    );
  const secret = findSecret(uid, [upload], listed);
  if (secret !== undefined) return { uid, destinationUrl, secret, isFound: true };
  throw new SotraError('partial', `webhook ${uid} was registered, but its secret was in an answer that was lost`, {
    hint: command`The service does not show it again: sotra webhook delete ${uid} --yes, then run this again.`,
    details: { uid },
  });
}

/**
 * Deletes the webhook just made and uses the one that another machine made for the destination meanwhile; gives whether there is one. Of two
 * that see each other at once the one with the smaller uid stays. Errors: those of the calls.
 */
async function yieldToTwin({ upload, input, context }: UploadRun, before: readonly string[]): Promise<boolean> {
  const own = upload.state.uid ?? '';
  for (let looks = 0; ; looks += 1) {
    const listed = await listWebhooks(context, { destinationUrl: input.destinationUrl, uid: own });
    const uids = listed.map(({ uid }) => uid);
    const [twin] = uids.filter((uid) => uid !== own && !before.includes(uid)).sort();
    if (twin === undefined) {
      if (!uids.includes(own)) context.warn(`webhook ${own} is not listed yet: a sync before it is registers another`);
      return false;
    }
    if (twin < own || looks >= maxLooks) {
      context.warn(`another machine registered webhook ${twin} for this destination: using it, and deleting ${own}`);
      await deleteWebhook(own, context);
      const secret = findSecret(twin, [], listed);
      if (secret !== undefined) keepSecret(upload, twin, secret);
      setWebhook(upload, twin);
      return true;
    }
    // The other machine gives way if it is still looking.
    await context.io.sleep(lookEveryMs, context.io.signal);
  }
}

/** Deletes a webhook, also one that is gone already. Errors: those of the call. */
export async function deleteWebhook(uid: string, context: Context): Promise<void> {
  await orUndefined(callSafely(context, endpoints.remove, { uid }), 'not-found');
}
