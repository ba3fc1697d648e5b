import { expect, test } from 'vitest';
import { answering, newUser, run, runJson } from '../../support/harness.ts';
import { ask, serveSandbox } from '../../support/served.ts';

const figures = (week: number, month: number) => ({
  pnl7d: week,
  roiPercent7d: week,
  winRate7d: 0.25,
  tradeCount7d: week,
  pnl30d: month,
  roiPercent30d: month,
  winRate30d: 0.75,
  tradeCount30d: month,
  commentCount30d: 0,
});
const profile = { id: 'p', name: 'ann', addresses: [`0x${'1'.repeat(40)}`], metadata: figures(7, 30) };

test.each([
  ['', 'ROI 30d', '+30.0%', '75%', '30'],
  ['--timeframe 7d', 'ROI 7d', '+7.0%', '25%', '7'],
])('every column of a board is of the window that was asked for: %s', async (flags, head, roi, wins, trades) => {
  const { env } = await answering({ traders: [{ profile, pnl: { total: 5, perChain: {} }, hasComments: false }] });
  const { out } = await run(`leaderboard list ${flags}`, { env, tty: 200 });
  const [heads = '', , row = ''] = out.split('\n');
  const cells = row.split(/ {2,}/);
  expect([heads, cells]).toEqual([expect.stringContaining(head), expect.arrayContaining([roi, wins, trades])]);
  expect(heads).not.toContain(head === 'ROI 7d' ? '30d' : '7d');
  const csv = await run(`leaderboard list ${flags} --columns winRate7d,winRate30d --format csv`, { env });
  expect(csv.out).toBe('winRate7d,winRate30d\n0.25,0.75\n');
});

test('with one chain the PnL is shown once, and a name is whole even if the address has no room', async () => {
  const named = { ...profile, name: 'mossyledger.alpha.test' };
  const pnl = { total: 412_000.22, perChain: { base: 412_000.22 } };
  const { env } = await answering({ traders: [{ profile: named, pnl, hasComments: false }] });
  const rows = async (flags: string, tty: number) =>
    (await run(`leaderboard list ${flags}`, { env, tty })).out.split('\n').map((line) => line.trim().split(/ {2,}/));
  expect(await rows('--chains base', 60)).toEqual([
    ['#', 'Trader', 'PnL', 'ROI 30d', 'Win 30d'],
    [expect.stringMatching(/^─+$/)],
    ['1', 'mossyledger.alpha.test', '+$412,000.22', '+30.0%', '75%'],
    [''],
  ]);
  expect((await rows('--chains base', 200))[0]).not.toContain('Base');
  expect((await rows('--chains base,solana', 200))[0]).toContain('Base');
  expect((await run('leaderboard list --chains base --columns baseUsd', { env })).out).toBe('412000.22\n');
  const rank = await answering({ ranking: 3, pnl });
  expect((await run('leaderboard rank ext:1 --chains base', { env: rank.env, tty: 80 })).out).toBe(
    'Rank  #3\nPnL   +$412,000.22\n',
  );
});

test('the ranks and names of a board that is too long for the log are known', async () => {
  const wallet = (n: number) => `0x${String(n).padStart(40, '0')}`;
  const traders = Array.from({ length: 250 }, (_, n) => ({
    profile: { name: `trader-${n + 1}`, addresses: [wallet(n + 1)], metadata: { bio: 'b'.repeat(2000) } },
    pnl: { total: 1000 - n, perChain: {} },
  }));
  const env = { ...(await answering({ traders })).env, ...newUser().env };
  await run('leaderboard list --limit 250', { env });
  const kept = await runJson('history show 1', { env });
  expect(kept.response.cut.bytes).toBeGreaterThan(500_000);
  for (const name of ['#250', 'trader-250']) {
    const { err } = await run(`profile get ${name} --curl`, { env });
    expect([name, err]).toEqual([name, expect.stringContaining(`is ${wallet(250)}.`)]);
  }
});

test('a chart of more than nine traders has their names below each other', async () => {
  const { out } = await run('--sandbox leaderboard list --limit 10 --chart', { tty: 80 });
  expect(out).toMatch(/^ 1 mossyledger/m);
  expect(out).toMatch(/^10 0x0cf2/m);
});

test('a board cut by --limit says how many are shown and the largest limit; a whole board says nothing', async () => {
  const errOf = async (argv: string) => (await run(`--sandbox leaderboard ${argv}`)).err;
  expect(await errOf('list --limit 5')).toBe('Showing 5; more with --limit (max 250)\n');
  expect(await errOf('copytraded --limit 2')).toContain('Showing 2; more with --limit (max 250)\n');
  expect(await errOf('list')).toBe('');
  expect(await errOf('list --limit 250')).toBe('');
});

test('a table that is too wide for the terminal says how many columns it hides', async () => {
  const errOf = async (argv: string, tty: number) => (await run(`--sandbox ${argv}`, { tty })).err;
  expect(await errOf('leaderboard list', 80)).toBe('5 columns hidden, see --columns\n');
  expect(await errOf('leaderboard list', 200)).toBe('');
  expect(await errOf('leaderboard list --columns name,address,solanaUsd', 80)).toBe('');
  expect(await errOf('leaderboard list --quiet', 80)).toBe('');
  expect(await errOf('position get 6527ff56-9ac0-5c42-812c-d84aa9a0cf53', 80)).toBe('3 columns hidden, see --json\n');
});

const authors = ['0x00000000000000000000000000000000000000a1', '0x00000000000000000000000000000000000000a2'] as const;
const copiers = ['0x00000000000000000000000000000000000000c1', '0x00000000000000000000000000000000000000c2'] as const;
const day = 86_400_000;

/** A world with two authors, one comment each, and copies of them. */
async function copied(nowMs: number) {
  const service = await serveSandbox({ kind: 'empty', now: () => nowMs });
  const { db } = service;
  for (const [place, author] of authors.entries()) {
    await ask(service, 'GET', `/v1/addresses/${author}/profile`);
    db.run(
      `INSERT INTO comment (id, trade_id, partner_id, chain, token, transaction_hash, wallet, text, at_ms) VALUES (?, ?, 'a', ?, 't', 'h', ?, 'gm', ?)`,
      [`comment${place}`, place, place === 0 ? 'base' : 'solana', author, nowMs - 40 * day],
    );
  }
  const copies = [
    [0, copiers[0], 100, 1],
    [0, copiers[0], 50, 2],
    [0, copiers[1], 25.5, 29],
    [1, copiers[1], 400, 3],
    [1, copiers[1], 9000, 31],
  ] as const;
  for (const [place, [comment, wallet, usd, daysAgo]] of copies.entries())
    db.run(`INSERT INTO copy (id, comment_id, partner_id, wallet, usd, at_ms) VALUES (?, ?, 'a', ?, ?, ?)`, [
      ...[`copy${place}`, `comment${comment}`, wallet, usd, nowMs - daysAgo * day],
    ]);
  return service;
}

test('traders are ranked by what was copied from them in 30 days, with copies, copiers and volume', async () => {
  const service = await copied(Date.UTC(2026, 6, 1));
  const answer = await runJson('leaderboard copytraded --strict', { env: service.envA });
  expect(answer).toMatchObject({ periodStartUnix: 1780272000, periodEndUnix: 1782864000, ranking: null });
  expect(answer.traders).toMatchObject([
    { profile: { addresses: [authors[1]] }, copytrades: { count: 1, distinctActors: 1, volumeUSD: 400 } },
    { profile: { addresses: [authors[0]] }, copytrades: { count: 3, distinctActors: 2, volumeUSD: 175.5 } },
  ]);
});

test('--address gives a place, --chains counts copies there alone, --limit cuts, --viewer-addresses fills followed', async () => {
  const service = await copied(Date.UTC(2026, 6, 1));
  const asked = (flags: string) => runJson(`leaderboard copytraded ${flags}`, { env: service.envA });
  expect((await asked(`--address ${authors[0]}`)).ranking).toBe(2);
  expect((await asked(`--address ${authors[0]} --chains base`)).ranking).toBe(1);
  expect((await asked(`--address ${authors[0]} --chains solana,ethereum`)).ranking).toBe(null);
  expect(await asked(`--address ${copiers[0]} --limit 1`)).toMatchObject({ ranking: null, traders: [{}] });
  await run(`follow add ext:me ${authors[0]}`, { env: service.envA });
  const followed = await asked('--viewer-addresses ext:me');
  expect(followed.traders.map((one: { isFollowedByUser: boolean }) => one.isFollowedByUser)).toEqual([false, true]);
});

test('a board of copied traders shows its period, and whether --address is on it', async () => {
  const nobody = '0x00000000000000000000000000000000000000ff';
  const { out, err } = await run(`--sandbox leaderboard copytraded --limit 2 --address ${nobody}`, { tty: 80 });
  expect(out.split('\n')[0]).toMatch(/^# +Trader +Copied +Copies +Copiers +PnL +ROI 30d$/);
  expect(out.trim().split('\n')).toHaveLength(4);
  expect(err).toMatch(/Copies from \d{4}-\d\d-\d\d .*Z to \d{4}-\d\d-\d\d .*Z\./);
  expect(err).toContain(`${nobody} is not on it.`);
});
