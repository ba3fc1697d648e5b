import { randomUUID } from 'node:crypto';
import { SotraError } from '../../errors.ts';
import { hourMs } from '../../model/duration.ts';
import type { World } from '../../world.ts';
import type { HourStats, Inbox, Target } from '../inbox.ts';
import { isWebhook, webhookAt } from '../query.ts';
import type { NatsAddress } from './address.ts';
import { openConnection } from './connection.ts';
import { startRemoval } from './copies.ts';
import { countHours, readHours } from './hours.ts';
import { removeOld } from './keep.ts';
import { startMarks } from './marks.ts';
import { followEvents, queryDeliveries, queryEvents } from './queries.ts';
import { deliveryStore } from './store.ts';
import { openStreams } from './streams.ts';
import { subjectsOf } from './subjects.ts';
import { takeDeliveries } from './take.ts';
import { addTargets, readTarget, readTargets, waitingOf } from './targets.ts';

interface NatsInboxOptions {
  address: NatsAddress;
  credsFile: string | undefined;
  world: Pick<World, 'now' | 'sleep'>;
}

/** How often counts are written: four messages a second for a webhook, however much comes. */
const countMs = 250;
/** What the headers of a message may take beside a body. */
const headerBytes = 64 * 1024;

/** Opens an inbox of a cluster, which exists. Errors: `network` where no server answers; `config` for credentials, and where there is none. */
export async function openNats({ address, credsFile, world }: NatsInboxOptions): Promise<Inbox> {
  const link = await openConnection(address, credsFile);
  const { connection } = link;
  const streams = openStreams(link);
  const subjects = subjectsOf(address.name);
  const inbox = { streams, subjects };
  try {
    for (const stream of Object.keys(subjects.streams))
      if ((await streams.state(stream)) === undefined)
        throw new SotraError('config', `the inbox ${address.name} does not exist at ${address.servers.join(', ')}`, {
          hint: `Make it with sotra inbox create, or correct the name at the end of --inbox.`,
        });
  } catch (error) {
    await connection.close();
    throw error;
  }
  const member = randomUUID();
  const marks = startMarks(streams, subjects.state);
  const hours = countHours(member, subjects, marks);
  const closing = new AbortController();
  const removal = startRemoval({ streams, stream: subjects.events, sleep: world.sleep, signal: closing.signal });
  const store = deliveryStore(inbox, removal);
  const counting = (async () => {
    for (; !closing.signal.aborted; await world.sleep(countMs, closing.signal))
      await hours.write().catch(() => undefined);
  })().catch(() => undefined);
  /** Those that this process has stored deliveries of. */
  const webhooks = new Set<string>();
  const queryOptions = () => ({ ...inbox, nowMs: world.now() });
  const maxPayload = connection.info?.max_payload ?? 1024 * 1024;
  return {
    name: address.name,
    maxBytes: maxPayload - headerBytes,
    counts: 'messages',
    count: async () => (await streams.state(subjects.events))?.subjects ?? 0,
    store: (deliveries) =>
      Promise.all(
        deliveries.map(async (delivery) => {
          const stored = await store(delivery);
          webhooks.add(delivery.webhook);
          if (stored !== undefined) hours.received(delivery.webhook, delivery.atMs);
          return stored;
        }),
      ),
    countRefused: (path, atMs) => hours.refusedSignature(webhookAt(path, webhooks), atMs),
    addTargets: (targets) => addTargets(targets, { ...queryOptions(), member }),
    take: (target, signal) => takeDeliveries(target, { ...inbox, marks, hours, member, world, signal }),
    waiting: async (targets: readonly Target[]) => {
      await marks.flush();
      let count = 0;
      for (const target of targets) for await (const _ of waitingOf(await readTarget(target, inbox), inbox)) count += 1;
      return count;
    },
    events: (query) => queryEvents(query, queryOptions()),
    follow: (query, signal) => followEvents(query, { ...queryOptions(), signal }),
    deliveries: (query) => queryDeliveries(query, queryOptions()),
    stats: async ({ sinceMs = 0, untilMs = Number.MAX_SAFE_INTEGER, webhook }) => {
      const [first, last] = [Math.floor(sinceMs / hourMs), Math.floor(untilMs / hourMs)];
      const fits = (hour: number, name: string) =>
        hour >= first && hour <= last && (webhook === undefined || isWebhook(name, webhook));
      const waiting = new Map<string, number>();
      for (const target of await readTargets(inbox, world.now()))
        for await (const { webhook: name, atMs } of waitingOf(target, inbox)) {
          const key = `${(Math.floor(atMs / hourMs) * hourMs) / 1000} ${name}`;
          waiting.set(key, (waiting.get(key) ?? 0) + 1);
        }
      const rows = await readHours(inbox, fits);
      return rows.map((row): HourStats => ({ ...row, waiting: waiting.get(`${row.hour} ${row.webhook}`) ?? 0 }));
    },
    keep: (limits, nowMs) => removeOld(limits, { ...queryOptions(), nowMs }),
    close: async () => {
      closing.abort();
      await counting;
      await removal.done();
      try {
        await hours.write();
        await marks.flush();
      } finally {
        await connection.close();
      }
    },
  };
}
