import { hideUrlSecrets } from '../../client/url-secrets.ts';
import type { Forward, Retry } from '../../lib/forward.ts';
import type { Io } from '../../lib/io.ts';
import type { Claim, Target } from '../inbox.ts';
import { isFor } from '../route.ts';
import { readStoredDelivery } from './message.ts';
import type { QueryOptions } from './queries.ts';
import { isOutage, isStreamFull, type JsMsg, within } from './stream.ts';
import { targetId } from './subjects.ts';
import { nameConsumer } from './targets.ts';

interface PartitionOptions extends Pick<QueryOptions, 'stream' | 'onStray'> {
  target: Target;
  /** Hands a claim to the one who forwards. */
  offer: (claim: Claim) => void;
  /** The consumer or its stream was deleted. */
  onGone: () => void;
  sleep: Io['sleep'];
}

/** How long what is in hand is waited for. */
const freeMs = 2500;

/** One partition of a target: offers its deliveries one after the other, while the servers give it to this process. */
export function workPartition(partition: number, { target, stream, onStray, offer, ...options }: PartitionOptions) {
  const id = targetId(target);
  const consumer = nameConsumer(id, partition);
  let held: { message: JsMsg; lose: AbortController; retry?: Retry } | undefined;
  let asking: Promise<() => void> | undefined;
  let [isPinned, stopAsking, onFree] = [false, () => {}, () => {}];
  const onEnd = (): void => {
    asking = undefined;
  };

  const receive = async (message: JsMsg): Promise<void> => {
    if (held?.message.seq === message.seq) {
      held.message = message;
      return;
    }
    // Somebody else ended that one.
    held?.lose.abort();
    const own: NonNullable<typeof held> = { message, lose: new AbortController() };
    held = own;
    const end = (isTaken: boolean): void => {
      if (held !== own) return;
      held = undefined;
      onFree();
      if (isTaken) own.message.ack();
      else if (!own.lose.signal.aborted) own.message.nak();
    };
    try {
      const { subject: sentTo, seq, data, headers: header } = message;
      const delivery = readStoredDelivery({ subject: sentTo, seq, data, header });
      if (delivery === undefined) onStray(message);
      if (!delivery?.events.some((event) => isFor(target, event))) return end(true);
      const subject = stream.subjects.forward(delivery.seq, id);
      // It was forwarded, and that was not heard.
      if (message.redelivered && (await stream.last(subject)) !== undefined) return end(true);
      offer({
        delivery,
        lost: own.lose.signal,
        settle: async (forward) => {
          const ended: Forward = { url: hideUrlSecrets(target.url), ...forward };
          end(true);
          // A full inbox has no room for how it ended, and goes on.
          await stream.publish(subject, JSON.stringify(ended)).catch((error) => {
            if (!isStreamFull(error)) throw error;
          });
        },
        failed: (failedTry) => {
          const { webhook, seq, atMs: arrivedMs } = delivery;
          own.retry = { ...failedTry, url: hideUrlSecrets(target.url), webhook, seq, arrivedMs };
        },
        release: () => end(false),
      });
    } catch {
      end(false);
    }
  };
  /** Stops asking as soon as nothing is in hand, so that what comes next goes elsewhere; whether that was soon. */
  const leave = async (): Promise<boolean> => {
    const freed = new Promise<boolean>((resolve) => {
      onFree = () => {
        stopAsking();
        resolve(true);
      };
    });
    if (held === undefined) onFree();
    const isFree = await within(freeMs, freed, options.sleep);
    onFree = () => {};
    return isFree === true;
  };
  const unpin = async (): Promise<void> => {
    if (isPinned) await stream.unpin(consumer);
    isPinned = false;
  };
  return {
    /** Asks for deliveries, unless it does so already. */
    start: async (): Promise<void> => {
      asking ??= stream.consume(consumer, {
        onMessage: (message) => void receive(message),
        onPinned: (now) => {
          isPinned = now;
          if (!now) held?.lose.abort();
        },
        onEnd,
      });
      stopAsking = await asking.catch((error) => {
        onEnd();
        if (!isOutage(error)) options.onGone();
        throw error;
      });
    },
    isPinned: () => isPinned,
    /** What is sent again just now. */
    retry: () => held?.retry,
    sayWorking: () => held?.message.working(),
    /** Leaves the partition to another process until the next start, unless its target takes long. */
    give: async (): Promise<void> => {
      if (await leave()) await unpin();
    },
    end: async (): Promise<void> => {
      if (!(await leave())) held?.message.nak();
      stopAsking();
      await unpin().catch(() => undefined);
    },
  };
}
