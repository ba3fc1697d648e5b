import { z } from 'zod';
import { isObject, tryParseJson } from '../../api/json.ts';
import { hideUrlSecrets } from '../../client/url-secrets.ts';
import type { Forward, Retry } from '../../lib/forward.ts';
import type { Target } from '../inbox.ts';
import { type KeyedDelivery, readMessageText } from './message.ts';
import type { InboxStream, Message } from './stream.ts';
import { partitions, targetId } from './subjects.ts';

/** A target that somebody forwards to: a consumer of the stream for each partition. */
export interface KnownTarget extends Target {
  id: string;
  /** By partition: up to where it has got all, and how many messages wait behind that. */
  floors: number[];
  waiting: number[];
}

export const nameConsumer = (id: string, partition: number) => `${id}-${partition}`;

/** Adds targets, which get what comes behind a message. */
export async function addTargets(targets: readonly Target[], seq: number, stream: InboxStream): Promise<void> {
  for (const { url, eventType, where } of targets) {
    const id = targetId({ url, eventType, where });
    const metadata = { url: hideUrlSecrets(url), ...(eventType && { eventType }), ...(where && { where }) };
    await Promise.all(
      Array.from({ length: partitions }, (_, partition) =>
        stream.addConsumer(nameConsumer(id, partition), stream.subjects.ofPartition(partition), seq + 1, metadata),
      ),
    );
  }
}

/** The targets that are waited for: those that the servers know, which forget one that nobody asks for. */
export async function readTargets(stream: InboxStream): Promise<KnownTarget[]> {
  const found = new Map<string, KnownTarget>();
  for (const { name, config, ack_floor, num_pending, num_ack_pending } of await stream.consumers()) {
    const [, id = '', partition] = /^([\da-f]{16})-(\d+)$/.exec(name) ?? [];
    const { url, eventType, where } = config.metadata ?? {};
    if (partition === undefined || url === undefined) continue;
    const target = found.get(id) ?? { id, url, eventType, where, floors: [], waiting: [] };
    target.floors[Number(partition)] = Math.max(ack_floor.stream_seq, (config.opt_start_seq ?? 1) - 1);
    target.waiting[Number(partition)] = num_pending + num_ack_pending;
    found.set(id, target);
  }
  return [...found.values()];
}

export function waitsFor({ seq, partition }: KeyedDelivery, { floors }: KnownTarget): boolean {
  return seq > (floors[partition] ?? Number.POSITIVE_INFINITY);
}

/** How a delivery ended at a target; `undefined` for a message of somebody else. */
function readForward(message: Message): Forward | undefined {
  const ended = tryParseJson(readMessageText(message));
  return isObject(ended) && typeof ended['atMs'] === 'number' ? (ended as unknown as Forward) : undefined;
}

/** What is sent again just now, as those who forward say it; nothing where this user may not ask them. */
export async function readRetries(stream: InboxStream): Promise<Retry[]> {
  const targets = await readTargets(stream);
  const said = await Promise.all(targets.map(({ id }) => stream.askMembers(id).catch(() => [])));
  return said.flat().flatMap((text) => {
    const retries = tryParseJson(text);
    return Array.isArray(retries) ? retries.filter((each): each is Retry => retrySchema.safeParse(each).success) : [];
  });
}

const retrySchema = z.object({
  ...{ url: z.string(), webhook: z.string(), error: z.string() },
  ...{ tries: z.number(), nextMs: z.number() },
});

/** How deliveries ended at their targets: by number of the delivery, and by target. */
export async function readForwards(
  deliveries: readonly KeyedDelivery[],
  targets: readonly KnownTarget[],
  stream: InboxStream,
): Promise<Map<number, Map<string, Forward>>> {
  const wanted = deliveries.flatMap(({ seq }) => targets.map(({ id }) => stream.subjects.forward(seq, id)));
  const found = new Map<number, Map<string, Forward>>();
  for (const message of await stream.lastOf(wanted)) {
    const [target = '', seq] = message.subject.split('.').reverse();
    const forward = readForward(message);
    if (forward === undefined) continue;
    found.set(Number(seq), (found.get(Number(seq)) ?? new Map()).set(target, forward));
  }
  return found;
}
