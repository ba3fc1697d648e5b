import { expect, test } from 'vitest';
import { answering, run } from '../../support/harness.ts';

const figures = (week: number, month: number) => ({
  ...{ pnl7d: week, roiPercent7d: week, winRate7d: 0.25, tradeCount7d: week },
  ...{ pnl30d: month, roiPercent30d: month, winRate30d: 0.75, tradeCount30d: month, commentCount30d: 0 },
});
const profile = { id: 'p', name: 'ann', addresses: [`0x${'1'.repeat(40)}`], metadata: figures(7, 30) };

test.each([
  ['', 'ROI 30d', '+30.0%', '75%', '30'],
  ['--timeframe 30d', 'ROI 30d', '+30.0%', '75%', '30'],
  ['--timeframe 7d', 'ROI 7d', '+7.0%', '25%', '7'],
])('every column of a board is of the window that was asked for: %s', async (flags, head, roi, wins, trades) => {
  const { env } = await answering({ traders: [{ profile, pnl: { total: 5, perChain: {} }, hasComments: false }] });
  const { out, code } = await run(`leaderboard list ${flags}`, { env, tty: 200 });
  const [heads = '', , row = ''] = out.split('\n');
  expect([code, heads.includes(head), row.split(/ {2,}/)]).toEqual([
    0,
    true,
    expect.arrayContaining([roi, wins, trades]),
  ]);
  const other = head === 'ROI 7d' ? '30d' : '7d';
  expect(heads).not.toContain(other);
  const csv = await run(`leaderboard list ${flags} --columns winRate7d,winRate30d --format csv`, { env });
  expect(csv.out).toBe('winRate7d,winRate30d\n0.25,0.75\n');
});

test('the old sections show the PnL of the window that was asked for', async () => {
  const entry = { ...profile, reason: { value: '1', format: 'currency' } };
  const { env } = await answering({ sections: [{ key: 'all', commenters: [entry], others: [] }] });
  for (const [flags, head] of [
    ['', 'PnL 30d, all chains'],
    ['--timeframe 7d', 'PnL 7d, all chains'],
  ])
    expect((await run(`leaderboard sections ${flags}`, { env, tty: 200 })).out.split('\n')[0]).toContain(head);
});
