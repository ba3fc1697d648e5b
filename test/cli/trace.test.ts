import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { run, stub, temporaryFolder } from '../support/harness.ts';
import { serveSandbox } from '../support/served.ts';
import { degen, swaps, writeKeys } from '../support/traders.ts';

const execute = promisify(execFile);

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

test('a --curl line, pasted into bash, gets the same answer from a served sandbox', async () => {
  const { envA: env } = await serveSandbox();
  const bash = async (line: string) => {
    const { stdout } = await execute('bash', ['-c', line], { env: { ...env, PATH: process.env['PATH'] ?? '' } });
    return JSON.parse(stdout);
  };
  for (const argv of [
    ['leaderboard', 'list', '--chains', 'base,solana', '--limit', '3'],
    ['profile', 'get', 'ext:o\'brien $HOME `id` "x" [a-c] {1,2} \\ é'],
    ['request', 'GET', '/v2/leaderboard?limit=1'],
  ]) {
    const { out } = await run([...argv, '--curl'], { env });
    expect(out).toContain('$SOTRA_API_KEY');
    expect(out).not.toContain('sandbox-key-a');
    const asked = await run([...argv, '--json'], { env });
    expect([argv, asked.code]).toEqual([argv, 0]);
    expect(await bash(out)).toEqual(JSON.parse(asked.out));
  }
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
