import type { Context } from '../../context.ts';
import { SotraError } from '../../errors.ts';
import * as endpoints from './endpoints.ts';
import type { Journal } from './journal.ts';
import { listed } from './listed.ts';
import { type Patience, patiently } from './patience.ts';

/**
 * How long after a POST of unknown outcome its webhook may still appear in the list: only then it counts as not made. Assumed: the
 * interface says nothing.
 */
const settleMs = 10_000;
const lookEveryMs = 1000;
const mostPosts = 5;

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
  /** Told when the list is asked how the POST went. */
  onSettling: (why: string) => void;
}

/**
 * Makes the webhook, exactly one: the intention is on disk before the POST, a POST whose outcome is unknown is settled by the list, and
 * it is sent again only where it surely made none. Errors: those of the call where nothing was made; `partial` where one was made whose
 * secret is lost.
 */
export async function registerWebhook(options: Registering): Promise<Registered> {
  const { context, journal, destinationUrl, addresses: walletAddresses } = options;
  let why = 'an earlier run ended before the answer';
  for (let post = 1; ; post += 1) {
    if (journal.state.posting !== undefined) {
      options.onSettling(why);
      const found = await settle(options, journal.state.posting);
      if (found !== undefined) return found;
      await journal.note({ kind: 'not-created' });
    }
    const before = await ownWebhooks(options);
    if (post === 1 && !options.another) refuseSecond(before);
    await journal.note({ kind: 'posting', atMs: context.world.now(), before: before.map(({ uid }) => uid) });
    try {
      const { data } = await context.call(endpoints.register, { walletAddresses, destinationUrl });
      if (typeof data?.uid !== 'string')
        throw new SotraError('contract', 'the service registered a webhook and did not say its uid', {
          hint: 'sotra webhook list shows it.',
        });
      return { uid: data.uid, destinationUrl: data.destinationUrl, secret: data.secret ?? undefined, settled: false };
    } catch (thrown) {
      if (!(thrown instanceof SotraError) || thrown.code === 'contract' || thrown.code === 'interrupted') throw thrown;
      if (thrown.outcome !== 'unknown') await journal.note({ kind: 'not-created' });
      if (thrown.outcome === undefined || post >= mostPosts) throw thrown;
      why = thrown.message;
      await options.patience.wait(post, thrown);
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
  return patiently(patience, async () => {
    const { data } = await context.call(endpoints.list, {});
    return listed(data).filter((webhook) => webhook.destinationUrl === destinationUrl);
  });
}

async function settle(
  options: Registering,
  { atMs, before }: { atMs: number; before: string[] },
): Promise<Registered | undefined> {
  const { world } = options.context;
  for (;;) {
    const late = world.now() - atMs >= settleMs;
    const [found, other] = (await ownWebhooks(options)).filter(({ uid }) => !before.includes(uid));
    if (found !== undefined && other !== undefined)
      throw new SotraError('conflict', `${found.uid} and ${other.uid} were both made for this destination meanwhile`, {
        hint: 'Delete the one that is not yours with sotra webhook delete, then run this again.',
      });
    if (found !== undefined && !found.secret)
      throw new SotraError('partial', `webhook ${found.uid} was made, but its secret was in an answer that got lost`, {
        hint: `The service does not show it again: sotra webhook delete ${found.uid} --yes, then run this again.`,
      });
    if (found?.secret)
      return { uid: found.uid, destinationUrl: found.destinationUrl, secret: found.secret, settled: true };
    if (late) return undefined;
    await world.sleep(lookEveryMs, world.signal);
  }
}
