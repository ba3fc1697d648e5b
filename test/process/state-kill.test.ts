import { expect, test } from 'vitest';
import { killBatches } from '../support/batch-kills.ts';
import { killSandbox, killSettings } from '../support/state-kills.ts';

test('kills while settings, aliases and keys are changed: every file is whole, nothing is lost', async () => {
  const { kills, failures } = await killSettings({ kills: 3, random: Math.random });
  expect({ kills, failures }).toEqual({ kills: 3, failures: [] });
});

test('a sandbox killed while four clients write to it has every write that it answered', async () => {
  const { kills, changed, failures } = await killSandbox({ kills: 1, clients: 4, random: Math.random });
  expect({ kills, failures }).toEqual({ kills: 1, failures: [] });
  expect(changed).toBeGreaterThan(0);
});

test('a batch of comments that is killed and taken up again: every comment is posted once, in order', async () => {
  const { kills, failures } = await killBatches({ kills: 1, comments: 6, random: Math.random });
  expect(failures).toEqual([]);
  expect(kills).toBeGreaterThanOrEqual(1);
});
