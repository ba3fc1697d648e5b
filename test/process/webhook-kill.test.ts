import { expect, test } from 'vitest';
import { killUploads } from '../support/webhook-kills.ts';

test('an upload that is killed and resumed loses no address, no secret, and makes one webhook', async () => {
  let seed = 11;
  const random = () => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed / 2_147_483_647;
  };
  const report = await killUploads({ kills: 1, addresses: 4000, parallel: 3, random });
  expect(report.failures).toEqual([]);
  expect(report.kills).toBe(1);
}, 180_000);
