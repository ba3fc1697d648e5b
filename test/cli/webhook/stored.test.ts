import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { failure, run, runJson, stub, temporaryFolder, until } from '../../support/harness.ts';
import { fillInbox, inboxFolderOf, storedIds } from '../../support/inbox.ts';
import { bodyOf, listen, send, signed } from '../../support/listening.ts';
import { long } from '../../support/size.ts';

const trader = '0x1111111111111111111111111111111111111111';
const follower = '0x2222222222222222222222222222222222222222';
const token = '0xAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA';

function eventOf(eventId: string, eventType: string, address: string) {
  const feedItem = { actor: { address, name: 'Ann' }, metadata: { tokenAddress: token, tokenSymbol: 'TKN' } };
  const event = { eventId, eventType, walletAddresses: [follower], externalIds: ['u1'], feedItem };
  return Buffer.from(JSON.stringify({ events: [event] }));
}

const hour = Date.UTC(2026, 6, 3, 12);

const folderBytes = (folder: string) =>
  readdirSync(folder).reduce(
    (sum, name) => sum + (statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0),
    0,
  );

/** A folder whose listener stored three events, an hour apart. */
async function threeEvents() {
  const folder = temporaryFolder();
  await fillInbox(folder, [
    { webhook: '/a#11111111', atMs: hour, body: eventOf('one', 'new-feed-item', trader) },
    { webhook: '/a#22222222', atMs: hour + 3_600_000, body: eventOf('two', 'copyswap', trader) },
    { webhook: '/b?x=1#11111111', atMs: hour + 7_200_000, body: eventOf('three', 'copyswap', follower) },
  ]);
  return { folder, env: { SOTRA_DATA_DIR: folder } };
}

test('webhook events finds by time, type, address, token, webhook and status, newest first', async () => {
  const { env } = await threeEvents();
  const found = async (argv: string) => {
    const events = await runJson(`webhook events ${argv}`, { env, now: hour + 9_000_000 });
    return events.map(({ eventId }: { eventId: string }) => eventId);
  };
  expect(await found('')).toEqual(['three', 'two', 'one']);
  expect(await found('--since 2026-07-03T13:00:00Z')).toEqual(['three', 'two']);
  expect(await found('--until 2026-07-03T13:00:00Z')).toEqual(['two', 'one']);
  expect(await found('--since 2h --until 1h')).toEqual(['two']);
  expect(await found('--since 2026-07-03T14:00')).toEqual(['three']);
  expect(await found('--since 1783083600 --until 1783087200000')).toEqual(['three', 'two']);
  expect(await found(`--address ${trader}`)).toEqual(['two', 'one']);
  expect(await found('--address ext:u1 --limit 1')).toEqual(['three']);
  expect(await found(`--token ${token}`)).toEqual(['three', 'two', 'one']);
  expect(await found('--webhook /a#11111111')).toEqual(['one']);
  expect(await found('--webhook /b?x=1')).toEqual(['three']);
  expect(await found('--status waiting')).toEqual([]);
  const cut = await run('webhook events --limit 2', { env });
  expect(cut.err).toBe('Older events are stored too: use --limit or --since to see them.\n');
});

test('webhook events --token finds a coin of hyperliquid, by its symbol if it has no address, and suggests one in capitals', async () => {
  const folder = temporaryFolder();
  const env = { SOTRA_DATA_DIR: folder };
  const event = (eventId: string, metadata: object) => {
    const events = [{ eventId, eventType: 'new-feed-item', feedItem: { metadata } }];
    return { body: Buffer.from(JSON.stringify({ events })) };
  };
  const perp = event('perp', { tokenAddress: '', tokenSymbol: 'SOL' });
  await fillInbox(folder, [event('eth', { tokenAddress: 'ETH' }), event('spot', { tokenAddress: '@107' }), perp]);
  const found = (token: string) => runJson(`webhook events --token ${token} --columns eventId`, { env });
  for (const [token, id] of Object.entries({ ETH: 'eth', '@107': 'spot', SOL: 'perp' }))
    expect(await found(token)).toMatchObject([{ eventId: id }]);
  expect(await found('BTC')).toEqual([]);
  expect(await run('webhook events --token eth', { env })).toEqual(failure(2, '; did you mean ETH?'));
});

test('webhook events --follow prints what comes while a listener runs, and ends with Ctrl-C', async () => {
  const { deliver, env } = await listen(temporaryFolder());
  const stopping = new AbortController();
  let out = '';
  const onOut = (text: string) => (out += text);
  await deliver(bodyOf('before'));
  const ended = run('webhook events --follow --type copyswap --format ndjson', { env, signal: stopping.signal, onOut });
  for (let n = 0; out === ''; n += 1) {
    for (const type of ['copyswap', 'new-feed-item']) expect(await deliver(bodyOf(`${type}-${n}`, type))).toBe(200);
  }
  stopping.abort();
  expect((await ended).code).toBe(130);
  const lines = out.trim().split('\n');
  expect(lines.filter((line) => !/"eventId":"copyswap-\d+"/.test(line))).toEqual([]);
  expect(new Set(lines).size).toBe(lines.length);
});

test('webhook events --wait --since prints the oldest stored event since then that fits', async () => {
  const { env } = await threeEvents();
  const waiting = await runJson('webhook events --wait 5s --since 2026-07-03T12:30:00Z', { env });
  expect(waiting).toMatchObject([{ eventId: 'two' }]);
});

test('webhook events --wait ends with exit 124 if no event that fits comes in time', async () => {
  const { env } = await threeEvents();
  for (const more of ['', '--since 2026-07-03T00:00:00Z --type copyswap-none']) {
    const waiting = await run(`webhook events --wait 30s ${more}`, { env, skipWaits: true });
    expect(waiting).toEqual(failure(124, 'error: no event matched within 30s\nhint: '));
  }
});

test('webhook show tells all of one event: headers, body, signature and each forward', async () => {
  const folder = temporaryFolder();
  const env = { SOTRA_DATA_DIR: folder };
  const target = await stub((_, response) => response.writeHead(204).end());
  const { url, stop, shown: said } = await listen(folder, `--forward-to ${target.url}/in --verbose`);
  const body = bodyOf('2f1d-one');
  const headers: Record<string, string> = { ...signed(body), 'X-Custom': 'kept' };
  await send(url, body, headers);
  await until(() => said.err.includes('-> 204'));
  await stop();
  const shown = await runJson('webhook show 2f1d', { env });
  const t = Number(/t=(\d+)/.exec(headers['Daylight-Signature'] ?? '')?.[1]);
  expect(shown).toMatchObject({
    eventId: '2f1d-one',
    eventType: 'new-feed-item',
    path: '/hook',
    status: 'forwarded',
    body,
    verification: { signedAt: t, secret: '609b97b0' },
    forwards: [{ url: `${target.url}/in`, outcome: 'forwarded', status: 204, tries: 1, error: null }],
  });
  expect(shown.headers).toContainEqual({ name: 'X-Custom', value: 'kept' });
  const human = await run('webhook show 2f1d', { env, tty: 120 });
  for (const text of ['2f1d-one', 'X-Custom', 'forwarded', '204', 'with the secret 609b97b0'])
    expect(human.out).toContain(text);
  writeFileSync(join(folder, 'other'), 'whsec_other\n', { mode: 0o600 });
  const verify = async (file: string) =>
    (await runJson(`webhook show 2f1d --secret-file ${join(folder, file)}`, { env })).verification;
  expect(await verify('secret')).toMatchObject({ valid: true });
  expect(await verify('other')).toMatchObject({ valid: false, reason: expect.stringContaining('secret') });
  expect(await run('webhook show nobody', { env })).toMatchObject({ code: 5, out: '' });
});

test('webhook forward sends what another process stores, and one process at a time may', async () => {
  const target = await stub((_, response) => response.end());
  const { deliver, env } = await listen(temporaryFolder());
  const stopping = new AbortController();
  let err = '';
  const onErr = (text: string) => (err += text);
  const argv = `webhook forward --forward-to ${target.url}`;
  const ended = run(argv, { env, signal: stopping.signal, onErr });
  await until(() => err.includes('Forwarding from default'));
  const bodies = ['a', 'b', 'c'].map((id) => bodyOf(id));
  for (const body of bodies) await deliver(body);
  await until(() => target.requests.length === 3);
  expect(target.requests.map(({ body }) => body)).toEqual(bodies);
  const inUse = failure(3, 'forwarding from the store default (--name) is in use');
  expect(await run(`${argv}/other`, { env })).toEqual(inUse);
  await deliver(bodyOf('d'));
  const statusOfNewest = async () => (await runJson('webhook events --limit 1', { env }))[0].status;
  await expect.poll(statusOfNewest).toBe('forwarded');
  stopping.abort();
  expect((await ended).code).toBe(0);
  expect(await run('webhook forward', { env })).toMatchObject({ code: 2 });
});

test('--keep removes what is older or too much, and gives its space back', async () => {
  const folder = temporaryFolder();
  const env = { SOTRA_DATA_DIR: folder };
  const large = (id: string) => Buffer.from(bodyOf(id).replace('Zo\u00eb', 'x'.repeat(100_000)));
  const many = Array.from({ length: 60 }, (_, index) => ({ atMs: Date.now(), body: large(`new-${index}`) }));
  await fillInbox(folder, [...many, { atMs: 1, body: large('old') }, { atMs: Date.now(), body: large('last') }]);
  const file = join(inboxFolderOf(folder), 'inbox.db');
  const before = statSync(file).size;
  expect(before).toBeGreaterThan(6_000_000);
  const { stop } = await listen(folder, '--keep 1d --keep 2MB');
  await until(() => statSync(file).size < 3_500_000);
  await stop();
  const ids = storedIds(folder);
  expect([ids.at(-1), ids.includes('old'), ids.length < 25]).toEqual(['last', false, true]);
  for (const wrong of ['--keep soon', '--keep 5KB', '--keep 1d --keep 2d'])
    expect((await run(`webhook listen --secret-file ${join(folder, 'secret')} ${wrong}`, { env })).code).toBe(2);
});

long('while a listener runs, the store comes back below 1.5 times what --keep allows', async () => {
  const folder = temporaryFolder();
  const { deliver } = await listen(folder, '--keep 2MB');
  for (let index = 0; index < 60; index += 1)
    expect(await deliver(bodyOf(`e${index}`).replace('Zo\u00eb', 'x'.repeat(100_000)))).toBe(200);
  expect(folderBytes(inboxFolderOf(folder))).toBeGreaterThan(5_000_000);
  await until(() => folderBytes(inboxFolderOf(folder)) < 3 * 1024 ** 2);
  expect(storedIds(folder).at(-1)).toBe('e59');
});

test('an event is known as a repeat for seven days, or for as long as --repeats-within says', async () => {
  const dayMs = 86_400_000;
  const ageOf = (days: number) => ({ atMs: Date.now() - days * dayMs, body: Buffer.from(bodyOf(`${days} days`)) });
  const receive = async (flags: string, days: number) => {
    const folder = temporaryFolder();
    await fillInbox(folder, [ageOf(days)]);
    const { deliver, stop } = await listen(folder, flags);
    expect(await deliver(bodyOf(`${days} days`))).toBe(200);
    await stop();
    return storedIds(folder).length;
  };
  expect([await receive('', 6), await receive('', 9)]).toEqual([1, 2]);
  expect([await receive('--repeats-within 1d', 3), await receive('--repeats-within 20d', 9)]).toEqual([2, 1]);
});

test('--keep and --repeats-within of a listener are usage errors with an --inbox, --replicas is one without', async () => {
  const file = join(temporaryFolder(), 'secret');
  writeFileSync(file, 'abc\n', { mode: 0o600 });
  for (const [flags, message] of [
    ['--inbox nats://127.0.0.1:1/X --keep 7d', '--keep is for a local store'],
    ['--inbox nats://127.0.0.1:1/X --repeats-within 7d', '--repeats-within is for a local store'],
    ['--inbox nats://127.0.0.1:1/X --replicas 2', '--replicas 2: must be 1, 3 or 5'],
    ['--replicas 3', '--replicas needs an inbox'],
  ] as const)
    expect(await run(`webhook listen --secret-file ${file} ${flags}`)).toEqual(failure(2, message));
});

test.each([
  ['events --since 2026-01-02 --until 2026-01-01', '--until 2026-01-01 is before --since 2026-01-02'],
  ['events --since 1h --until 2h', '--until 2h is before --since 1h'],
  ['events --since 1', '--since 1: must be a time such as 2026-07-03T12:00:00Z or how long ago, such as 1h'],
  ['events --since 20261127', '--since 20261127: must be a time such as'],
  ['events --until 2026-02-30', '--until 2026-02-30: must be a time such as'],
  ['events --address nobody', '--address nobody: must be an EVM or Solana address or ext:<id>'],
  ['events --token 0x12', '--token 0x12: must be an EVM or Solana address, or a coin'],
  ['events --until soon', '--until soon: must be a time such as'],
  ['events --status lost', '--status lost: must be one of'],
  ['events --since 24h --until 2d', '--until 2d is before --since 24h'],
  ['events --inbox-creds /tmp/x.creds', '--inbox-creds needs an inbox'],
  ['events --name ../a', 'must be letters, digits, - and _'],
])('webhook %s is a usage error', async (argv, says) => {
  expect(await run(`webhook ${argv}`)).toEqual(failure(2, says));
});

test.each(['', ' --wait 5s'])('webhook events --type x%s warns that no document names this kind', async (more) => {
  const { err } = await run(`webhook events --type newfeed-item${more}`, { skipWaits: true });
  expect(err).toMatch(/warning: --type: unknown kind of event newfeed-item; known: .* Did you mean new-feed-item\?\n/);
});

test('a password is not sent to an inbox on another machine in the clear', async () => {
  const file = join(temporaryFolder(), 'creds');
  writeFileSync(file, 'user: me\npassword: hunter2\n', { mode: 0o600 });
  const inbox = '--inbox nats://127.0.0.1:9,inbox.example.com/X';
  const message =
    'error: --inbox nats://inbox.example.com:4222: would send the password of the inbox in the clear\nhint: Use tls://;';
  expect(await run(`webhook events ${inbox} --inbox-creds ${file}`)).toEqual(failure(2, message));
});

/** A listener with another clock, or that does not wait. */
const listenAt = (folder: string, forwardTo: string, clock: { now?: number; skipWaits?: boolean }) =>
  listen(folder, `--forward-to ${forwardTo}`, undefined, {}, clock);

const sentIds = (requests: readonly { body: string }[]) =>
  requests.map(({ body }) => JSON.parse(body).events[0].eventId);

test('a new target on a store with events: stderr shows how many are not forwarded, and the command that sends them', async () => {
  const folder = temporaryFolder();
  const stored = ['one', 'two'].map((id) => ({ atMs: hour, body: Buffer.from(bodyOf(id)) }));
  await fillInbox(folder, stored);
  const target = await stub((_, response) => response.end());
  const { shown, stop } = await listen(folder, `--forward-to ${target.url}/in`);
  const line = `sotra webhook replay --since 2026-07-03T12:00:00Z --to ${target.url}/in`;
  expect(shown.err).toContain(`2 stored deliveries are not forwarded to ${target.url}/in. To send them: ${line}\n`);
  await stop();
  expect(target.requests).toEqual([]);
  const { code } = await run(line.replace('sotra ', ''), { env: { SOTRA_DATA_DIR: folder } });
  expect([code, sentIds(target.requests)]).toEqual([0, ['one', 'two']]);
  const again = await listen(folder, `--forward-to ${target.url}/in`);
  expect(again.shown.err).not.toContain('not forwarded');
});

test('a delivery that fails for a day is set aside and the next is sent; replay --failed sends it again', async () => {
  const folder = temporaryFolder();
  const env = { SOTRA_DATA_DIR: folder };
  const target = await stub(({ body }, response) => response.writeHead(body.includes('"bad"') ? 503 : 200).end());
  const now = Date.now();
  const today = await listenAt(folder, target.url, { now });
  for (const id of ['bad', 'good']) expect(await today.deliver(bodyOf(id))).toBe(200);
  await until(() => target.requests.length > 0);
  await today.stop();
  expect(today.shown.err).not.toContain('set aside');
  const before = target.requests.length;
  const tomorrow = await listenAt(folder, target.url, { now: now + 86_400_000 });
  await until(() => sentIds(target.requests).includes('good'));
  expect(sentIds(target.requests).slice(before)).toEqual(['bad', 'good']);
  expect(tomorrow.shown.err).toContain(
    `event bad was not accepted in ${before + 1} tries (HTTP 503): set aside; sotra webhook replay --failed sends it again`,
  );
  const failed = () => runJson('webhook events --status failed', { env });
  const { err } = await run('webhook events --status failed --name default', { env });
  expect(err).toBe('To send them again: sotra webhook replay --name default --failed --to <url>\n');
  expect((await run(`webhook replay --failed --to ${target.url}`, { env, skipWaits: true })).code).toBe(10);
  expect(await failed()).toMatchObject([{ eventId: 'bad' }]);
  const repaired = await stub((_, response) => response.end());
  expect((await run(`webhook replay --failed --to ${repaired.url}`, { env })).code).toBe(0);
  expect([sentIds(repaired.requests), await failed()]).toEqual([['bad'], []]);
});

test('a redirect is not followed, its Location is named, and after ten tries the delivery is set aside', async () => {
  const location = 'https://example.com/new?token=hunter2';
  const target = await stub((_, response) => response.writeHead(308, { location }).end());
  const { shown, deliver } = await listenAt(temporaryFolder(), target.url, { skipWaits: true });
  expect(await deliver(bodyOf('one'))).toBe(200);
  await until(() => shown.err.includes('set aside'));
  expect(target.requests).toHaveLength(10);
  expect(shown.err).toContain(
    'event one (HTTP 308, a redirect to https://example.com/new?token=***); it is sent again',
  );
  expect(shown.err).not.toContain('hunter2');
});
