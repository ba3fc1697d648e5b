import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, onTestFinished, test } from 'vitest';
import type { Inbox } from '../../../../../../src/resources/webhook/receive/inbox.ts';
import { planInbox } from '../../../../../../src/resources/webhook/receive/nats/create.ts';
import { openNats } from '../../../../../../src/resources/webhook/receive/nats/nats-inbox.ts';
import { inboxCases } from '../../../../../support/inbox-cases.ts';
import { findNats, natsInstall, startCluster } from '../../../../../support/nats-server.ts';

const world = { now: Date.now, sleep: (ms: number, signal: AbortSignal) => delay(ms, undefined, { signal }) };
const shape = { replicas: 1, keepMs: 0, maxBytes: -1, duplicateWindowMs: 120_000 };

describe.skipIf(findNats() === undefined)(`the inbox on a server (${findNats() ? 'found' : natsInstall})`, () => {
  let cluster: Awaited<ReturnType<typeof startCluster>>;
  beforeAll(async () => {
    cluster = await startCluster(1);
  });
  afterAll(() => cluster.end());
  let count = 0;

  const newAddress = async () => {
    count += 1;
    const address = { servers: [`127.0.0.1:${cluster.servers[0]?.port}`], tls: false, name: `T${count}` };
    const plan = await planInbox(address, undefined, shape);
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
});
