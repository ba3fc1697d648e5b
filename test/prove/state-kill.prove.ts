import { expect, test } from 'vitest';
import { killBatches } from '../support/batch-kills.ts';
import { killSandbox, killSettings } from '../support/state-kills.ts';

const settingsKills = Number(process.env['PROVE_KILLS'] ?? 40);
const sandboxKills = Number(process.env['PROVE_SANDBOX_KILLS'] ?? 15);

test(`${settingsKills} kills at random moments of changes to settings, aliases and keys`, async () => {
  const report = await killSettings({ kills: settingsKills, random: Math.random });
  process.stdout.write(`${JSON.stringify(report)}\n`);
  expect(report.failures).toEqual([]);
});

test(`${sandboxKills} kills of a sandbox while eight clients write to it`, async () => {
  const report = await killSandbox({ kills: sandboxKills, clients: 8, random: Math.random });
  process.stdout.write(`${JSON.stringify(report)}\n`);
  expect(report.failures).toEqual([]);
});

test(`${Math.ceil(settingsKills / 3)} kills in batches of 20 comments, each taken up again to its end`, async () => {
  const report = await killBatches({ kills: Math.ceil(settingsKills / 3), comments: 20, random: Math.random });
  process.stdout.write(`${JSON.stringify(report)}\n`);
  expect(report.failures).toEqual([]);
});
