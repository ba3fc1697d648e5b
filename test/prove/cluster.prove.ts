import { expect, test } from 'vitest';
import { proveCluster } from '../support/nats-proof.ts';
import { findNats, natsInstall } from '../support/nats-server.ts';

/** `.ci/run` sends fewer. */
const deliveries = Number(process.env['SOTRA_CLUSTER_DELIVERIES'] ?? 20_000);
const name = 'deliveries to three listeners of a cluster while servers, listeners and forwarders are killed';

test.skipIf(findNats() === undefined)(
  findNats() === undefined ? `${name}: skipped, ${natsInstall}` : name,
  async () => {
    const report = await proveCluster({
      servers: 3,
      listeners: 3,
      forwarders: 3,
      deliveries,
      webhooks: 40,
      targets: 2,
      faults: [
        { at: 0.1, what: 'kill-server' },
        { at: 0.3, what: 'kill-listener' },
        { at: 0.4, what: 'pause-server' },
        { at: 0.6, what: 'kill-forwarder' },
        { at: 0.7, what: 'kill-server' },
      ],
      random: Math.random,
    });
    process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
    expect(report).toMatchObject({
      acknowledged: deliveries,
      stored: deliveries,
      storedTwice: 0,
      messages: deliveries,
      lost: [],
      disagreeing: [],
      outOfOrder: [],
    });
    expect(report.targets.map(({ got, missing }) => [got, missing])).toEqual([
      [deliveries, []],
      [deliveries, []],
    ]);
  },
  1_800_000,
);
