import { expect, test } from 'vitest';
import { ask, sendRaw, serveSandbox } from '../../support/served.ts';

const cat = '0x00000000000000000000000000000000000000c1';
const nobody = '11111111-2222-4333-8444-555555555555';

test.each<[field: string, method: string, path: string, body?: string]>([
  ['limit', 'GET', '/v2/leaderboard?limit=999'],
  ['timeframe', 'GET', '/v2/leaderboard?timeframe=8d'],
  ['status', 'GET', `/v1/tokens/base/${cat}/positions/ajar`],
  ['chain', 'GET', `/v1/tokens/narnia/${cat}/positions/open`],
  ['identifier', 'GET', '/v1/addresses/not-an-address/profile'],
  ['destinationUrl', 'POST', '/v1/webhooks/feed', `{"destinationUrl":"ftp://x","walletAddresses":["${cat}"]}`],
  ['name', 'PUT', `/v1/profiles/${cat}/name`, '{"name":"no"}'],
  ['transactionHash', 'POST', '/v1/swap-comments', '{}'],
  ['name', 'PUT', `/v1/profiles/${cat}/name`, '{"name":7}'],
  ['avatarUrl', 'PUT', `/v1/profiles/${cat}/name`, '{"name":"moon_cat","avatarUrl":"x"}'],
  ['avatarUrl', 'PUT', `/v1/profiles/${cat}/name`, '{"avatarUrl":"https://a.example/c.png"}'],
  ['avatarUrl', 'PUT', `/v1/profiles/${cat}/name`, '{"name":null,"avatarUrl":"https://a.example/c.png"}'],
  ['body', 'PUT', `/v1/profiles/${cat}/name`, '{"name":'],
  ['body', 'PUT', `/v1/profiles/${cat}/name`, '[]'],
  ['addressOrUid', 'PUT', '/v1/addresses/me/follow', `{"targets":["${cat}"]}`],
  ['targets', 'PUT', `/v1/addresses/${cat}/follow`, '{}'],
  ['targets', 'PUT', `/v1/addresses/${cat}/follow`, '{"targets":[]}'],
  ['targets', 'PUT', `/v1/addresses/${cat}/follow`, '{"targets":["0x12"]}'],
  ['targets', 'PUT', `/v1/addresses/${cat}/follow`, `{"targets":["ext:a","${cat}"]}`],
  ['cursor', 'GET', `/v1/addresses/${cat}/followers?cursor=MTIzOmFi`],
  ['limit', 'GET', `/v1/addresses/${cat}/followers?limit=101`],
  ['limit', 'GET', '/v2/leaderboard/copytraded?limit=ten'],
  ['chains', 'GET', '/v2/leaderboard/copytraded?chains=zora'],
  ['address', 'GET', '/v2/leaderboard/copytraded?address=me'],
])('a %s that the document does not allow is 400 by its name: %s %s', async (field, method, path, body) => {
  const answer = await ask(await serveSandbox({ kind: 'empty' }), method, path, body === undefined ? {} : { body });
  expect(answer).toEqual({ status: 400, body: { error: expect.stringMatching(new RegExp(`^${field}\\b`)) } });
});

test('a request without a key, and with one that nobody knows, is 401', async () => {
  const service = await serveSandbox({ kind: 'empty' });
  const missing = { status: 401, body: { error: 'missing API key: send Authorization: Bearer <key>' } };
  const unknown = { status: 401, body: { error: 'unknown API key' } };
  expect(await ask(service, 'GET', '/v2/leaderboard', { key: null })).toEqual(missing);
  expect(await ask(service, 'GET', '/v2/leaderboard', { key: 'guess' })).toEqual(unknown);
  // These sections need no key, and an answer that is kept is not for a header that is wrong.
  expect((await ask(service, 'GET', '/v1/leaderboard', { key: null })).status).toBe(200);
  const odd = await fetch(`${service.url}/v1/leaderboard`, { headers: { authorization: 'undefined' } });
  expect({ status: odd.status, body: await odd.json() }).toEqual(missing);
  expect(await ask(service, 'GET', '/v1/leaderboard', { key: 'guess' })).toEqual(unknown);
});

test.each<[method: string, path: string, body?: string]>([
  ['GET', `/v1/addresses/${nobody}/profile`],
  ['GET', `/v1/addresses/${nobody}/follows`],
  ['PUT', `/v1/addresses/${cat}/follow`, `{"targets":["${nobody}"]}`],
  ['PUT', `/v1/profiles/${nobody}/name`, '{"name":"moon_cat"}'],
  ['DELETE', `/v1/profiles/${nobody}/name`],
  ['GET', `/v1/position/${nobody}`],
  ['POST', `/v1/swap-comment/${nobody}/copyswap`, `{"tokenAddress":"${cat}","chain":"base","actorAddress":"${cat}"}`],
  ['PUT', `/v1/webhooks/feed/${nobody}`, `{"walletAddresses":["${cat}"]}`],
  ['GET', '/v1/nothing'],
])('%s %s is 404', async (method, path, body) => {
  const answer = await ask(await serveSandbox({ kind: 'empty' }), method, path, body === undefined ? {} : { body });
  expect(answer.status).toBe(404);
});

test.each([
  ['a head without an end', 'GET / HTTP/1.1\r\nhost: localhost\r\n', 400],
  ['no HTTP at all', '\u0016\u0003\u0001\u0002\u0000', 400],
  ['a header of 20 kB', `GET / HTTP/1.1\r\nhost: localhost\r\nx: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
  ['a query of 20 kB', `GET /?${'x'.repeat(20_000)} HTTP/1.1\r\nhost: localhost\r\n\r\n`, 431],
])('%s is refused, and the sandbox goes on', async (_, text, status) => {
  const service = await serveSandbox({ kind: 'empty' });
  const answer = await sendRaw(service.url, text);
  expect(answer.status).toBe(status);
  expect(Object.keys(JSON.parse(answer.body))).toEqual(['error']);
  expect((await ask(service, 'GET', '/v2/leaderboard')).status).toBe(200);
});

test('a chain that is given twice counts once', async () => {
  const nowMs = Date.UTC(2026, 10, 20);
  const service = await serveSandbox({ now: () => nowMs });
  const trader = '0x143cf5cccbc8447504a99413dec7ea93ec228432';
  for (const path of [
    '/v2/leaderboard?limit=5&chains=base',
    `/v2/leaderboard/ranking?address=${trader}&chains=base`,
    '/v2/leaderboard/copytraded?chains=base',
    `/v1/addresses/${trader}/positions/open?chains=base`,
    `/v1/feed/actor?address=${trader}&chains=base`,
  ]) {
    const once = await ask(service, 'GET', path);
    const twice = await ask(service, 'GET', `${path}&chains=base`);
    expect([path, once.status, twice]).toEqual([path, 200, once]);
  }
});
