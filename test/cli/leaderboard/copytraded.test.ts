import { expect, test } from 'vitest';
import { answering, run, temporaryFolder } from '../../support/harness.ts';
import { ask, serveSandbox } from '../../support/served.ts';

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
    db.run('INSERT INTO copy (id, comment_id, partner_id, wallet, usd, at_ms) VALUES (?, ?, ?, ?, ?, ?)', [
      `copy${place}`,
      `comment${comment}`,
      'a',
      wallet,
      usd,
      nowMs - daysAgo * day,
    ]);
  return service;
}

test('traders are ranked by what was copied from them in 30 days, with copies, copiers and volume', async () => {
  const nowMs = Date.UTC(2026, 6, 1);
  const service = await copied(nowMs);
  const { out, code, err } = await run('leaderboard copytraded --json --strict', { env: service.envA });
  expect({ code, err }).toEqual({ code: 0, err: '' });
  const answer = JSON.parse(out);
  expect(answer).toMatchObject({ periodStartUnix: 1780272000, periodEndUnix: 1782864000, ranking: null });
  expect(
    answer.traders.map((one: { profile: { addresses: string[] }; copytrades: unknown }) => [
      one.profile.addresses[0],
      one.copytrades,
    ]),
  ).toEqual([
    [authors[1], { count: 1, distinctActors: 1, volumeUSD: 400 }],
    [authors[0], { count: 3, distinctActors: 2, volumeUSD: 175.5 }],
  ]);
  expect(answer.traders[0]).toMatchObject({
    pnl: { total: 0, perChain: {} },
    hasComments: false,
    profile: { status: 'unnamed' },
  });
  expect(answer.traders[0]).not.toHaveProperty('isFollowedByUser');
});

test('--address gives a place, --chains counts copies there alone, --limit cuts, --viewer-addresses fills followed', async () => {
  const service = await copied(Date.UTC(2026, 6, 1));
  const asked = async (flags: string) =>
    JSON.parse((await run(`leaderboard copytraded --json ${flags}`, { env: service.envA })).out);
  expect((await asked(`--address ${authors[0]}`)).ranking).toBe(2);
  expect((await asked(`--address ${authors[0]} --chains base`)).ranking).toBe(1);
  expect((await asked(`--address ${authors[0]} --chains solana,ethereum`)).ranking).toBe(null);
  expect(await asked(`--address ${copiers[0]} --limit 1`)).toMatchObject({ ranking: null, traders: [{}] });
  await run(`follow add ext:me ${authors[0]}`, { env: service.envA });
  const followed = await asked('--viewer-addresses ext:me');
  expect(followed.traders.map((one: { isFollowedByUser: boolean }) => one.isFollowedByUser)).toEqual([false, true]);
});

test('people see the board, its period and the place asked for', async () => {
  const env = { SOTRA_DATA_DIR: temporaryFolder() };
  const nobody = '0x00000000000000000000000000000000000000ff';
  const { code, out, err } = await run(`--sandbox leaderboard copytraded --limit 2 --address ${nobody}`, {
    env,
    tty: 80,
  });
  expect(code).toBe(0);
  expect(out.split('\n')[0]).toMatch(/^# +Trader +Copied +Copies +Copiers +PnL +ROI 30d$/);
  expect(out.trim().split('\n')).toHaveLength(4);
  expect(err).toMatch(/Copies from \d{4}-\d\d-\d\d .*Z to \d{4}-\d\d-\d\d .*Z\./);
  expect(err).toContain(`${nobody} is not on it.`);
});

test('the old sections warn once and name the command that takes their place', async () => {
  const service = await answering({ sections: [] });
  const { code, err } = await run('leaderboard sections --sections chain-solana', { env: service.env });
  expect([code, err.match(/is deprecated/g)?.length]).toEqual([0, 1]);
  expect(err).toContain('use leaderboard list, with --chains <x> for section chain-<x>');
});
