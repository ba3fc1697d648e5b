import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { failure, run, runJson, serve, temporaryFolder, until } from '../../support/harness.ts';
import { ask, sendRaw, serveSandbox } from '../../support/served.ts';

const cat = '0x00000000000000000000000000000000000000c1';
const dog = '0x00000000000000000000000000000000000000d0';
const authorization = 'Bearer sandbox-key-a';

/** `sandbox start` in this process, stopped when the test ends. */
async function started(flags = '') {
  const folder = temporaryFolder();
  const env = { SOTRA_DATA_DIR: folder, SOTRA_CONFIG_DIR: folder };
  const { ready, file, ended, shown } = await serve(`sandbox start --port 0 --empty ${flags}`, { env });
  const get = (path: string, headers: Record<string, string> = { authorization }) =>
    fetch(ready.url + path, { headers });
  return { env, ready, file, ended, get, printed: () => shown.err };
}

test.each([
  ['/v2/leaderboard?chain=base&chains[]=base&limit=3', 'chain,chains[]'],
  ['/v2/leaderboard?constructor=1&__proto__=2&limit=3', 'constructor,__proto__'],
  ['/v2/leaderboard?a%2Cb=1&%00%ff=2&k%C3%A4se=3', 'a%2Cb,%00%EF%BF%BD,k%C3%A4se'],
  [`/v1/feed/actor?identifier=${cat}&address=${dog}`, 'address'],
  ['/v1/leaderboard?sections=base&sections=nfts&sections=all', 'sections=nfts'],
  ['/v2/leaderboard?chains=base&limit=3', null],
])('%s names what it ignored: %s', async (path, ignored) => {
  const { url } = await serveSandbox({ kind: 'empty' });
  for (const _ of ['made', 'given again']) {
    const answer = await fetch(url + path, { headers: { authorization } });
    expect([answer.status, answer.headers.get('x-sotra-ignored')]).toEqual([200, ignored]);
  }
});

test('fields of a body that the endpoint does not know are named as well', async () => {
  const { url } = await serveSandbox({ kind: 'empty' });
  const body = JSON.stringify({ targets: [cat], target: dog });
  const answer = await fetch(`${url}/v1/addresses/${dog}/follow`, { method: 'PUT', headers: { authorization }, body });
  expect([answer.status, answer.headers.get('x-sotra-ignored')]).toEqual([200, 'target']);
});

test('--verbose prints a line for each request, sandbox log shows the last ones, and neither tells a key', async () => {
  const { env, ready, get, printed } = await started('--verbose');
  const secret = 'prod-key-123456789-wxyz';
  await get('/v2/leaderboard?limit=2&chain=base');
  await get('/v2/leaderboard', { authorization: `bearer ${secret}` });
  await get(`/v1/feed?api_key=${secret}&addresses=${cat}`);
  await get(`/v2/${secret}`, { authorization: `Bearer ${secret}` });
  await get('/v2/leaderboard?limit=900&timeframe=7d');
  await get('/v2/nothing%0a%1b[31m', {});
  const time = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/;
  const lines = (await until(() => (printed().includes('nothing') ? printed() : undefined))).split('\n').slice(1, -1);
  expect(lines.map((line) => line.replace(time, 'TIME').replace(/[\d.]+ ms/, 'N ms'))).toEqual([
    'TIME GET /v2/leaderboard?limit=2&chain=base 200 N ms, key a …ey-a, ignored: chain',
    'TIME GET /v2/leaderboard 401 N ms, unknown key …wxyz, error: unknown API key',
    `TIME GET /v1/feed?api_key=***&addresses=${cat} 200 N ms, key a …ey-a, ignored: api_key`,
    'TIME GET /v2/*** 404 N ms, unknown key …wxyz, error: no such endpoint: GET /v2/***',
    'TIME GET /v2/leaderboard?limit=900&timeframe=7d 400 N ms, key a …ey-a, error: limit 900: must be a whole number from 1 to 250',
    'TIME GET /v2/nothing%0a%1b[31m 404 N ms, no key, error: no such endpoint: GET /v2/nothing%0a%1b[31m',
  ]);
  const log = await run('sandbox log --limit 2 --json', { env });
  expect([log.code, log.err]).toEqual([0, '']);
  const [refused, missing] = [
    { path: '/v2/leaderboard?limit=900&timeframe=7d', status: 400, partner: 'a', key: '…ey-a' },
    { path: '/v2/nothing%0a%1b[31m', status: 404, partner: null, key: null },
  ];
  const more = { time: expect.stringMatching(time), method: 'GET', ms: expect.any(Number), ignored: [] };
  expect(JSON.parse(log.out)).toMatchObject([
    { ...refused, ...more, error: 'limit 900: must be a whole number from 1 to 250' },
    { ...missing, ...more, error: 'no such endpoint: GET /v2/nothing%0a%1b[31m' },
  ]);
  const expecting = (...texts: string[]) =>
    run(['sandbox', 'log', '--base-url', ready.url, ...texts.flatMap((text) => ['--expect', text])], { env });
  expect(await expecting('GET /v2/*', '* **')).toMatchObject({ code: 0 });
  expect(await expecting('DELETE /v1/**=0')).toMatchObject({ code: 0 });
  const unmet = "--expect 'DELETE /v1/**': expected at least 1, found 0";
  expect(await expecting('DELETE /v1/**')).toEqual(failure(12, unmet));
  expect(await expecting('GET /v2/**=999')).toMatchObject({ code: 12 });
  for (const other of ['GET v2=x', 'GET /v2/leaderboard?limit=900', 'GET /v2/**=1=2'])
    expect(await expecting(other)).toEqual(failure(2, "'POST /v1/**'"));
  const columns = '--columns method,path,status,partner,key,ignored';
  const table = await run(`sandbox log --base-url ${ready.url} ${columns}`, { env });
  const narrow = await run(`sandbox log --base-url ${ready.url}`, { env, tty: 80 });
  expect(narrow.out).toMatch(/^Time +Path +Status {2}Ignored {2}Error\n/);
  expect(narrow.out).toMatch(/\n\d\d:\d\d:\d\d\.\d{3}Z {2}\/v2\/leaderboard\?limit=… +200 {2}chain +–\n/);
  expect(table.out.split('\n')[0]).toBe('GET\t/v2/leaderboard?limit=2&chain=base\t200\ta\t…ey-a\tchain');
  expect(table.out + log.out + printed()).not.toMatch(/sandbox-key-a\b(?!,)|prod-key/);
});

test('a key at the place where a long path or reason is cut is hidden whole', async () => {
  const { env, get } = await started();
  const secret = 'prod-key-123456789-wxyz';
  // A path is shown up to 2,000 characters, a reason up to 300, of which 26 are before this part of the path.
  for (const before of [1985, 265])
    await get(`/v2/${'x'.repeat(before)}${secret}`, { authorization: `Bearer ${secret}` });
  const log = await run('sandbox log --json', { env });
  expect(JSON.parse(log.out).map(({ path }: { path: string }) => path.slice(-6))).toEqual(['xxx***', 'xxx***']);
  expect(log.out).not.toContain('prod');
});

test('sandbox stop ends a served sandbox, and leaves other processes alone', async () => {
  const { env, ready, file, ended, get } = await started();
  const stop = (flags: string, more: Record<string, string> = {}) =>
    run(`sandbox stop ${flags}`, { env: { ...env, ...more } });
  expect(await stop('', { SOTRA_DATA_DIR: temporaryFolder() })).toEqual(failure(5, 'no sandbox is served\n'));
  const elsewhere = await stop('', { SOTRA_BASE_URL: 'http://127.0.0.1:9' });
  expect(elsewhere).toEqual(failure(5, 'served at http://127.0.0.1:9\n'));
  const other = await serveSandbox({ kind: 'empty' });
  const claim = join(env.SOTRA_DATA_DIR, 'claim.json');
  writeFileSync(claim, JSON.stringify({ ...ready, url: other.url }));
  expect((await stop(`--ready-file ${claim}`)).code).toBe(5);
  expect((await stop('--dry-run --json')).out).toContain('"stopped": false');
  expect((await get('/v2/leaderboard')).status).toBe(200);
  const stopped = await runJson('sandbox stop', { env });
  expect(stopped).toEqual({ url: ready.url, pid: process.pid, db: ready.db, stopped: true });
  expect((await ended).code).toBe(0);
  expect(existsSync(file)).toBe(false);
  expect((await stop('')).code).toBe(5);
});

test('of two served sandboxes the one that is named is stopped', async () => {
  const first = await started();
  const second = run('sandbox start --port 0 --empty --db :memory:', { env: first.env });
  const files = join(first.env.SOTRA_DATA_DIR, 'served');
  await until(() => (readdirSync(files).length === 2 ? true : undefined));
  expect(await run('sandbox stop', { env: first.env })).toEqual(failure(2, 'several sandboxes are served: '));
  const [other = ''] = readdirSync(files).filter((name) => !first.ready.url.endsWith(name.replace('.json', '')));
  const url = `http://localhost:${other.replace('.json', '')}`;
  expect((await run('sandbox stop', { env: { ...first.env, SOTRA_BASE_URL: url } })).code).toBe(0);
  expect((await second).code).toBe(0);
  expect((await first.get('/v2/leaderboard')).status).toBe(200);
});

test('the control token is also accepted as a bearer token; any odd one is 401', async () => {
  const { ready, get } = await started();
  const status = (headers: Record<string, string>) => get('/_sandbox/status', headers).then((answer) => answer.status);
  const token: string = ready.controlToken;
  expect(await status({ 'x-control-token': token })).toBe(200);
  expect(await status({ authorization: `bEARER ${token}` })).toBe(200);
  for (const odd of ['', 'x', 'ü'.repeat(token.length), 'ÿ'.repeat(token.length / 2), `${token} `.repeat(200)])
    expect([odd, await status({ 'x-control-token': odd })]).toEqual([odd, 401]);
  const wrong = await get('/_sandbox/stop', { 'x-control-token': token });
  expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'POST']);
});

test.each(['BEARER sandbox-key-a', 'bearer sandbox-key-a', 'Bearer  sandbox-key-a'])('%s is a key', async (header) => {
  const { url } = await serveSandbox({ kind: 'empty' });
  expect((await fetch(`${url}/v2/leaderboard`, { headers: { authorization: header } })).status).toBe(200);
});

test('a wrong method on a known path is 405 and says which are allowed', async () => {
  const { url } = await serveSandbox({ kind: 'empty' });
  const tried = async (method: string, path: string) => {
    const answer = await fetch(url + path, { method, headers: { authorization } });
    return [answer.status, answer.headers.get('allow'), await answer.text()];
  };
  const error = (text: string) => JSON.stringify({ error: text });
  expect(await tried('POST', '/v2/leaderboard')).toEqual([405, 'GET', error('/v2/leaderboard takes GET, not POST')]);
  const follow = `/v1/addresses/${cat}/follow`;
  expect(await tried('PATCH', follow)).toEqual([405, 'DELETE, PUT', error(`${follow} takes DELETE, PUT, not PATCH`)]);
  expect(await tried('HEAD', '/v2/leaderboard')).toEqual([200, null, '']);
  expect((await tried('POST', '/v2/nothing'))[0]).toBe(404);
});

test.each(['.', '..', '%2e', '%2e%2E', '.%2e'])('%s as a part of a path is 400', async (part) => {
  const { url } = await serveSandbox({ kind: 'empty' });
  const head = `host: ${new URL(url).host}\r\nauthorization: ${authorization}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`;
  for (const line of [
    `GET /v1/addresses/${part}/profile`,
    `DELETE /v1/webhooks/feed/${part}`,
    `GET /v1/tokens/base/${part}/comments`,
    `GET /v1/position/${part}`,
  ])
    expect(await sendRaw(url, `${line} HTTP/1.1\r\n${head}`)).toMatchObject({ status: 400 });
});

test('without a key no byte of a body is waited for', async () => {
  const { url } = await serveSandbox({ kind: 'empty' });
  const head = (key: string) =>
    `PUT /v1/addresses/${cat}/follow HTTP/1.1\r\nhost: ${new URL(url).host}\r\n${key}content-length: 5000000\r\nconnection: close\r\n\r\n`;
  const heads = [head(''), head('authorization: Bearer wrong\r\n')];
  for (const text of heads) expect(await sendRaw(url, text)).toMatchObject({ status: 401 });
});

test('pages of other origins are refused', async () => {
  const { url, keyA } = await serveSandbox({ kind: 'empty' });
  const from = async (origin: string) =>
    (await fetch(`${url}/v2/leaderboard`, { headers: { origin, authorization: `Bearer ${keyA}` } })).status;
  expect(await Promise.all([from('http://evil.example'), from('null'), from(url)])).toEqual([403, 403, 200]);
});

test('targets of an unfollow are also read from the query', async () => {
  const service = await serveSandbox({ kind: 'empty' });
  await ask(service, 'PUT', `/v1/addresses/ext:me/follow`, { body: JSON.stringify({ targets: [cat, dog] }) });
  const answer = await ask(service, 'DELETE', `/v1/addresses/ext:me/follow?targets=${cat}&targets=${dog}`);
  expect((answer.body as { targetProfiles: unknown[] }).targetProfiles).toHaveLength(2);
  const left = await ask(service, 'GET', '/v1/addresses/ext:me/follows');
  expect((left.body as { items: unknown[] }).items).toEqual([]);
});

test('the last of eleven viewer addresses is ignored', async () => {
  const service = await serveSandbox({ kind: 'empty' });
  const viewers = [...Array(10).fill(cat), 'not an address'].map((each) => `viewerAddresses=${each}`);
  expect((await ask(service, 'GET', `/v1/addresses/${dog}/profile?${viewers.join('&')}`)).status).toBe(200);
  const tenth = await ask(service, 'GET', `/v1/addresses/${dog}/profile?${viewers.slice(1).join('&')}`);
  expect(tenth).toEqual({
    status: 400,
    body: { error: expect.stringMatching(/^viewerAddresses "not an address": must/) },
  });
});

test('a perp is found by its coin in any case and by the contract that the documentation gives', async () => {
  const service = await serveSandbox();
  const get = async (path: string) => (await ask(service, 'GET', path)).body;
  const contract = '0x0000000000000000000000000000000000000000';
  const positions = (token: string) => get(`/v1/tokens/hyperliquid/${token}/positions/closed?limit=3`);
  const coin = (await positions('ETH')) as { itemId: string; timestamp: number; actor: { address: string } }[];
  expect(coin).toHaveLength(3);
  for (const token of ['eth', 'Eth', contract]) expect(await positions(token)).toEqual(coin);
  const comments = await get('/v1/tokens/hyperliquid/ETH/comments');
  expect(comments).not.toEqual([]);
  expect(await get(`/v1/tokens/hyperliquid/${contract}/comments`)).toEqual(comments);
  const [{ actor, timestamp } = { actor: { address: '' }, timestamp: 0 }] = coin;
  const find = (token: string) => get(`/v1/positions/${actor.address}/hyperliquid/${token}/${timestamp}000`);
  expect(await find(contract)).toEqual(await find('ETH'));
  expect(await find('eth')).toMatchObject({ metadata: { tokenAddress: 'ETH' } });
});
