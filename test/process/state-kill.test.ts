import { expect, test } from 'vitest';
import { killBatches } from '../support/batch-kills.ts';
import { killSandbox, killSettings } from '../support/state-kills.ts';

test('12 kills while settings, aliases and keys are changed: every file is whole, nothing is lost', async () => {
  const { kills, failures } = await killSettings({ kills: 12, random: Math.random });
  expect({ kills, failures }).toEqual({ kills: 12, failures: [] });
});

test('a sandbox killed three times while four clients write to it has every write that it answered', async () => {
  const { kills, changed, failures } = await killSandbox({ kills: 3, clients: 4, random: Math.random });
  expect({ kills, failures }).toEqual({ kills: 3, failures: [] });
  expect(changed).toBeGreaterThan(0);
});

test('5 kills in batches of 10 comments, each taken up again: every comment is posted once, in order', async () => {
  const { kills, failures } = await killBatches({ kills: 5, comments: 10, random: Math.random });
  expect(failures).toEqual([]);
  expect(kills).toBeGreaterThanOrEqual(5);
});
