import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { Delivery } from '../../../../src/webhooks/inbox.ts';
import { openNats } from '../../../../src/webhooks/nats/nats-inbox.ts';
import { openPort, run, temporaryFolder } from '../../../support/harness.ts';
import { inboxCases } from '../../../support/inbox-cases.ts';
import { findNats, natsInstall, startCluster } from '../../../support/nats-server.ts';
import { size } from '../../../support/size.ts';

const io = { now: Date.now, sleep: (ms: number, signal: AbortSignal) => delay(ms, undefined, { signal }) };
const taken = { ok: true, status: 200, error: null, late: false, unsendable: false };

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
  beforeAll(async () => (cluster = await startCluster(1)));
  afterAll(() => cluster.end());
  let count = 0;

  const newAddress = () => {
    count += 1;
    return { servers: [`127.0.0.1:${cluster.servers[0]?.port}`], tls: false, name: `T${count}` };
  };
  const open = async (address: ReturnType<typeof newAddress>) => {
    const make = { replicas: 1, onMade: () => undefined };
    const inbox = await openNats({ address, credsFile: undefined, io, make });
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
    return jetstreamManager(connection);
  };
  const listOf = async <T, R>(items: AsyncIterable<T>, pick: (item: T) => R): Promise<R[]> => {
    const list: R[] = [];
    for await (const item of items) list.push(pick(item));
    return list;
  };

  test.each(inboxCases)('$name', async ({ run: check }) => {
    const address = newAddress();
    await check(() => open(address));
  });

  test('what two listeners store at the same moment, alone or with other events, is there once', async () => {
    const address = newAddress();
    const [first, second] = [await open(address), await open(address)];
    const numbers = Array.from({ length: size(100, 300) }, (_, number) => number);
    const idsOf = (number: number) => (number % 3 === 0 ? [`${number}`, `${number} too`] : [`${number}`]);
    await Promise.all(
      numbers.flatMap((number) =>
        [first, second].map((inbox, index) => {
          const path = number % 2 === 0 ? '/same' : `/${number}/${index}`;
          return inbox.store([deliveryOf(path, ...idsOf(number))]);
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

  test('events that a listener stored together are known, though it was killed before it named the second', async () => {
    const [address, copy] = [newAddress(), newAddress()];
    const manager = await otherClient();
    const [inbox, killed] = [await open(address), await open(copy)];
    await inbox.store([deliveryOf('/a', 'one', 'two')]);
    const message = await manager.streams.getMessage(address.name, { last_by_subj: `${address.name}.event.*.one` });
    if (message === null) throw new Error('the delivery is not stored');
    const subject = message.subject.replace(address.name, copy.name);
    await manager.jetstream().publish(subject, message.data, { headers: message.header });
    expect(await killed.store([deliveryOf('/a', 'one', 'two')])).toEqual([undefined]);
    expect(await listOf(killed.events({}), ({ eventId }) => eventId)).toHaveLength(2);
  });

  test('a stream that is deleted is named as that, to who stores and who forwards', async () => {
    const address = newAddress();
    const manager = await otherClient();
    const inbox = await open(address);
    const { broken, stop } = await inbox.forward({
      targets: [{ url: 'http://127.0.0.1:1/in' }],
      post: async () => taken,
      policy: () => undefined,
      onTry: () => undefined,
      onError: (error) => expect.fail(String(error)),
    });
    onTestFinished(stop);
    await inbox.store([deliveryOf('/a', 'one')]);
    await manager.streams.delete(address.name);
    const named = `the stream ${address.name} of the inbox, or a consumer of it, was deleted on the servers`;
    await expect(inbox.store([deliveryOf('/a', 'two')])).rejects.toThrow(named);
    await expect(broken).rejects.toThrow(named);
  });

  test('a stream that is not an inbox is refused and stays as it is, with the line that makes one', async () => {
    const manager = await otherClient();
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
});
