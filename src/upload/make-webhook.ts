import { sameDestination } from '../api/http-address.ts';
import * as endpoints from '../api/webhook.ts';
import type { WebhookList } from '../api/webhook-answers.ts';
import { hidden, hideUrlSecrets } from '../client/secrets.ts';
import { command } from '../client/shell.ts';
import type { Context } from '../context.ts';
import { orUndefined, SotraError, toSotraError } from '../errors.ts';
import { callRepeatedly, repeatCall } from './repeat-call.ts';
import { checkedList, dropSecret, findSecret, keepSecret } from './secrets.ts';
import { saveState, setWebhook } from './state.ts';
import { continuing, type UploadRun } from './upload-run.ts';

interface Made {
  uid: string;
  destinationUrl: string;
  secret: string | undefined;
  /** Found in the list, because the answer of the POST was lost; it may lack the addresses. */
  isFound: boolean;
}

/** Statuses of a service that allows one webhook for a URL; other statuses prove nothing. */
const refusals = [400, 409, 422];

/**
 * Makes the webhook of an upload, once: `sent` with its first addresses; `found`, perhaps without them, if the answer was lost; `twin` if another
 * machine's is used. Its secret is safe before its uid is. If the service refuses a second webhook beside the one to be replaced, that
 * goes first. Errors: those of the call; `partial`.
 */
export async function makeWebhook(run: UploadRun, walletAddresses: string[]): Promise<'sent' | 'found' | 'twin'> {
  const { upload, context, show, input } = run;
  const { state } = upload;
  const { uid, secret, isFound, ...made } = await (state.replaces === null ? postOnce : postReplacement)(
    run,
    walletAddresses,
  );
  try {
    if (secret !== undefined) keepSecret(upload, uid, secret);
    const destinationUrl = hideUrlSecrets(made.destinationUrl);
    const gap = state.gap && { ...state.gap, toMs: context.io.now() };
    // A sync looks for a twin yet, which `posting` tells from the webhooks before it.
    setWebhook(upload, uid, { destinationUrl, gap, posting: input.task === 'sync' ? state.posting : null });
  } catch (cause) {
    throw new SotraError(
      'partial',
      `webhook ${uid} was made, but its secret cannot be kept: ${toSotraError(cause).message}`,
      {
        hint: `${continuing} It finds the webhook in the list of the service, and its secret if the service shows it.`,
        cause,
        details: { uid },
      },
    );
  }
  show.done(`webhook ${uid} ${isFound ? 'found in the list' : 'registered'}`);
  if (state.posting !== null && (await yieldToTwin(run))) return 'twin';
  return isFound ? 'found' : 'sent';
}

async function postReplacement(run: UploadRun, walletAddresses: string[]): Promise<Made> {
  const { upload, context } = run;
  const { state } = upload;
  const uid = state.replaces ?? '';
  if (state.gap === null)
    try {
      return await postOnce(run, walletAddresses);
    } catch (thrown) {
      if (!(thrown instanceof SotraError) || !refusals.includes(thrown.status ?? 0)) throw thrown;
      // If the old webhook accepts these addresses, the service refused the second webhook. Otherwise this throws, and the old one stays.
      await callRepeatedly(context, endpoints.addAddresses, { uid, walletAddresses });
      saveState(upload, { gap: { fromMs: context.io.now(), toMs: null } });
    }
  try {
    await deleteWebhook(uid, context);
    return await postOnce(run, walletAddresses);
  } catch (cause) {
    if (context.io.signal.aborted) throw cause;
    const { message, hint } = toSotraError(cause);
    throw new SotraError(
      'partial',
      `webhook ${uid} had to be deleted first, and the new one is not made yet: ${message}`,
      { hint: hint === undefined ? continuing : `${continuing} ${hint}`, cause },
    );
  }
}

const maxPosts = 5;
/** Looks, a second apart, after which a POST of unknown outcome made no webhook; not timed, since a slow service lists slowly. Assumed. */
const maxLooks = 10;
const lookEveryMs = 1000;

/**
 * Makes exactly one webhook: the intention is on disk before the POST, the list settles a POST of unknown outcome, and it is sent again
 * only if it surely made none. Errors: those of the call; `conflict`; `partial` for a webhook whose secret is lost.
 */
async function postOnce(run: UploadRun, walletAddresses: string[]): Promise<Made> {
  const { upload, context, input, show } = run;
  const { destinationUrl = '' } = input;
  const { state } = upload;
  let lost = state.posting;
  let why = 'an earlier run ended before the answer';
  const settle = async (): Promise<Made | undefined> => {
    lost = state.posting;
    if (lost !== null) {
      show.step(`looking in the list for 10 s whether the webhook was made: ${why}`);
      return findMade(run, lost.before);
    }
    const existing = await listWebhooksFor(destinationUrl, context);
    if (input.task === 'register' && !input.another) refuseSecond(existing);
    saveState(upload, { posting: { before: existing.map(({ uid }) => uid) } });
    return undefined;
  };
  const send = async (retries: number | undefined): Promise<Made> => {
    try {
      return await post({ walletAddresses, destinationUrl }, context, retries);
    } catch (thrown) {
      const { code, outcome, message } = toSotraError(thrown);
      const mayBeMade = outcome === 'unknown' || code === 'contract' || code === 'interrupted';
      // What was there before a POST of unknown outcome stays noted: its webhook may show late.
      if (!mayBeMade && lost === null) saveState(upload, { posting: null });
      why = message;
      throw thrown;
    }
  };
  return repeatCall(context, send, { maxCalls: maxPosts, settle });
}

async function post(
  input: { walletAddresses: string[]; destinationUrl: string },
  { client }: Context,
  retries: number | undefined,
): Promise<Made> {
  const { data } = await client.call(endpoints.register, input, { retries });
  if (typeof data?.uid !== 'string')
    throw new SotraError('contract', 'the service registered a webhook and did not say its uid', {
      hint: 'sotra webhook list shows it.',
    });
  // An answer that does not fit the contract may lack it.
  const made: string | undefined = data.destinationUrl;
  const secret = data.secret === null || data.secret === hidden ? undefined : data.secret;
  return { uid: data.uid, destinationUrl: made ?? input.destinationUrl, secret, isFound: false };
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

/** All webhooks. Errors: `contract` for no list: counted as none, it would make a second webhook. */
export async function listWebhooks(context: Context): Promise<WebhookList> {
  return checkedList((await callRepeatedly(context, endpoints.list, {})).data);
}

/** The webhooks of a destination. Errors: as in `listWebhooks`. */
export async function listWebhooksFor(destinationUrl: string, context: Context): Promise<WebhookList> {
  const all = await listWebhooks(context);
  return all.filter((webhook) => sameDestination(webhook.destinationUrl, destinationUrl));
}

/** The webhook that a POST made whose answer was lost. Errors: `conflict` if it may be one of two, `partial` if its secret is lost. */
async function findMade({ upload, input, context }: UploadRun, before: readonly string[]): Promise<Made | undefined> {
  for (let looks = 0; looks <= maxLooks; looks += 1) {
    if (looks > 0) await context.io.sleep(lookEveryMs, context.io.signal);
    const webhooks = await listWebhooksFor(input.destinationUrl ?? '', context);
    const [found, other] = webhooks.filter(({ uid }) => !before.includes(uid));
    if (found === undefined) continue;
    const { uid, destinationUrl } = found;
    if (other !== undefined)
      throw new SotraError('conflict', `${uid} and ${other.uid} were both made for this destination meanwhile`, {
        hint: 'Delete the one that is not yours with sotra webhook delete, then run this again.',
      });
    const secret = findSecret(uid, [upload], webhooks);
    if (secret !== undefined) return { uid, destinationUrl, secret, isFound: true };
    throw new SotraError('partial', `webhook ${uid} was made, but its secret was in an answer that got lost`, {
      hint: command`The service does not show it again: sotra webhook delete ${uid} --yes, then run this again.`,
      details: { uid },
    });
  }
  return undefined;
}

/**
 * Deletes the webhook just made and uses the one that another machine made for the destination meanwhile; gives whether there is one. Of two
 * that see each other at once the one with the smaller uid stays. Errors: those of the calls.
 */
export async function yieldToTwin({ upload, input, context }: UploadRun): Promise<boolean> {
  const own = upload.state.uid ?? '';
  const known = [own, ...(upload.state.posting?.before ?? [])];
  for (let looks = 0; ; looks += 1) {
    const listed = await listWebhooksFor(input.destinationUrl ?? '', context);
    const [twin] = listed.flatMap(({ uid }) => (known.includes(uid) ? [] : [uid])).sort();
    if (twin === undefined) {
      saveState(upload, { posting: null });
      return false;
    }
    if (twin < own || looks >= maxLooks) {
      context.warn(`another machine registered webhook ${twin} for this destination: using it, and deleting ${own}`);
      await deleteWebhook(own, context);
      dropSecret(upload, own);
      const secret = findSecret(twin, [], listed);
      if (secret !== undefined) keepSecret(upload, twin, secret);
      setWebhook(upload, twin, { posting: null });
      return true;
    }
    // The other machine gives way if it is still looking.
    await context.io.sleep(lookEveryMs, context.io.signal);
  }
}

/** Deletes a webhook, also one that is gone already. Errors: those of the call. */
export async function deleteWebhook(uid: string, context: Context): Promise<void> {
  await orUndefined(callRepeatedly(context, endpoints.remove, { uid }), 'not-found');
}
