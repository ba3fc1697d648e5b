import { expect, test } from 'vitest';
import { databaseCases, fileCases, keyCases } from '../support/hostile/kill-cases.ts';
import { killEverywhere } from '../support/hostile/kill-points.ts';

/** An import has some 60,000 statements. */
const statements = Number(process.env['PROVE_STATEMENTS'] ?? 10);

test.each([...fileCases, ...keyCases])(
  '$name, killed at each call that writes: all that it reported is there, and the next run completes it',
  async (one) => {
    const report = await killEverywhere(one);
    expect(report.failures).toEqual([]);
    expect(report.kills).toBeGreaterThanOrEqual(report.points / 2);
  },
);

test.each(fileCases)(
  '$name, killed at some calls after a run that was killed holding the lock: the third goes on',
  async (one) => {
    const report = await killEverywhere(one, { most: 3, twice: true });
    expect(report.failures).toEqual([]);
    expect(report.kills).toBeGreaterThan(0);
  },
);

test.each(databaseCases)('$name, killed at its statements', async (one) => {
  const report = await killEverywhere(one, { most: statements });
  expect(report.failures).toEqual([]);
  expect(report.points).toBeGreaterThan(10);
});
