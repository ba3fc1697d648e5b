import { expect, test } from 'vitest';
import { databaseCases, fileCases, keyCases } from '../support/hostile/kill-cases.ts';
import { killEverywhere } from '../support/hostile/kill-points.ts';
import { isProof, size, some } from '../support/size.ts';

const everyCall = Number.POSITIVE_INFINITY;
/** An import has some 60,000 statements. */
const statements = Number(process.env['PROVE_STATEMENTS'] ?? 10);
const named = (name: string) => fileCases.filter((one) => one.name === name);
/** Without the proof one of those that send: quicker than those that seal a key. */
const others = [...fileCases, ...keyCases]
  .filter(({ name }) => name !== 'leaderboard list')
  .filter(({ name }) => isProof || !/context|alias|key/.test(name));

test.each(named('leaderboard list'))('$name, killed at calls that write: the log of calls can be read', async (one) => {
  const report = await killEverywhere(one, { most: size(1, everyCall) });
  expect(report).toMatchObject({ name: one.name, points: 7, failures: [] });
  expect(report.kills).toBeGreaterThan(0);
});

test.each(some(others, 1))(
  '$name, killed at calls that write: what it had said is there, and the next run completes it',
  async (one) => {
    const report = await killEverywhere(one, { most: size(1, everyCall) });
    expect(report.failures).toEqual([]);
    expect(report.kills).toBeGreaterThanOrEqual(size(1, report.points / 2));
  },
);

test.each(isProof ? fileCases : named('context set'))(
  '$name, killed at some of its calls that write, after one that was killed with the lock in its hands: the third goes on',
  async (one) => {
    const report = await killEverywhere(one, { most: size(1, 3), twice: true });
    expect(report.failures).toEqual([]);
    expect(report.kills).toBeGreaterThan(0);
  },
);

test.each(some(databaseCases, 0))('$name, killed at its statements', async (one) => {
  const report = await killEverywhere(one, { most: statements });
  expect(report.failures).toEqual([]);
  expect(report.points).toBeGreaterThan(10);
});
