import { expect, test } from 'vitest';
import { killSandbox } from '../support/state-kills.ts';

test('a sandbox killed while four clients write to it has every write that it answered', async () => {
  const { kills, changed, failures } = await killSandbox({ kills: 1, clients: 4, random: Math.random });
  expect({ kills, failures }).toEqual({ kills: 1, failures: [] });
  expect(changed).toBeGreaterThan(0);
});
