import { expect, test } from 'vitest';
import { flood } from '../support/webhook-flood.ts';

test('20,000 deliveries, the target failing a third of the time, the listener killed a hundred times: none is lost, none is stored twice', async () => {
  const kills = Array.from({ length: 100 }, (_, index) => (index + 1) / 101);
  const report = await flood({ trades: 2000, webhooks: 10, killAt: kills });
  process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
  expect(report).toMatchObject({
    deliveries: 20_000,
    delivered: 20_000,
    failed: 0,
    stored: 20_000,
    storedTwice: 0,
    forwarded: 20_000,
    kills: 100,
    outOfOrder: [],
  });
}, 1_800_000);
