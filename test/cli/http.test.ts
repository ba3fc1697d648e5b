import { expect, test } from 'vitest';
import { answering, newUser, run, stub, temporaryFolder } from '../support/harness.ts';
import { degen, swaps, writeKeys } from '../support/traders.ts';

const statuses: readonly [status: number, code: string, exitCode: number][] = [
  [400, 'bad-request', 6],
  [401, 'key-refused', 4],
  [403, 'forbidden', 4],
  [404, 'not-found', 5],
  [409, 'conflict', 6],
  [413, 'too-large', 6],
  [418, 'request-refused', 6],
  [429, 'rate-limited', 7],
  [500, 'server-error', 8],
  [503, 'server-error', 8],
];

test.each(statuses)('HTTP %i becomes %s with exit %i, its text and request id', async (status, code, exitCode) => {
  const service = await answering({ error: 'the words of the service' }, status, { 'x-request-id': 'req-7' });
  const { code: ended, out, err } = await run('leaderboard list --json --retries 0', { env: service.env });
  expect({ ended, out }).toEqual({ ended: exitCode, out: '' });
  expect(JSON.parse(err).error).toMatchObject({ code, status, exitCode, requestId: 'req-7' });
  expect(JSON.parse(err).error.message).toContain('the words of the service');
});

test('--dry-run and --curl show the request without sending it and need no key', async () => {
  const service = await answering({});
  const env = { SOTRA_BASE_URL: service.url };
  const argv = 'leaderboard list --chains base --limit 3';
  const dry = await run(`${argv} --dry-run`, { env });
  expect(dry.out).toContain(`GET ${service.url}/v2/leaderboard?chains=base&limit=3\n`);
  expect(dry.out).toContain('authorization: Bearer ***');
  const { out } = await run(`${argv} --curl`, { env });
  expect(out).toContain(`curl --silent --show-error --request GET '${service.url}/v2/leaderboard?chains=base&limit=3'`);
  expect(out).toContain('"authorization: Bearer $SOTRA_API_KEY"');
  expect(service.requests).toEqual([]);
});

test('a stored context gives base URL and key; the environment is over it and a flag over both', async () => {
  const [own, other] = [await answering({ traders: [] }), await answering({ traders: [] })];
  const live = { baseUrl: own.url, apiKey: 'stored-key' };
  const second = { baseUrl: other.url, apiKey: 'second-key' };
  const { env } = newUser({ current: 'live', contexts: { live, second } });
  await run('leaderboard list', { env });
  await run('leaderboard list', { env: { ...env, SOTRA_API_KEY: 'from-env' } });
  await run('leaderboard list --context second', { env: { ...env, SOTRA_BASE_URL: own.url } });
  expect(own.requests.map(({ headers }) => headers.authorization)).toEqual(['Bearer stored-key', 'Bearer from-env']);
  expect(other.requests.map(({ headers }) => headers.authorization)).toEqual(['Bearer second-key']);
});

test('--verbose shows the request without the key, what the time went to, the request id, and why an attempt was repeated', async () => {
  const service = await stub((_, response, count) => {
    response.writeHead(count === 1 ? 503 : 200, { 'x-request-id': `req-${count}` });
    response.end(count === 1 ? '{"error":"busy"}' : '{"traders":[]}');
  });
  const env = { ...service.env, SOTRA_BASE_URL: service.url.replace('127.0.0.1', 'localhost') };
  const { err, out } = await run('leaderboard list --json --verbose', { env });
  expect(err).toMatch(/^> GET http:\/\/localhost:\d+\/v2\/leaderboard\n.*> authorization: Bearer \*\*\*\n/s);
  expect(err + out).not.toContain('stub-key');
  expect(err).toMatch(/< 503 in \d+ ms, 16 bytes \(first byte \d+ ms\), request id req-1\n/);
  expect(err).toMatch(/! waiting \d+ ms: busy \(HTTP 503 from GET \/v2\/leaderboard\)\n/);
  expect(err).toMatch(/< 200 in \d+ ms, 14 bytes \(first byte \d+ ms\), request id req-2\n/);
});

test('--curl with the built-in sandbox names the address that sandbox start serves, and says so', async () => {
  const { out, err } = await run('--sandbox leaderboard list --curl');
  expect(out).toContain(' http://127.0.0.1:4010/v2/leaderboard ');
  expect(err).toContain('sotra sandbox start');
  // Also if the command looks for a service twice, before it signs and before it sends.
  const swap = `--chain base --tx ${swaps.good} --token ${degen} --text gm --service-name Sandbox`;
  const { evm } = writeKeys(temporaryFolder());
  const signed = await run(`--sandbox comment post ${swap} --key-file ${evm} --curl`);
  expect(signed.err.match(/works while sotra sandbox start runs/g)).toHaveLength(1);
});
