import { expect, test } from 'vitest';
import { fileCases } from '../support/hostile/kill-cases.ts';
import { killEverywhere } from '../support/hostile/kill-points.ts';
import { size, some } from '../support/size.ts';

const named = (name: string) => fileCases.filter((one) => one.name === name);

test.each(named('leaderboard list'))(
  '$name, killed at some of its calls that write: the log of calls can be read',
  async (one) => {
    const report = await killEverywhere(one, { most: size(1, 10) });
    expect(report).toMatchObject({ name: one.name, points: 7, failures: [] });
    expect(report.kills).toBeGreaterThanOrEqual(size(1, 10));
  },
);

test.each(
  some(
    fileCases.filter(({ name }) => !/leaderboard|context|alias/.test(name)),
    1,
  ),
)(
  '$name, killed at some of its calls that write: what it had said is there, and the next run completes it',
  async (one) => {
    const report = await killEverywhere(one, { most: 1 });
    expect(report.failures).toEqual([]);
    expect(report.kills).toBeGreaterThan(0);
  },
);

test.each(named('context set'))(
  '$name, killed while it takes over the lock of one that was killed: the third goes on',
  async (one) => {
    const report = await killEverywhere(one, { most: 1, twice: true });
    expect(report.failures).toEqual([]);
    expect(report.kills).toBeGreaterThan(0);
  },
);
