import { expect, test } from 'vitest';
import type { Card } from '../../../src/api/answers.ts';
import { realizedOverTime } from '../../../src/api/holding.ts';
import { run, temporaryFolder } from '../../support/harness.ts';

test('the line of a trader ends at the sum of what its positions realized, on spot and perps, long and short', async () => {
  const env = { SOTRA_DATA_DIR: temporaryFolder() };
  const { out: board } = await run('--sandbox leaderboard list --json', { env });
  let shorts = 0;
  for (const { profile } of JSON.parse(board).traders.slice(0, 12)) {
    const cards: Card[] = [];
    for (const status of ['open', 'closed']) {
      const argv = `--sandbox profile positions ${profile.id} ${status} --chains all --limit 100 --json`;
      cards.push(...JSON.parse((await run(argv, { env })).out));
    }
    // Tokens held before the first known trade have no cost here.
    const whole = cards.filter(({ metadata }) => metadata.positionStats.unavailable !== true);
    shorts += whole.filter(({ metadata }) => metadata.perpPositionType === 'short').length;
    const told = whole.reduce((sum, { metadata }) => sum + metadata.positionStats.realizedGainsUSD, 0);
    expect([profile.name, realizedOverTime(whole).at(-1)?.value ?? 0]).toEqual([profile.name, expect.closeTo(told, 2)]);
  }
  expect(shorts).toBeGreaterThan(0);
});
