import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { ask, sendRaw, serveSandbox } from '../../support/served.ts';

const execute = promisify(execFile);
const cat = '0x00000000000000000000000000000000000000c1';
const nobody = '11111111-2222-4333-8444-555555555555';
const key = ['-H', 'Authorization: Bearer sandbox-key-a'];
const json = ['-H', 'Content-Type: application/json'];

/** What curl shows of one request to an empty sandbox: the status and the body. */
async function curl(url: string, ...argv: string[]): Promise<[status: number, body: unknown]> {
  const { stdout } = await execute('curl', ['-s', '-w', '\n%{http_code}', ...argv, url]);
  const end = stdout.lastIndexOf('\n');
  return [Number(stdout.slice(end + 1)), JSON.parse(stdout.slice(0, end))];
}

test('curl gets 400 with the name of the field for input that the document does not allow', async () => {
  const { url } = await serveSandbox({ kind: 'empty' });
  const refused = async (field: string, path: string, ...argv: string[]) => {
    const [status, body] = await curl(url + path, ...key, ...argv);
    expect([path, status]).toEqual([path, 400]);
    expect(Object.keys(body as object)).toEqual(['error']);
    expect((body as { error: string }).error).toMatch(new RegExp(`^${field}\\b`));
  };
  await refused('limit', '/v2/leaderboard?limit=999');
  await refused('timeframe', '/v2/leaderboard?timeframe=8d');
  await refused('status', `/v1/tokens/base/${cat}/positions/ajar`);
  await refused('chain', `/v1/tokens/narnia/${cat}/positions/open`);
  await refused('identifier', '/v1/addresses/not-an-address/profile');
  const hook = JSON.stringify({ destinationUrl: 'ftp://x', walletAddresses: [cat] });
  await refused('destinationUrl', '/v1/webhooks/feed', '-X', 'POST', ...json, '-d', hook);
  await refused('name', `/v1/profiles/${cat}/name`, '-X', 'PUT', ...json, '-d', '{"name":"no"}');
  await refused('transactionHash', '/v1/swap-comments', '-X', 'POST', ...json, '-d', '{}');
  await refused('body', `/v1/profiles/${cat}/name`, '-X', 'PUT', ...json, '-d', '{"name":');
});

test('curl gets 401 without a key and with one that nobody knows', async () => {
  const { url } = await serveSandbox({ kind: 'empty' });
  const missing = { error: 'missing API key: send Authorization: Bearer <key>' };
  expect(await curl(`${url}/v2/leaderboard`)).toEqual([401, missing]);
  const wrong = ['-H', 'Authorization: Bearer guess'];
  expect(await curl(`${url}/v2/leaderboard`, ...wrong)).toEqual([401, { error: 'unknown API key' }]);
  // These sections need no key, and an answer that is kept is not for a header that is wrong.
  expect((await curl(`${url}/v1/leaderboard`))[0]).toBe(200);
  expect(await curl(`${url}/v1/leaderboard`, '-H', 'Authorization: undefined')).toEqual([401, missing]);
  expect(await curl(`${url}/v1/leaderboard`, ...wrong)).toEqual([401, { error: 'unknown API key' }]);
});

test('curl gets 404 for a UUID that nothing has: profile, position, comment, webhook', async () => {
  const { url } = await serveSandbox({ kind: 'empty' });
  const get = async (path: string, ...argv: string[]) => (await curl(url + path, ...key, ...argv))[0];
  expect(await get(`/v1/addresses/${nobody}/profile`)).toBe(404);
  expect(await get(`/v1/position/${nobody}`)).toBe(404);
  const intent = JSON.stringify({ tokenAddress: cat, chain: 'base', actorAddress: cat });
  expect(await get(`/v1/swap-comment/${nobody}/copyswap`, '-X', 'POST', ...json, '-d', intent)).toBe(404);
  const addresses = JSON.stringify({ walletAddresses: [cat] });
  expect(await get(`/v1/webhooks/feed/${nobody}`, '-X', 'PUT', ...json, '-d', addresses)).toBe(404);
  expect(await get('/v1/nothing')).toBe(404);
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
