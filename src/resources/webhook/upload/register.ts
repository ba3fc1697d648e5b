import type { Context } from '../../../context.ts';
import { SotraError } from '../../../errors.ts';
import { sameDestination } from '../../../model/http-address.ts';
import * as endpoints from '../endpoints.ts';
import { listed, shownSecret } from '../listed.ts';
import type { Journal } from './journal.ts';
import { type Patience, patiently } from './patience.ts';

/**
 * Looks, a second apart, after which a POST of unknown outcome made no webhook. Counted and not timed: the clock may be set meanwhile, and
 * a service that is slow to answer is slow to list. Assumed: the interface says nothing.
 */
const maxLooks = 10;
const lookEveryMs = 1000;
const maxPosts = 5;

/** The webhook a job made, and its secret where the service told one. */
export interface Registered {
  uid: string;
  destinationUrl: string;
  secret: string | undefined;
  /** Found in the list, because the POST's answer was lost. */
  settled: boolean;
}

export interface Registering {
  context: Context;
  journal: Journal;
  patience: Patience;
  destinationUrl: string;
  /** The first chunk. */
  addresses: string[];
  /** Makes a webhook also where the destination has one. */
  another: boolean;
  /** Webhooks that other uploads of this machine made. */
  others: () => ReadonlySet<string>;
  /** The secret that an earlier run put on disk before it could say so. */
  keptSecret: () => string | undefined;
  /** Told when the list is asked how the POST went. */
  onSettling: (why: string) => Promise<void>;
}

/**
 * Makes the webhook, exactly one: the intention is on disk before the POST, a POST whose outcome is unknown is settled by the list, and
 * it is sent again only where it surely made none. Errors: those of the call where nothing was made; `partial` where one was made whose
 * secret is lost.
 */
export async function registerWebhook(options: Registering): Promise<Registered> {
  const { context, journal, patience, destinationUrl, addresses: walletAddresses } = options;
  let failed: SotraError | undefined;
  let sent = 0;
  for (let posts = 0; ; posts += 1) {
    const lost = journal.state.posting;
    if (lost !== undefined) {
      await options.onSettling(failed?.message ?? 'an earlier run ended before the answer');
      const found = await settle(options, lost.before);
      if (found !== undefined) return found;
    }
    if (failed !== undefined) {
      if (posts >= maxPosts || !patience.mayRepeat(posts, sent)) throw failed;
      await patience.wait(patience.delay(posts, failed));
    }
    // What was there before the first POST: a webhook that shows late is never taken for one of those.
    let before = lost?.before;
    if (before === undefined || posts === 0) {
      const own = await ownWebhooks(options);
      if (posts === 0 && !options.another) refuseSecond(own);
      before ??= own.map(({ uid }) => uid);
    }
    await journal.note({ kind: 'posting', before });
    try {
      const input = { walletAddresses, destinationUrl };
      const { data } = await context.call(endpoints.register, input, undefined, patience.retriesAfter(sent));
      if (typeof data?.uid !== 'string')
        throw new SotraError('contract', 'the service registered a webhook and did not say its uid', {
          hint: 'sotra webhook list shows it.',
        });
      return { uid: data.uid, destinationUrl: data.destinationUrl, secret: data.secret ?? undefined, settled: false };
    } catch (thrown) {
      if (!(thrown instanceof SotraError) || thrown.code === 'contract' || thrown.code === 'interrupted') throw thrown;
      if (thrown.outcome !== 'unknown' && lost === undefined) await journal.note({ kind: 'not-created' });
      if (thrown.outcome === undefined) throw thrown;
      failed = thrown;
      sent += thrown.attempts ?? 1;
    }
  }
}

function refuseSecond(before: endpoints.WebhookList): void {
  const [known] = before;
  if (known === undefined) return;
  throw new SotraError('conflict', `webhook ${known.uid} sends to ${known.destinationUrl} already`, {
    hint: `sotra webhook add-addresses ${known.uid} adds to it; --another makes a second one all the same.`,
  });
}

/** The webhooks that have the destination now. Errors: `contract` for no list, which would pass for none: a second one would be made. */
function ownWebhooks({ context, patience, destinationUrl }: Registering): Promise<endpoints.WebhookList> {
  return patiently(patience, async (retries) => {
    const { data } = await context.call(endpoints.list, {}, undefined, retries);
    return listed(data).filter((webhook) => sameDestination(webhook.destinationUrl, destinationUrl));
  });
}

async function settle(options: Registering, before: readonly string[]): Promise<Registered | undefined> {
  const { world } = options.context;
  const others = options.others();
  const isNew = ({ uid }: { uid: string }) => !before.includes(uid) && !others.has(uid);
  for (let looks = 0; ; looks += 1) {
    const [found, other] = (await ownWebhooks(options)).filter(isNew);
    if (found !== undefined && other !== undefined)
      throw new SotraError('conflict', `${found.uid} and ${other.uid} were both made for this destination meanwhile`, {
        hint: 'Delete the one that is not yours with sotra webhook delete, then run this again.',
      });
    if (found !== undefined) {
      const { uid, destinationUrl } = found;
      const secret = options.keptSecret() ?? shownSecret(found);
      if (secret !== undefined) return { uid, destinationUrl, secret, settled: true };
      throw new SotraError('partial', `webhook ${uid} was made, but its secret was in an answer that got lost`, {
        hint: `The service does not show it again: sotra webhook delete ${uid} --yes, then run this again.`,
      });
    }
    if (looks >= maxLooks) return undefined;
    await world.sleep(lookEveryMs, world.signal);
  }
}
