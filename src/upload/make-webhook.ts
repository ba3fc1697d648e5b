import { sameDestination } from '../api/http-address.ts';
import * as endpoints from '../api/webhook.ts';
import type { WebhookList } from '../api/webhook-answers.ts';
import { hidden } from '../client/hide-key.ts';
import { hideUrlSecrets } from '../client/secrets.ts';
import { command } from '../client/shell.ts';
import type { Context } from '../context.ts';
import { SotraError, toSotraError } from '../errors.ts';
import { checkedList, dropSecret, findSecret, keepSecret } from './secrets.ts';
import { saveState, setWebhook } from './state.ts';
import { continuing, type UploadRun } from './upload-run.ts';
import { callWithRetries, computeDelay, hasTriesLeft, pauseUpload, retriesLeft } from './with-retries.ts';

interface Made {
  uid: string;
  destinationUrl: string;
  secret: string | undefined;
  /** Found in the list, because the answer of the POST was lost; it may lack the addresses. */
  settled: boolean;
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
  const made = await (state.replaces === null ? postOnce : postReplacement)(run, walletAddresses);
  const { uid, secret, settled } = made;
  const destinationUrl = hideUrlSecrets(made.destinationUrl);
  try {
    if (secret !== undefined) keepSecret(upload, uid, secret);
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
  await show.event({ event: 'registered', uid, destinationUrl: made.destinationUrl, settled });
  if (state.posting !== null && (await yieldToTwin(run))) return 'twin';
  return settled ? 'found' : 'sent';
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
      await callWithRetries(context, endpoints.addAddresses, { uid, walletAddresses });
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
      {
        hint: hint === undefined ? continuing : `${continuing} ${hint}`,
        cause,
      },
    );
  }
}

/** Looks, a second apart, after which a POST of unknown outcome made no webhook; not timed, since a slow service lists slowly. Assumed. */
const maxLooks = 10;
const lookEveryMs = 1000;
const maxPosts = 5;

/**
 * Makes exactly one webhook: the intention is on disk before the POST, the list settles a POST of unknown outcome, and it is sent again
 * only if it surely made none. Errors: those of the call; `conflict`; `partial` for a webhook whose secret is lost.
 */
async function postOnce(run: UploadRun, walletAddresses: string[]): Promise<Made> {
  const { upload, context, input } = run;
  const { destinationUrl = '' } = input;
  let failed: SotraError | undefined;
  let sent = 0;
  for (let posts = 0; ; posts += 1) {
    const lost = upload.state.posting;
    if (lost !== null) {
      const why = failed?.message ?? 'an earlier run ended before the answer';
      await run.show.event({ event: 'settling', why });
      const found = await findMade(run, lost.before);
      if (found !== undefined) return found;
    }
    if (failed !== undefined) {
      if (posts >= maxPosts || !hasTriesLeft(posts, sent, context)) throw failed;
      await pauseUpload(computeDelay(posts, failed, context), context);
    }
    if (lost === null || posts === 0) {
      const existing = await listWebhooksFor(destinationUrl, context);
      if (posts === 0 && input.task === 'register' && !input.another) refuseSecond(existing);
      // From before the first POST: a webhook of ours that shows late is not among them.
      saveState(upload, { posting: lost ?? { before: existing.map(({ uid }) => uid) } });
    }
    try {
      const { data } = await context.client.call(
        endpoints.register,
        { walletAddresses, destinationUrl },
        undefined,
        retriesLeft(sent, context),
      );
      if (typeof data?.uid !== 'string')
        throw new SotraError('contract', 'the service registered a webhook and did not say its uid', {
          hint: 'sotra webhook list shows it.',
        });
      const secret = data.secret === null || data.secret === hidden ? undefined : data.secret;
      // An answer that does not fit the contract may lack it.
      const made: string | undefined = data.destinationUrl;
      return { uid: data.uid, destinationUrl: made ?? destinationUrl, secret, settled: false };
    } catch (thrown) {
      if (!(thrown instanceof SotraError) || thrown.code === 'contract' || thrown.code === 'interrupted') throw thrown;
      if (thrown.outcome !== 'unknown' && lost === null) saveState(upload, { posting: null });
      if (thrown.outcome === undefined) throw thrown;
      sent += thrown.attempts ?? 1;
      failed = Object.assign(thrown, { attempts: sent });
    }
  }
}

/** Errors: `conflict` if a destination has a webhook. */
export function refuseSecond([existing]: WebhookList): void {
  if (existing === undefined) return;
  throw new SotraError(
    'conflict',
    `webhook ${existing.uid} sends to ${hideUrlSecrets(existing.destinationUrl)} already`,
    { hint: 'sotra webhook sync sends it the missing addresses; --another registers a second one anyway.' },
  );
}

/** The webhooks of a destination. Errors: `contract` for no list: counted as none, it would make a second webhook. */
export async function listWebhooksFor(destinationUrl: string, context: Context): Promise<WebhookList> {
  const { data } = await callWithRetries(context, endpoints.list, {});
  return checkedList(data).filter((webhook) => sameDestination(webhook.destinationUrl, destinationUrl));
}

/** The webhook that a POST made whose answer was lost. Errors: `conflict` if it may be one of two, `partial` if its secret is lost. */
async function findMade({ upload, input, context }: UploadRun, before: readonly string[]): Promise<Made | undefined> {
  for (let looks = 0; ; looks += 1) {
    const webhooks = await listWebhooksFor(input.destinationUrl ?? '', context);
    const [found, other] = webhooks.filter(({ uid }) => !before.includes(uid));
    if (found !== undefined && other !== undefined)
      throw new SotraError('conflict', `${found.uid} and ${other.uid} were both made for this destination meanwhile`, {
        hint: 'Delete the one that is not yours with sotra webhook delete, then run this again.',
      });
    if (found !== undefined) {
      const { uid, destinationUrl } = found;
      const secret = findSecret(uid, [upload], webhooks);
      if (secret !== undefined) return { uid, destinationUrl, secret, settled: true };
      throw new SotraError('partial', `webhook ${uid} was made, but its secret was in an answer that got lost`, {
        hint: command`The service does not show it again: sotra webhook delete ${uid} --yes, then run this again.`,
        details: { uid },
      });
    }
    if (looks >= maxLooks) return undefined;
    await context.io.sleep(lookEveryMs, context.io.signal);
  }
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
    const twins = listed.map(({ uid }) => uid).filter((uid) => !known.includes(uid));
    const [twin] = twins.sort();
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
  try {
    await callWithRetries(context, endpoints.remove, { uid });
  } catch (thrown) {
    if (!(thrown instanceof SotraError) || thrown.code !== 'not-found') throw thrown;
  }
}
