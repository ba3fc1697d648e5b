import { expect, test } from 'vitest';
import { attackListener } from '../support/attacked.ts';
import { fuzzDeliveries } from '../support/fuzz-deliveries.ts';
import { size } from '../support/size.ts';

test('generated deliveries neither stop nor block a listener, and the good ones among them are stored once', async () => {
  const count = size(100, 300);
  const listener = await attackListener();
  const report = await fuzzDeliveries(listener, { count, seed: 1, maxBytes: 200_000 });
  expect(report).toMatchObject({ deliveries: count, failures: [] });
  expect(await listener.stop()).toEqual({ code: 0, signal: null });
});
