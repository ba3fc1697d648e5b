import { expect, test } from 'vitest';
import { run, stub, temporaryFolder } from '../support/harness.ts';
import { degen, swaps, writeKeys } from '../support/traders.ts';

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
  expect([signed.code, signed.err.split('works while sotra sandbox start runs').length]).toEqual([0, 2]);
});
