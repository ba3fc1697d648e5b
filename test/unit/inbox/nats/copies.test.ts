import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { SotraError } from '../../../../src/errors.ts';
import type { Claim, Target } from '../../../../src/inbox/inbox.ts';
import { openConnection } from '../../../../src/inbox/nats/connection.ts';
import { startRemoval } from '../../../../src/inbox/nats/copies.ts';
import { planInbox } from '../../../../src/inbox/nats/create.ts';
import { openNats } from '../../../../src/inbox/nats/nats-inbox.ts';
import { type Floor, workPartition } from '../../../../src/inbox/nats/partition.ts';
import { deliveryStore } from '../../../../src/inbox/nats/store.ts';
import { type Message, openStreams } from '../../../../src/inbox/nats/streams.ts';
import { partitionOf, subjectsOf } from '../../../../src/inbox/nats/subjects.ts';
import { long } from '../../../support/long.ts';
import { findNats, natsInstall, startCluster } from '../../../support/nats-server.ts';
import { until } from '../../../support/until.ts';

const world = { now: Date.now, sleep: (ms: number, signal: AbortSignal) => delay(ms, undefined, { signal }) };
const soon = (_: number, signal: AbortSignal) => world.sleep(1, signal);
const target: Target = { url: 'http://127.0.0.1:1/in' };
const taken = { outcome: 'forwarded', status: 200, ms: 5, tries: 1, error: null, atMs: 40 } as const;
const [hook, other] = ['/hook#00000000', '/other#00000000'];
const outage = () => Promise.reject(new SotraError('network', 'no answer'));

/** Each event `<id>` has the type `t`, `<id>!` another one. */
function deliveryOf(webhook: string, ...ids: string[]) {
  const events = ids.map((eventId) => ({ eventId, eventType: eventId.endsWith('!') ? 'other' : 't' }));
  return { webhook, atMs: 1, headers: [], body: Buffer.from(JSON.stringify({ events })) };
}

async function listOf<T, R>(items: AsyncIterable<T>, pick: (item: T) => R): Promise<R[]> {
  const list: R[] = [];
  for await (const item of items) list.push(pick(item));
  return list;
}

describe.skipIf(findNats() === undefined)(`copies of messages (${findNats() ? 'found' : natsInstall})`, () => {
  let cluster: Awaited<ReturnType<typeof startCluster>>;
  beforeAll(async () => {
    cluster = await startCluster(1);
  });
  afterAll(() => cluster.end());
  let count = 0;

  const open = async ({ servers } = cluster) => {
    count += 1;
    const address = { servers: servers.map(({ port }) => `127.0.0.1:${port}`), tls: false, name: `C${count}` };
    // Right after its start a cluster may have no leader yet.
    const make = async () => {
      const plan = await planInbox(address, undefined, { replicas: servers.length, keepMs: 0, maxBytes: -1 });
      await plan.make().finally(plan.close);
      return 'made';
    };
    await expect.poll(() => make().catch(String), { timeout: 60_000 }).toBe('made');
    const link = await openConnection(address, undefined);
    const [streams, subjects] = [openStreams(link), subjectsOf(address.name)];
    const sleep = (ms: number, signal: AbortSignal) => world.sleep(Math.min(ms, 50), signal);
    const inbox = await openNats({ address, credsFile: undefined, world: { ...world, sleep } });
    onTestFinished(async () => {
      await inbox.close();
      await link.connection.close();
    });
    const messages = () =>
      listOf(streams.read(subjects.events, { filter: subjects.all, from: 1, ends: true }), (each) => each);
    /** As a server that was away stores what it was sent. */
    const copy = async ({ subject, data, headers }: Message) => {
      const names = headers?.keys() ?? [];
      const values = Object.fromEntries(names.map((name) => [name, headers?.get(name) ?? '']));
      return streams.publish(subjects.events, subject, data, values);
    };
    /** Works the partition of `/hook` with streams of which a part may fail. */
    const work = (failing: Partial<typeof streams>, { seq = 0, of = target }: { seq?: number; of?: Target } = {}) => {
      const [claims, floors]: [Claim[], Floor[]] = [[], []];
      const stopping = new AbortController();
      const partition = partitionOf(hook);
      const ended = workPartition({
        ...{ target: of, targetId: 'one', partition, floor: { seq, top: 0 }, subjects, sleep: soon },
        ...{ streams: { ...streams, ...failing }, stopping: stopping.signal, lost: stopping.signal },
        offer: (claim) => void claims.push(claim),
        settle: async () => undefined,
        onFloor: (floor) => void floors.push({ ...floor }),
      });
      const stop = () => {
        stopping.abort();
        return ended;
      };
      onTestFinished(() => stop());
      const ids = () => claims.map(({ delivery }) => delivery.events[0]?.eventId);
      return { claims, ids, floor: () => floors.at(-1)?.seq, stop };
    };
    const ending = new AbortController();
    onTestFinished(() => ending.abort());
    const removal = startRemoval({ streams, stream: subjects.events, sleep: soon, signal: ending.signal });
    return { inbox, streams, subjects, messages, copy, work, removal, connection: link.connection };
  };

  test('where nobody forwards they stay, and no command shows or counts them', async () => {
    const { inbox, messages, copy } = await open();
    await inbox.addTargets([target]);
    const stopping = new AbortController();
    const followed: string[] = [];
    const following = (async () => {
      for await (const { eventId } of inbox.follow({}, stopping.signal)) followed.push(eventId);
    })();
    await inbox.store([deliveryOf(hook, 'one'), deliveryOf(hook, 'two', 'three'), deliveryOf(other, 'four')]);
    const stored = await messages();
    expect(stored).toHaveLength(5);
    for (const message of stored) await copy(message);
    expect(await messages()).toHaveLength(10);
    await inbox.store([deliveryOf(other, 'last')]);
    await until(() => followed.includes('last'));
    stopping.abort();
    await following;
    const all = ['four', 'last', 'one', 'three', 'two'];
    expect(followed.sort()).toEqual(all);
    expect((await listOf(inbox.events({}), ({ eventId }) => eventId)).sort()).toEqual(all);
    expect(await listOf(inbox.events({ idStart: 'three' }), ({ eventId }) => eventId)).toEqual(['three']);
    expect(await listOf(inbox.deliveries({}), ({ events }) => events.length)).toEqual([1, 2, 1, 1]);
    expect(await listOf(inbox.deliveries({ ids: ['two', 'three'] }), ({ events }) => events.length)).toEqual([2]);
    expect(await inbox.count()).toBe(6);
    expect(await inbox.waiting([target])).toBe(4);
    await expect
      .poll(async () => (await inbox.stats({})).map(({ webhook, received, waiting }) => [webhook, received, waiting]))
      .toEqual([
        [hook, 2, 2],
        [other, 2, 2],
      ]);
    expect(await inbox.keep({ ms: 1 }, Date.now())).toBe(0);
  });

  test('who forwards removes them, of every message, and goes on while the servers cannot', async () => {
    const { inbox, messages, copy, work, streams, subjects } = await open();
    await inbox.store([deliveryOf(hook, 'one'), deliveryOf(hook, 'two', 'three'), deliveryOf(hook, 'foreign!')]);
    const stored = await messages();
    for (const message of stored) await copy(message);
    await inbox.store([deliveryOf(hook, 'four')]);
    let isAway = true;
    const { claims, ids, floor } = work(
      { keepFirst: (...given) => (isAway ? outage() : streams.keepFirst(...given)) },
      { of: { ...target, eventType: 't' } },
    );
    for (const number of [0, 1, 2]) {
      await until(() => claims.length > number);
      await claims[number]?.settle(taken);
    }
    expect(ids()).toEqual(['one', 'two', 'four']);
    expect(await messages()).toHaveLength(11);
    await until(() => floor() === 11);
    isAway = false;
    await expect.poll(async () => (await streams.state(subjects.events))?.messages).toBe(6);
    expect((await messages()).map(({ subject }) => subject).slice(0, 5)).toEqual(stored.map(({ subject }) => subject));
    expect(await messages()).toHaveLength(6);
  });

  test('what who forwards did not remove before it was gone, the next one removes', async () => {
    const { inbox, streams, subjects, messages, copy, work } = await open();
    await inbox.store([deliveryOf(hook, 'one'), deliveryOf(hook, 'two')]);
    for (const message of await messages()) await copy(message);
    const first = work({ keepFirst: outage });
    for (const number of [0, 1]) {
      await until(() => first.claims.length > number);
      await first.claims[number]?.settle(taken);
    }
    await first.stop();
    expect(first.floor()).toBe(4);
    expect(await messages()).toHaveLength(4);
    const second = work({}, { seq: 4 });
    await expect.poll(async () => (await streams.state(subjects.events))?.messages).toBe(2);
    expect(second.claims).toEqual([]);
    // Of those before the start of a target, too.
    for (const message of await messages()) await copy(message);
    work({}, { seq: 6 });
    await expect.poll(async () => (await streams.state(subjects.events))?.messages).toBe(2);
  });

  test('a number that is of another message by now is not removed', async () => {
    const { inbox, streams, subjects, messages } = await open();
    await inbox.store([deliveryOf(hook, 'one'), deliveryOf(hook, 'two')]);
    const [one, two] = await messages();
    expect(await streams.keepFirst(subjects.events, one?.subject ?? '', two?.seq ?? 0)).toBe(one?.seq);
    expect(await messages()).toHaveLength(2);
  });

  test('one that cannot be removed for want of a permission holds up nothing', async () => {
    const { inbox, messages, copy, work } = await open();
    await inbox.store([deliveryOf(hook, 'one')]);
    for (const message of await messages()) await copy(message);
    const { claims, floor } = work({ keepFirst: () => Promise.reject(new SotraError('config', 'not allowed')) });
    await until(() => claims.length === 1);
    await claims[0]?.settle(taken);
    await until(() => floor() === 2);
  });

  test('a listener that is cut off behind storing an event refuses it, and the one that gets it again knows it', async () => {
    const { inbox, streams, subjects, messages, work, removal } = await open();
    await inbox.store([deliveryOf(hook, 'one')]);
    // It looked before the event was there.
    const late = { ...streams, last: async () => undefined, firstOf: outage };
    await expect(deliveryStore({ streams: late, subjects }, removal)(deliveryOf(hook, 'one'))).rejects.toThrow(
      'no answer',
    );
    expect(await messages()).toHaveLength(2);
    expect(await inbox.store([deliveryOf(hook, 'one')])).toEqual([undefined]);
    const { floor, claims } = work({});
    await until(() => claims.length === 1);
    await claims[0]?.settle(taken);
    await until(() => floor() === 2);
    await expect.poll(async () => (await streams.state(subjects.events))?.messages).toBe(1);
  });

  test('of listeners that look before any stores, on one path or two, the first places the event and counts it', async () => {
    const { inbox, streams, subjects, messages, removal } = await open();
    const early = deliveryStore({ streams: { ...streams, last: async () => undefined }, subjects }, removal);
    expect((await early(deliveryOf(hook, 'one')))?.events).toHaveLength(1);
    expect(await early(deliveryOf(hook, 'one'))).toBeUndefined();
    expect(await early(deliveryOf(other, 'one'))).toBeUndefined();
    expect((await early(deliveryOf(other, 'one', 'two')))?.events.map(({ eventId }) => eventId)).toEqual(['two']);
    expect(await inbox.store([deliveryOf(other, 'one')])).toEqual([undefined]);
    await expect.poll(async () => (await streams.state(subjects.events))?.messages).toBe(3);
    expect((await messages()).map(({ subject }) => Number(subject.split('.')[2]))).toEqual(
      [hook, other, other].map(partitionOf),
    );
  });

  test('they are removed once the servers are whole, however long that takes', async () => {
    const { inbox, streams, subjects, messages, copy } = await open();
    await inbox.store([deliveryOf(hook, 'one')]);
    for (const message of await messages()) await copy(message);
    const [one, two] = await messages();
    const found: number[] = [];
    const isWhole = async (stream: string) => {
      found.push((await streams.state(stream))?.messages ?? 0);
      return found.length > 20;
    };

    const ending = new AbortController();
    onTestFinished(() => ending.abort());
    const options = { stream: subjects.events, sleep: soon, signal: ending.signal };
    const removal = startRemoval({ ...options, streams: { ...streams, isWhole } });
    removal.add({ subject: two?.subject ?? '', seq: two?.seq ?? 0 });
    await removal.done();
    expect(found).toEqual(Array(21).fill(2));
    expect((await messages()).map(({ seq }) => seq)).toEqual([one?.seq]);
  });

  long('while a server is away nothing is removed: the one that stays may be missing there', async () => {
    const three = await startCluster(3);
    onTestFinished(three.end);
    const { inbox, streams, subjects, messages, copy, connection } = await open(three);
    await inbox.store([deliveryOf(hook, 'one')]);
    for (const message of await messages()) await copy(message);
    const [, two] = await messages();
    const paused = three.servers.find(({ port }) => !connection.getServer().endsWith(`:${port}`));
    paused?.child.kill('SIGSTOP');
    const isWhole = (stream: string) => streams.isWhole(stream).catch(() => false);
    await expect.poll(() => isWhole(subjects.events), { timeout: 20_000 }).toBe(false);
    let looked = 0;
    const watched = {
      ...streams,
      isWhole: async (stream: string) => {
        looked += 1;
        return await isWhole(stream);
      },
    };
    const ending = new AbortController();
    onTestFinished(() => ending.abort());
    const removal = startRemoval({ streams: watched, stream: subjects.events, sleep: soon, signal: ending.signal });
    removal.add({ subject: two?.subject ?? '', seq: two?.seq ?? 0 });
    await until(() => looked > 5);
    expect(await messages()).toHaveLength(2);
    paused?.child.kill('SIGCONT');
    await removal.done();
    expect((await messages()).map(({ seq }) => seq)).toEqual([1]);
  });
});
