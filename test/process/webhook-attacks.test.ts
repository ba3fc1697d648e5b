import { expect, test } from 'vitest';
import { attackListener } from '../support/attacked.ts';
import { fuzzDeliveries } from '../support/fuzz-deliveries.ts';

test('300 generated deliveries neither stop nor block a listener, and the good ones among them are stored once', async () => {
  const listener = await attackListener();
  const report = await fuzzDeliveries(listener, { count: 300, seed: 1, maxBytes: 200_000 });
  expect(report).toMatchObject({ deliveries: 300, failures: [] });
  expect(await listener.stop()).toEqual({ code: 0, signal: null });
});
