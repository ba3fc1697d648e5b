import { expect, test } from 'vitest';
import { killUploads } from '../support/webhook-kills.ts';

const kills = Number(process.env['PROVE_KILLS'] ?? 60);

test(`${kills} kills at random moments of a 10,000-address upload, each resumed to its end`, async () => {
  const report = await killUploads({ kills, addresses: 10_000, parallel: 4, random: Math.random });
  process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
  expect(report.failures).toEqual([]);
  expect(report.kills).toBe(kills);
});
