import { expect, test } from 'vitest';
import { proveCluster } from '../support/nats-proof.ts';
import { findNats, natsInstall } from '../support/nats-server.ts';

const name =
  'what listeners of a cluster acknowledge is stored once and forwarded in order, while a server and a forwarder fail';

test.skipIf(findNats() === undefined)(
  findNats() === undefined ? `${name}: skipped, ${natsInstall}` : name,
  async () => {
    const deliveries = 400;
    const report = await proveCluster({
      ...{ servers: 3, listeners: 2, forwarders: 2, deliveries, webhooks: 8, targets: 1 },
      faults: [{ what: 'freeze-server', seconds: 1 }, { what: 'kill-forwarder' }],
    });
    expect(report).toMatchObject({
      ...{ acknowledged: deliveries, stored: deliveries, storedTwice: 0, lost: [], disagreeing: [], outOfOrder: [] },
      targets: [{ got: deliveries, missing: [] }],
    });
  },
);
