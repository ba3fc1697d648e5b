import { expect, test } from 'vitest';
import { answering, failure, newUser, run, runJson } from '../../support/harness.ts';
import { ask, serveSandbox } from '../../support/served.ts';

const wallet = (place: number) => `0x${place.toString(16).padStart(40, '0')}`;
const star = wallet(0xfff);

test('followers come page by page, latest first, and --all walks every page once', async () => {
  const service = await serveSandbox({ kind: 'empty' });
  const followers = Array.from({ length: 7 }, (_, place) => wallet(place + 1));
  for (const follower of followers)
    expect(await run(['follow', 'add', follower, star], { env: service.envA })).toMatchObject({ code: 0 });
  const list = (flags: string): Promise<{ items: { addresses: string[] }[]; cursor: string | null }> =>
    runJson(`profile followers ${star} ${flags}`, { env: service.envA });
  const first = await list('--limit 3');
  await run(['follow', 'add', wallet(99), star], { env: service.envA });
  const second = await list(`--limit 4 --cursor ${first.cursor}`);
  expect([first.items.length, second.cursor]).toEqual([3, null]);
  const walked = [...first.items, ...second.items].map(({ addresses }) => addresses[0]);
  expect(walked.sort()).toEqual(followers);
  const all = await run(`profile followers ${star} --all --limit 2 --columns address`, { env: service.envA });
  expect(all.out.trim().split('\n').sort()).toEqual([...followers, wallet(99)].sort());
});

test('the last of eleven viewers is not sent, with a warning', async () => {
  const service = await answering({});
  const viewers = Array.from({ length: 11 }, (_, place) => wallet(place)).join(',');
  const { err } = await run(`profile get ${star} --viewer-addresses ${viewers}`, { env: service.env });
  expect(service.requests).toHaveLength(1);
  expect(err).toContain('--viewer-addresses: the service uses the first 10 only; 1 of 11 are not sent');
});

test('followers are a table of names and figures; without any, a note says so', async () => {
  const argv = '--sandbox profile followers 0xb129d76820940a14c764df8b223d8e39cf94a122 --limit 2';
  expect((await run(argv, { tty: 80 })).out).toMatch(/^Name +PnL 30d +ROI 30d +Win 30d +Trades 30d +Address\n/);
  const none = await run(`--sandbox profile followers ${star}`, { tty: 80 });
  expect(none).toEqual(failure(0, 'No followers at this partner.'));
});

test('named columns come without the tables below', async () => {
  const argv = '--sandbox profile get 0xb7b6f3cea3f66bf525f5d8f965f6dbf6d9b017b2';
  expect((await run(argv, { tty: 80 })).out).toContain('\nTrading\n');
  const named = await run(`${argv} --columns name,isFollowedByUser`, { tty: 80 });
  expect(named.out).toBe('Name      0xb7b6…17b2\nFollowed  –\n');
});

const named = '0xA4E221aa5a7ba51b5d5c7d5c923bfb9bcebcb252';
const other = '0x5180db8f5c931aae63c74266b211f580155ecac8';
const json = (value: unknown) => ({ body: JSON.stringify(value) });

test('a profile without metrics has no sentences about them', async () => {
  const images = { raw: null, xs: null, sm: null };
  const { env } = await answering({ id: 'x', name: 'y', images, addresses: [], metadata: {}, isNSFW: false });
  const { out } = await run(`profile get ${star}`, { env, tty: 80 });
  expect(out).toContain('Followers  –\nFollowing  –\nComments   –\nCopied     –\n');
});

test('what cannot be a name is refused before any request, with the reason', async () => {
  const service = await answering({});
  for (const name of ['ab', 'nineteen_characters', 'moon-cat', 'moon cat', 'mööncat', '']) {
    const refused = await run(['profile', 'set-name', named, '--name', name], { env: service.env });
    expect(refused).toEqual(failure(2, `--name ${name || '""'}: must be 3 to 18 letters, digits or underscores`));
  }
  for (const avatar of ['moon.png', 'ftp://a.example/moon.png', 'data:image/png;base64,AA', 'https://'])
    expect(await run(['profile', 'set-name', named, '--avatar-url', avatar], { env: service.env })).toEqual(
      failure(2, `--avatar-url ${avatar}: must be an http or https address`),
    );
  expect(service.requests).toEqual([]);
});

test('profile set-name without anything to change is refused', async () => {
  const refused = await run(`profile set-name ${named}`);
  expect(refused).toEqual(failure(2, 'error: one of --name, --avatar-url, --clear, --clear-avatar is required: '));
});

test('a user can be named null', async () => {
  const service = await answering({});
  await run(`profile set-name ${named} --name null`, { env: service.env });
  expect(service.requests).toMatchObject([{ method: 'PUT', body: '{"name":"null"}' }]);
});

test('absent, cleared and a value are three different things', async () => {
  const { env } = newUser();
  const nameAfter = async (argv: string) => {
    const { name, images } = await runJson(`--sandbox profile ${argv}`, { env });
    return [name, images.raw];
  };
  const picture = 'https://pictures.example/moon.png';
  const first = await nameAfter(`set-name ext:u1 --name moon_cat --avatar-url ${picture}`);
  expect(first).toEqual(['moon_cat.alpha.test', picture]);
  expect(await nameAfter('set-name ext:u1 --name Moon_Cat')).toEqual(['Moon_Cat.alpha.test', picture]);
  expect(await nameAfter('set-name ext:u1 --clear-avatar --yes')).toEqual(['Moon_Cat.alpha.test', null]);
  expect(await nameAfter(`set-name ext:u1 --avatar-url ${picture}`)).toEqual(['Moon_Cat.alpha.test', picture]);
  expect(await nameAfter('set-name ext:u1 --clear --yes')).toEqual(['u1', null]);
  expect(await nameAfter('set-name ext:u1 --name back')).toEqual(['back.alpha.test', null]);
  for (const _ of ['once', 'again']) expect(await nameAfter('delete-name ext:u1 --yes')).toEqual(['u1', null]);
});

test('a name is unique per partner whatever its case; each partner has its own suffix and its own names', async () => {
  const service = await serveSandbox({ kind: 'empty' });
  const put = (identifier: string, body: unknown, key = service.keyA) =>
    ask(service, 'PUT', `/v1/profiles/${identifier}/name`, { key, ...json(body) });
  expect(await put(named, { name: 'moon_cat' })).toMatchObject({ status: 200, body: { name: 'moon_cat.alpha.test' } });
  const taken = await run(`profile set-name ${other} --name moon_CAT`, { env: service.envA });
  expect(taken).toEqual(failure(6, 'name "moon_CAT": another profile has it (HTTP 409'));
  expect(await put(other, { name: 'MOON_cat' }, service.keyB)).toMatchObject({ body: { name: 'MOON_cat.beta.test' } });
  const { body } = await ask(service, 'GET', `/v1/addresses/${named}/profile`, { key: service.keyB });
  expect(body).toMatchObject({ name: '0xa4e2…b252' });
  expect(await put(named, { name: null })).toMatchObject({ status: 200 });
  expect(await put(other, { name: 'moon_cat' })).toMatchObject({ status: 200 });
});

test('naming or following a wallet nobody has seen starts its tracking: unnamed, backfilling, then active', async () => {
  let now = Date.UTC(2026, 6, 1);
  const service = await serveSandbox({ kind: 'empty', now: () => now });
  const statusOf = async (address: string) => {
    const { body } = await ask(service, 'GET', `/v1/addresses/${address}/profile`);
    return (body as { status: string }).status;
  };
  expect([await statusOf(named), await statusOf(other)]).toEqual(['unnamed', 'unnamed']);
  await ask(service, 'PUT', `/v1/profiles/${named}/name`, json({ name: 'moon_cat' }));
  await ask(service, 'PUT', '/v1/addresses/ext%3Au1/follow', json({ targets: [other] }));
  expect([await statusOf(named), await statusOf(other)]).toEqual(['backfilling', 'backfilling']);
  now += 9 * 60_000;
  expect(await statusOf(named)).toBe('backfilling');
  now += 60_000;
  expect([await statusOf(named), await statusOf(other)]).toEqual(['active', 'active']);
});
