import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect, headers } from '@nats-io/transport-node';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { Claim, Delivery, Inbox, Target } from '../../../../src/webhooks/inbox.ts';
import { connectInbox } from '../../../../src/webhooks/nats/create.ts';
import { openNats } from '../../../../src/webhooks/nats/nats-inbox.ts';
import { queryEvents } from '../../../../src/webhooks/nats/queries.ts';
import { openPort, run, temporaryFolder } from '../../../support/harness.ts';
import { inboxCases } from '../../../support/inbox-cases.ts';
import { findNats, natsInstall, startCluster } from '../../../support/nats-server.ts';
import { long, size } from '../../../support/size.ts';
import { until } from '../../../support/until.ts';

const io = { now: Date.now, sleep: (ms: number, signal: AbortSignal) => delay(ms, undefined, { signal }) };
const target: Target = { url: 'http://127.0.0.1:1/in' };
const taken = { outcome: 'forwarded', status: 200, ms: 5, tries: 1, error: null, atMs: 40 } as const;

function deliveryOf(path: string, ...ids: string[]): Delivery {
  const body = Buffer.from(JSON.stringify({ events: ids.map((eventId) => ({ eventId, eventType: 't' })) }));
  return { webhook: `${path}#00000000`, atMs: Date.now(), headers: [], body };
}

test('a server that is too old is refused, with the version that is needed', async () => {
  const server = createServer((socket) => {
    const info = { server_id: 'X', version: '2.9.10', proto: 1, max_payload: 1_048_576, headers: true };
    socket.write(`INFO ${JSON.stringify(info)}\r\n`);
    socket.on('data', (data) => data.includes('PING') && socket.write('PONG\r\n'));
    socket.on('error', () => undefined);
  });
  const inbox = `nats://127.0.0.1:${await openPort(server)}/OLD`;
  const secret = join(temporaryFolder(), 'secret');
  writeFileSync(secret, 'abc\n', { mode: 0o600 });
  for (const command of ['webhook events', `webhook listen --port 0 --secret-file ${secret}`]) {
    const { code, err } = await run(`${command} --inbox ${inbox}`);
    expect([command, code]).toEqual([command, 3]);
    expect(err).toContain('nats-server 2.9.10 is too old for an inbox: 2.11 or later is needed');
  }
});

describe.skipIf(findNats() === undefined)(`the inbox on a server (${findNats() ? 'found' : natsInstall})`, () => {
  let cluster: Awaited<ReturnType<typeof startCluster>>;
  beforeAll(async () => {
    cluster = await startCluster(1);
  });
  afterAll(() => cluster.end());
  let count = 0;

  const make = async (name: string) => {
    const address = { servers: [`127.0.0.1:${cluster.servers[0]?.port}`], tls: false, name };
    const { connection, stream } = await connectInbox(address, undefined);
    await stream.create(1);
    await connection.close();
    return address;
  };
  const newAddress = () => {
    count += 1;
    return make(`T${count}`);
  };
  const open = async (address: Awaited<ReturnType<typeof make>>, warn: (text: string) => void = expect.fail) => {
    const inbox = await openNats({ address, credsFile: undefined, io, warn });
    let closing: Promise<void> | undefined;
    const close = () => {
      closing ??= inbox.close();
      return closing;
    };
    onTestFinished(close);
    return { ...inbox, close };
  };
  /** What another client of the same servers does. */
  const otherClient = async () => {
    const connection = await connect({ servers: `127.0.0.1:${cluster.servers[0]?.port}` });
    onTestFinished(() => connection.close());
    return { client: jetstream(connection), manager: await jetstreamManager(connection) };
  };
  const taking = (inbox: Inbox) => {
    const stopping = new AbortController();
    const claims: Claim[] = [];
    const ended = (async () => {
      for await (const claim of inbox.take(target, stopping.signal)) {
        claims.push(claim);
        claim.settle(taken).catch(() => undefined);
      }
    })();
    const stop = () => {
      stopping.abort();
      return ended;
    };
    ended.catch(() => undefined);
    onTestFinished(() => stop().catch(() => undefined));
    return { claims, ended, stop, ids: () => claims.flatMap(({ delivery }) => delivery.events.map((e) => e.eventId)) };
  };
  const listOf = async <T, R>(items: AsyncIterable<T>, pick: (item: T) => R): Promise<R[]> => {
    const list: R[] = [];
    for await (const item of items) list.push(pick(item));
    return list;
  };

  test.each(inboxCases)('$name', async ({ run: check }) => {
    const address = await newAddress();
    await check(() => open(address));
  });

  test('an event that comes on two paths at two listeners at the same moment is stored once, and each webhook stays in order', async () => {
    const address = await newAddress();
    const [first, second, reader] = [await open(address), await open(address), await open(address)];
    await reader.addTargets([target]);
    const ids = Array.from({ length: size(150, 1000) }, (_, number) => `e${number}`);
    const news = await Promise.all(
      ids.flatMap((id) => [first.store([deliveryOf('/a', id)]), second.store([deliveryOf('/b', id)])]),
    );
    expect(news.flat().filter((each) => each !== undefined)).toHaveLength(ids.length);
    expect(await second.store(ids.map((id) => deliveryOf('/c', id)))).toEqual(ids.map(() => undefined));
    const stored = await listOf(reader.deliveries({}), ({ webhook, events }) => `${webhook} ${events[0]?.eventId}`);
    expect(stored.map((each) => each.split(' ')[1]).sort()).toEqual([...ids].sort());
    const { claims } = taking(reader);
    await until(() => claims.length === ids.length);
    const forwarded = claims.map(({ delivery }) => `${delivery.webhook} ${delivery.events[0]?.eventId}`);
    for (const webhook of ['/a#00000000', '/b#00000000'])
      expect(forwarded.filter((each) => each.startsWith(webhook))).toEqual(
        stored.filter((each) => each.startsWith(webhook)),
      );
  });

  test('what two listeners store at the same moment, alone or with other events, is there once', async () => {
    const address = await newAddress();
    const [first, second] = [await open(address), await open(address)];
    const numbers = Array.from({ length: size(100, 300) }, (_, number) => number);
    const idsOf = (number: number) => (number % 3 === 0 ? [`${number}`, `${number} too`] : [`${number}`]);
    await Promise.all(
      numbers.flatMap((number) =>
        [first, second].map((inbox, index) => {
          const path = number % 2 === 0 ? '/same' : `/${number}/${index}`;
          const ids = idsOf(number);
          return inbox.store([deliveryOf(path, ...(index === 0 ? ids : ids.reverse()))]);
        }),
      ),
    );
    const stored = await listOf(first.events({}), ({ eventId, delivery }) => {
      expect(delivery.body.toString()).toContain(`"eventId":"${eventId}"`);
      return eventId;
    });
    expect(stored.sort()).toEqual(numbers.flatMap(idsOf).sort());
    const [, known] = await second.store([deliveryOf('/x', 'new', '0 too'), deliveryOf('/x', '0', '0 too')]);
    expect(known).toBeUndefined();
    expect(await listOf(first.events({ idStart: '0 too' }), ({ eventId }) => eventId)).toEqual(['0 too']);
  });

  long('a stream that is made again has nothing of the one before it, and what it gets is forwarded', async () => {
    const address = await newAddress();
    const { manager } = await otherClient();
    const before = await open(address);
    await before.addTargets([target]);
    const running = taking(before);
    await before.store(Array.from({ length: 20 }, (_, number) => deliveryOf('/a', `old${number}`)));
    await until(() => running.claims.length === 20);
    await manager.streams.delete(address.name);
    await make(address.name);
    const ids = Array.from({ length: 40 }, (_, number) => `new${number}`);
    const inbox = await open(address);
    expect(await inbox.waiting([target])).toBe(0);
    await inbox.store(ids.map((id) => deliveryOf('/a', id)));
    // Who forwarded before goes on with all that is in the new one.
    await until(() => running.claims.length === 60);
    expect(running.ids().slice(20)).toEqual(ids);
    await running.stop();
    expect(await inbox.waiting([target])).toBe(0);
    expect(await listOf(inbox.events({}), ({ eventId, status }) => `${eventId} ${status}`)).toEqual(
      ids.map((id) => `${id} forwarded`).reverse(),
    );
  });

  test('a stream that is deleted is named as that, to who stores, who forwards and who follows', async () => {
    const address = await newAddress();
    const { manager } = await otherClient();
    const inbox = await open(address);
    await inbox.addTargets([target]);
    const { ended } = taking(inbox);
    const following = listOf(inbox.follow({}, new AbortController().signal), ({ eventId }) => eventId);
    following.catch(() => undefined);
    await inbox.store([deliveryOf('/a', 'one')]);
    await manager.streams.delete(address.name);
    const named = `the stream ${address.name} of the inbox was deleted on the servers`;
    await expect(inbox.store([deliveryOf('/a', 'two')])).rejects.toThrow(named);
    await expect(ended).rejects.toThrow(named);
    await expect(following).rejects.toThrow(named);
  });

  test('a consumer that is deleted before who forwards has asked for it is made again', async () => {
    const address = await newAddress();
    const { manager } = await otherClient();
    const inbox = await open(address);
    await inbox.addTargets([target]);
    for await (const { name } of manager.consumers.list(address.name))
      await manager.consumers.delete(address.name, name);
    const { ids } = taking(inbox);
    const countConsumers = async () => (await manager.streams.info(address.name)).state.consumer_count;
    await expect.poll(countConsumers).toBe(16);
    await inbox.store([deliveryOf('/a', 'one')]);
    await until(() => ids().includes('one'));
  });

  test('a message of another client or with a damaged header costs that record alone, and is named and counted', async () => {
    const address = await newAddress();
    const { client, manager } = await otherClient();
    const warnings: string[] = [];
    const inbox = await open(address, (text) => void warnings.push(text));
    await inbox.addTargets([target]);
    const head = { webhook: '/a#00000000', atMs: 1, headers: [] };
    const damaged = [
      { ...head, headers: 'x' },
      { ...head, headers: [1] },
      { ...head, newIds: 3 },
      { ...head, atMs: '1' },
      7,
    ];
    await inbox.store([deliveryOf('/a', 'first')]);
    for (let partition = 0; partition < 16; partition += 1)
      await client.publish(`${address.name}.event.${partition}.stray`, 'not ours');
    for (const [index, value] of damaged.entries()) {
      const own = headers();
      own.set('Sotra-Delivery', JSON.stringify(value));
      await client.publish(`${address.name}.event.3.damaged${index}`, '{"eventId":"x"}', { headers: own });
    }
    await client.publish(`${address.name}.forward.1.none`, '{"forward":7}');
    await client.publish(`${address.name}.event.part.stray`, 'nothing');
    const paths = Array.from({ length: 40 }, (_, number) => `/${number}`);
    await inbox.store(paths.map((path) => deliveryOf(path, `event of ${path}`)));
    const { claims, stop } = taking(inbox);
    await until(() => claims.length === 41);
    await stop();
    expect((await listOf(inbox.events({}), ({ eventId }) => eventId)).sort()).toEqual(
      ['first', ...paths.map((path) => `event of ${path}`)].sort(),
    );
    expect(warnings).toEqual([
      expect.stringMatching(/^message \d+ of the inbox \(T\d+\.event\.\S+\) is not a delivery/),
    ]);
    // One that stands where an event belongs.
    const [own] = await listOf(inbox.deliveries({ ids: ['first'] }), ({ webhook }) => webhook);
    expect(own).toBe('/a#00000000');
    const info = await manager.streams.info(address.name, { subjects_filter: `${address.name}.event.*.first` });
    const subject = Object.keys(info.state.subjects ?? {})[0]?.replace('first', 'taken') ?? '';
    const { seq } = await client.publish(subject, 'not ours');
    await expect(inbox.store([deliveryOf('/a', 'taken')])).rejects.toThrow(`message ${seq} of the inbox (${subject})`);
    await manager.streams.deleteMessage(address.name, seq);
    expect(await inbox.store([deliveryOf('/a', 'taken')])).toHaveLength(1);
    await inbox.close();
    expect(warnings[1]).toBe('22 messages of the inbox are not deliveries and were skipped');
  });

  test('a stream that is not an inbox is refused and stays as it is, with the line that makes one', async () => {
    const { manager } = await otherClient();
    await manager.streams.add({ name: 'OLD', subjects: ['OLD.event.>'], discard: 'new', max_msgs_per_subject: -1 });
    const inbox = `nats://127.0.0.1:${cluster.servers[0]?.port}/OLD`;
    const secret = join(temporaryFolder(), 'secret');
    writeFileSync(secret, 'abc\n', { mode: 0o600 });
    for (const command of ['webhook events', `webhook listen --port 0 --secret-file ${secret}`]) {
      const { code, err } = await run(`${command} --inbox ${inbox}`);
      expect([command, code]).toEqual([command, 3]);
      expect(err).toContain('the stream OLD is not an inbox');
      expect(err).toContain(`sotra webhook listen --inbox ${inbox}_2`);
    }
    expect((await manager.streams.info('OLD')).config.subjects).toEqual(['OLD.event.>']);
  });

  long(
    'those who forward share the partitions; one that goes leaves its own, with what it had in hand, to the others',
    async () => {
      const address = await newAddress();
      const [first, second] = [await open(address), await open(address)];
      await first.addTargets([target]);
      const paths = Array.from({ length: 100 }, (_, number) => `/${number}`);
      const [came, round] = [new Map<string, string[]>(), { number: 0 }];
      const take = (inbox: Inbox, settles: () => boolean) => {
        const stopping = new AbortController();
        const own = new Map<string, Set<number>>();
        const ended = (async () => {
          for await (const claim of inbox.take(target, stopping.signal)) {
            const { webhook, partition, events } = claim.delivery as Claim['delivery'] & { partition: number };
            const [id = '', number = ''] = events[0]?.eventId.split(' ') ?? [];
            own.set(number, (own.get(number) ?? new Set()).add(partition));
            if (!settles()) continue;
            came.set(webhook, [...(came.get(webhook) ?? []), `${id} ${number}`]);
            claim.settle(taken).catch(() => undefined);
          }
        })();
        onTestFinished(() => stopping.abort());
        const stop = () => {
          stopping.abort();
          return ended;
        };
        return { stop, share: () => own.get(`${round.number}`)?.size ?? 0 };
      };
      const storeAll = async (): Promise<void> => {
        round.number += 1;
        await first.store(paths.map((path) => deliveryOf(path, `${path} ${round.number}`)));
      };
      const isOver = () => [...came.values()].flat().length === round.number * paths.length;
      let settles = true;
      const one = take(first, () => true);
      await storeAll();
      await until(isOver);
      expect(one.share()).toBe(16);
      const two = take(second, () => settles);
      do {
        await storeAll();
        await until(isOver);
      } while (two.share() !== 8);
      expect(one.share()).toBe(8);
      settles = false;
      await storeAll();
      await until(() => two.share() === 8);
      await two.stop();
      await until(isOver);
      expect(one.share()).toBe(16);
      for (const path of paths)
        expect(came.get(`${path}#00000000`)).toEqual(
          Array.from({ length: round.number }, (_, index) => `${path} ${index + 1}`),
        );
    },
  );

  test('events with what became of them are read by the thousand, not by a request for each', async () => {
    const address = await newAddress();
    const inbox = await open(address);
    await inbox.addTargets([target]);
    const total = 3000;
    for (let at = 0; at < total; at += 500)
      await inbox.store(Array.from({ length: 500 }, (_, number) => deliveryOf(`/${number % 30}`, `e${at + number}`)));
    const { claims } = taking(inbox);
    await until(() => claims.length === total);
    const { connection, stream } = await connectInbox(address, undefined);
    onTestFinished(() => connection.close());
    const before = connection.stats().outMsgs;
    const statuses = await listOf(
      queryEvents({}, { stream, nowMs: Date.now(), onStray: ({ subject }) => expect.fail(subject) }),
      (e) => e.status,
    );
    expect(statuses).toHaveLength(total);
    expect(connection.stats().outMsgs - before).toBeLessThan(100);
  });
});
