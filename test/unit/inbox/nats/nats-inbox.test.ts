import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { Claim, Inbox } from '../../../../src/inbox/inbox.ts';
import { openConnection } from '../../../../src/inbox/nats/connection.ts';
import { type InboxShape, planInbox } from '../../../../src/inbox/nats/create.ts';
import { openNats } from '../../../../src/inbox/nats/nats-inbox.ts';
import { openStreams } from '../../../../src/inbox/nats/streams.ts';
import { partitions, subjectsOf, targetId } from '../../../../src/inbox/nats/subjects.ts';
import { inboxCases } from '../../../support/inbox-cases.ts';
import { long } from '../../../support/long.ts';
import { findNats, natsInstall, startCluster } from '../../../support/nats-server.ts';
import { size } from '../../../support/size.ts';
import { until } from '../../../support/until.ts';

const world = { now: Date.now, sleep: (ms: number, signal: AbortSignal) => delay(ms, undefined, { signal }) };
const shape = { replicas: 1, keepMs: 0, maxBytes: -1 };

describe.skipIf(findNats() === undefined)(`the inbox on a server (${findNats() ? 'found' : natsInstall})`, () => {
  let cluster: Awaited<ReturnType<typeof startCluster>>;
  beforeAll(async () => {
    cluster = await startCluster(1);
  });
  afterAll(() => cluster.end());
  let count = 0;

  const newAddress = async (more: Partial<InboxShape> = {}) => {
    count += 1;
    const address = { servers: [`127.0.0.1:${cluster.servers[0]?.port}`], tls: false, name: `T${count}` };
    const plan = await planInbox(address, undefined, { ...shape, ...more });
    await plan.make();
    await plan.close();
    return address;
  };

  test.each(inboxCases)('$name', async ({ run }) => {
    const address = await newAddress();
    const opened: Inbox[] = [];
    onTestFinished(async () => {
      for (const inbox of opened.reverse()) await inbox.close();
    });
    await run(async () => {
      const inbox = await openNats({ address, credsFile: undefined, world });
      const { close } = inbox;
      let closing: Promise<void> | undefined;
      inbox.close = () => {
        closing ??= close();
        return closing;
      };
      opened.push(inbox);
      return inbox;
    });
  });

  test('another forwarder takes over 5 s after it last heard of one that is gone, by its own clock', async () => {
    const address = await newAddress();
    const open = async (own: typeof world) => {
      const inbox = await openNats({ address, credsFile: undefined, world: own });
      const stopping = new AbortController();
      onTestFinished(async () => {
        stopping.abort();
        await inbox.close();
      });
      return { inbox, stopping };
    };
    const target = { url: 'http://127.0.0.1:1/in' };
    const take = ({ inbox, stopping }: Awaited<ReturnType<typeof open>>) => {
      const claims: Claim[] = [];
      (async () => {
        for await (const claim of inbox.take(target, stopping.signal)) claims.push(claim);
      })().catch(() => undefined);
      return claims;
    };
    // Its sleep does not end any more once it is gone.
    let isGone = false;
    const first = await open({
      ...world,
      sleep: async (ms, signal) => {
        await world.sleep(isGone ? 1_000_000 : Math.min(ms, 5), signal);
      },
    });
    await first.inbox.addTargets([target]);
    for (const path of ['/a', '/b', '/c'])
      await first.inbox.store([
        { webhook: `${path}#1`, atMs: 1, headers: [], body: Buffer.from(`{"eventId":"${path}"}`) },
      ]);
    const held = take(first);
    await until(() => held.length === 3);
    isGone = true;
    let [nowMs, ticks] = [0, 0];
    const second = await open({
      now: () => nowMs,
      sleep: async (ms, signal) => {
        await world.sleep(Math.min(ms, 5), signal);
        ticks += 1;
      },
    });
    const taken = take(second);
    const someTicks = async () => {
      const end = ticks + 200;
      await until(() => ticks > end);
    };
    await someTicks();
    nowMs = 4900;
    await someTicks();
    expect(taken.length).toBe(0);
    nowMs = 5100;
    await until(() => taken.length === 3);
    expect(taken.map(({ delivery }) => delivery.webhook).sort()).toEqual(['/a#1', '/b#1', '/c#1']);
  });

  long('one that is gone keeps no share of what is free, however late its last word is heard', async () => {
    const address = await newAddress();
    const link = await openConnection(address, undefined);
    const [streams, subjects] = [openStreams(link), subjectsOf(address.name)];
    const startMs = Date.now();
    let [aheadMs, ticks] = [0, 0];
    // Slow, so that the times of the servers say first that somebody is gone.
    const now = () => aheadMs + (Date.now() - startMs) / 10;
    const sleep = async (ms: number, signal: AbortSignal) => {
      await world.sleep(Math.min(ms, 5), signal);
      ticks += 1;
    };
    const someTicks = async () => {
      const end = ticks + 200;
      await until(() => ticks > end);
    };
    const inbox = await openNats({ address, credsFile: undefined, world: { now, sleep } });
    const stopping = new AbortController();
    onTestFinished(async () => {
      stopping.abort();
      await inbox.close();
      await link.connection.close();
    });
    const target = { url: 'http://127.0.0.1:1/in' };
    await inbox.addTargets([target]);
    const paths = Array.from({ length: 60 }, (_, index) => `/${index}`);
    for (const path of paths)
      await inbox.store([{ webhook: `${path}#1`, atMs: 1, headers: [], body: Buffer.from(`{"eventId":"${path}"}`) }]);
    const id = targetId(target);
    const gone = JSON.stringify({ holder: 'gone', beat: 1 });
    for (let partition = 0; partition < partitions; partition += 1)
      await streams.replace(subjects.state, subjects.lease(id, partition), gone);
    const taken: string[] = [];
    (async () => {
      for await (const { delivery } of inbox.take(target, stopping.signal)) taken.push(delivery.webhook);
    })().catch(() => undefined);
    await someTicks();
    aheadMs = 4800;
    await streams.replace(subjects.state, subjects.member(id, 'gone'), gone);
    await someTicks();
    expect(taken).toEqual([]);
    aheadMs = 5200;
    const heardMs = now();
    await until(() => taken.length === paths.length);
    expect(now() - heardMs).toBeLessThan(4000);
    expect(taken.sort()).toEqual(paths.map((path) => `${path}#1`).sort());
  });

  test('an event that comes on another path is stored once; a place that leads nowhere is used by the next one', async () => {
    const address = await newAddress();
    const link = await openConnection(address, undefined);
    const [streams, subjects] = [openStreams(link), subjectsOf(address.name)];
    const inbox = await openNats({ address, credsFile: undefined, world });
    onTestFinished(async () => {
      await inbox.close();
      await link.connection.close();
    });
    const store = async (path: string, ...ids: string[]) => {
      const body = Buffer.from(JSON.stringify({ events: ids.map((eventId) => ({ eventId, eventType: 't' })) }));
      const [stored] = await inbox.store([{ webhook: `${path}#00000000`, atMs: 1, headers: [], body }]);
      return stored?.events.map(({ eventId }) => eventId);
    };
    expect(await store('/a', 'one', 'two')).toEqual(['one', 'two']);
    // A listener that was killed before it stored the event left this.
    await streams.publish(subjects.state, subjects.place('three'), '15');
    expect(await store('/b', 'one')).toBeUndefined();
    expect(await store('/b', 'two', 'three')).toEqual(['three']);
    expect(await store('/a', 'one', 'three')).toBeUndefined();
    expect(await store('/c', 'three', 'two')).toBeUndefined();
    const atOnce = await Promise.all(['/a', '/b', '/c', '/d'].map((path) => store(path, 'four')));
    expect(atOnce.filter((each) => each !== undefined)).toEqual([['four']]);
    for (const path of ['/a', '/b', '/c', '/d']) expect(await store(path, 'four')).toBeUndefined();
    const ids: string[] = [];
    for await (const { events } of inbox.deliveries({})) ids.push(...events.map(({ eventId }) => eventId));
    expect(ids).toEqual(['one', 'two', 'three', 'four']);
  });

  test('what two listeners store at the same moment, on one path or two, alone or with others, is there once', async () => {
    const address = await newAddress();
    const inboxes = await Promise.all([1, 2].map(() => openNats({ address, credsFile: undefined, world })));
    onTestFinished(async () => {
      for (const inbox of inboxes) await inbox.close();
    });
    const bodyOf = (ids: readonly string[]) =>
      Buffer.from(JSON.stringify({ events: ids.map((eventId) => ({ eventId, eventType: 't' })) }));
    const numbers = Array.from({ length: size(100, 300) }, (_, number) => number);
    await Promise.all(
      numbers.flatMap((number) =>
        inboxes.map((inbox, index) => {
          const path = number % 2 === 0 ? '/same' : `/${number}/${index}`;
          const ids = number % 3 === 0 ? [`${number}`, `${number} too`] : [`${number}`];
          const body = bodyOf(index === 0 ? ids : ids.slice().reverse());
          return inbox.store([{ webhook: `${path}#00000000`, atMs: 1, headers: [], body }]);
        }),
      ),
    );
    const ids: string[] = [];
    for await (const { eventId, delivery } of inboxes[0]?.events({}) ?? []) {
      ids.push(eventId);
      expect(delivery.body.toString()).toContain(`"eventId":"${eventId}"`);
    }
    const expected = numbers.flatMap((number) => (number % 3 === 0 ? [`${number}`, `${number} too`] : [`${number}`]));
    expect(ids.sort()).toEqual(expected.sort());
  });
});
