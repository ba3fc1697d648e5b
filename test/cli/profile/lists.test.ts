import { expect, test } from 'vitest';
import { answering, run, temporaryFolder } from '../../support/harness.ts';
import { serveSandbox } from '../../support/served.ts';

const wallet = (place: number) => `0x${place.toString(16).padStart(40, '0')}`;
const star = wallet(0xfff);

test('followers come page by page, latest first, and --all walks every page once', async () => {
  const service = await serveSandbox({ kind: 'empty' });
  const followers = Array.from({ length: 7 }, (_, place) => wallet(place + 1));
  for (const follower of followers)
    expect(await run(['follow', 'add', follower, star], { env: service.envA })).toMatchObject({ code: 0 });
  const addressesOf = (out: string) => JSON.parse(out).items.map((item: { addresses: string[] }) => item.addresses[0]);
  const first = await run(`profile followers ${star} --limit 3 --json`, { env: service.envA });
  expect(addressesOf(first.out)).toHaveLength(3);
  expect(first.err).toMatch(/^Showing \d+; more with --cursor \S+ or --all$/m);
  const { cursor } = JSON.parse(first.out);
  await run(['follow', 'add', wallet(99), star], { env: service.envA });
  const second = await run(`profile followers ${star} --limit 4 --cursor ${cursor} --json`, { env: service.envA });
  expect(JSON.parse(second.out).cursor).toBe(null);
  expect([...addressesOf(first.out), ...addressesOf(second.out)].sort()).toEqual(followers);
  const all = await run(`profile followers ${star} --all --limit 2 --format csv --columns address`, {
    env: service.envA,
  });
  expect(all.out.trim().split('\n').slice(1).sort()).toEqual([...followers, wallet(99)].sort());
  const some = await run(`profile followers ${star} --max 5 --format csv --columns address`, { env: service.envA });
  expect(some.out.trim().split('\n')).toHaveLength(6);
  expect(some.err).toContain('There is more: stopped after 5 items (--max).');
});

test('of eleven viewers the last is not sent, with a warning', async () => {
  const service = await answering({});
  const viewers = Array.from({ length: 11 }, (_, place) => wallet(place)).join(',');
  const { err } = await run(`profile get ${star} --viewer-addresses ${viewers}`, { env: service.env });
  expect(service.requests).toHaveLength(1);
  expect(err).toContain('--viewer-addresses: the service uses the first 10 only; 1 of 11 are not sent');
});

test('people see who follows whom at a glance, and that nobody does', async () => {
  const env = { SOTRA_DATA_DIR: temporaryFolder() };
  const shown = await run('--sandbox profile followers 0xb129d76820940a14c764df8b223d8e39cf94a122 --limit 2', {
    env,
    tty: 80,
  });
  expect(shown.out.split('\n')[0]).toMatch(/^Name +PnL 30d +ROI 30d +Win 30d +Trades 30d +Address$/);
  const none = await run(`--sandbox profile followers ${star}`, { env, tty: 80 });
  expect(none).toMatchObject({ code: 0, out: '' });
  expect(none.err).toContain('No followers at this partner.');
});

test('named columns come without the tables below', async () => {
  const argv = '--sandbox profile get 0xb7b6f3cea3f66bf525f5d8f965f6dbf6d9b017b2';
  const whole = await run(argv, { tty: 80 });
  expect(whole.out).toContain('\nTrading\n');
  const named = await run(`${argv} --columns name,isFollowedByUser`, { tty: 80 });
  expect(named.out).toBe('Name      0xb7b6…17b2\nFollowed  –\n');
});
