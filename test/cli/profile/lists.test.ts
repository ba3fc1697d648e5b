import { expect, test } from 'vitest';
import { answering, run, temporaryFolder } from '../../support/harness.ts';
import { ask, serveSandbox } from '../../support/served.ts';

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

test('a list carries profiles without metrics and status, and each partner sees its own graph', async () => {
  const service = await serveSandbox({ kind: 'empty' });
  await run(['follow', 'add', wallet(1), star], { env: service.envA });
  const { body } = await ask(service, 'GET', `/v1/addresses/${wallet(1)}/follows`);
  expect(body).toMatchObject({ items: [{ addresses: [star], name: expect.any(String) }], cursor: null });
  const item = (body as { items: Record<string, unknown>[] }).items[0] ?? {};
  expect([Object.hasOwn(item, 'metrics'), Object.hasOwn(item, 'status')]).toEqual([false, false]);
  expect(await ask(service, 'GET', `/v1/addresses/${wallet(1)}/follows`, { key: service.keyB })).toEqual({
    status: 200,
    body: { items: [], cursor: null },
  });
});

test('the sandbox refuses cursors that it did not give, limits out of range, unknown profiles and missing keys', async () => {
  const service = await serveSandbox({ kind: 'empty' });
  const path = `/v1/addresses/${star}/followers`;
  for (const cursor of ['abc', 'MTIz', 'MTIzOmFi', '%20', Buffer.from('9:zz').toString('base64url')]) {
    const { status, body } = await ask(service, 'GET', `${path}?cursor=${cursor}`);
    expect([cursor, status]).toEqual([cursor, 400]);
    expect(body).toEqual({ error: expect.stringMatching(/^cursor /) });
  }
  expect(await ask(service, 'GET', `${path}?limit=101`)).toEqual({
    status: 400,
    body: { error: 'limit 101: must be a whole number from 1 to 100' },
  });
  const unknown = '/v1/addresses/3f0c1f5e-6a53-4d0c-9e57-0d4b1c2f7a11/follows';
  expect(await ask(service, 'GET', unknown)).toEqual({
    status: 404,
    body: { error: 'profile 3f0c1f5e-6a53-4d0c-9e57-0d4b1c2f7a11 does not exist' },
  });
  expect(await ask(service, 'GET', path, { key: null })).toMatchObject({ status: 401 });
  expect(await ask(service, 'GET', path, { key: 'nobodys' })).toMatchObject({ status: 401 });
});

test('a limit above 100 and text that is no identifier are refused before any request', async () => {
  const service = await answering({ items: [], cursor: null });
  const tooMany = await run(`profile follows ${star} --limit 101`, { env: service.env });
  expect(tooMany).toMatchObject({ code: 2, out: '' });
  expect(tooMany.err).toContain('--limit 101: must be a whole number from 1 to 100');
  const nobody = await run('profile followers 0x12', { env: service.env });
  expect(nobody.code).toBe(2);
  expect(nobody.err).toContain('<identifier> 0x12: has 2 hex digits, 40 are needed');
  const viewers = Array.from({ length: 11 }, (_, place) => wallet(place)).join(',');
  const eleven = await run(`profile get ${star} --viewer-addresses ${viewers}`, { env: service.env });
  expect(service.requests).toHaveLength(1);
  expect(eleven.err).toContain('--viewer-addresses: the service uses the first 10 only; 1 of 11 are not sent');
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
