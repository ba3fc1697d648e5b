import { expect, test } from 'vitest';
import { databaseCases, fileCases, keyCases } from '../support/hostile/kill-cases.ts';
import { killEverywhere } from '../support/hostile/kill-points.ts';

// An import has some 60,000 statements.
const statements = Number(process.env['PROVE_STATEMENTS'] ?? 10);

test.each([...fileCases, ...keyCases])('$name, killed at every call that writes', async (one) => {
  const report = await killEverywhere(one);
  process.stdout.write(`${JSON.stringify(report)}\n`);
  expect(report.failures).toEqual([]);
});

test.each(databaseCases)('$name, killed at its statements', async (one) => {
  const report = await killEverywhere(one, { most: statements });
  process.stdout.write(`${JSON.stringify(report)}\n`);
  expect(report.failures).toEqual([]);
  expect(report.points).toBeGreaterThan(10);
});

test.each(fileCases)(
  '$name, killed at some of its calls that write, after one that was killed with the lock in its hands',
  async (one) => {
    const report = await killEverywhere(one, { most: 3, twice: true });
    process.stdout.write(`${JSON.stringify(report)}\n`);
    expect(report.failures).toEqual([]);
  },
);
