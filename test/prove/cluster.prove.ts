import { expect, test } from 'vitest';
import { type Fault, proveCluster } from '../support/nats-proof.ts';
import { findNats, natsInstall } from '../support/nats-server.ts';

/** `.ci/run` sends fewer. */
const deliveries = Number(process.env['SOTRA_CLUSTER_DELIVERIES'] ?? 20_000);
const name = 'deliveries to three listeners of a cluster while servers, listeners and forwarders fail';

const all: readonly Fault[] = [
  { what: 'kill-server', seconds: 6 },
  { what: 'kill-server', seconds: 6 },
  { what: 'kill-listener' },
  { what: 'kill-forwarder' },
  { what: 'freeze-server', seconds: 1 },
  { what: 'freeze-server', seconds: 6 },
  { what: 'freeze-server', seconds: 20 },
  { what: 'cut-off-server', seconds: 10 },
];

test.skipIf(findNats() === undefined)(
  findNats() === undefined ? `${name}: skipped, ${natsInstall}` : name,
  async () => {
    const faults = all
      .map((fault) => ({ fault, order: Math.random() }))
      .sort((a, b) => a.order - b.order)
      .map(({ fault }) => fault);
    const report = await proveCluster({
      ...{ servers: 3, listeners: 3, forwarders: 3, deliveries, webhooks: 40, targets: 2, faults },
    });
    process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
    expect(report).toMatchObject({
      acknowledged: deliveries,
      stored: deliveries,
      storedTwice: 0,
      lost: [],
      disagreeing: [],
      outOfOrder: [],
    });
    expect(report.targets.map(({ got, missing }) => [got, missing])).toEqual([
      [deliveries, []],
      [deliveries, []],
    ]);
    expect(report.takeoverSeconds).toBeLessThan(10);
  },
  1_800_000,
);
