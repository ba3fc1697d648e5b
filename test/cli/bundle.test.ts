import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { answering, run, temporaryFolder } from '../support/harness.ts';

const key = 'sk-very-secret-1';

function folders() {
  const folder = temporaryFolder();
  return { SOTRA_CONFIG_DIR: join(folder, 'config'), SOTRA_DATA_DIR: join(folder, 'data') };
}

/** A user with a context that holds a key, and calls that failed. */
async function user() {
  const env = folders();
  const service = await answering({ error: `no, ${key}` }, 404);
  await run(`context set staging --base-url ${service.url} --service-name Example`, { env });
  await run('auth login --context staging --with-key --offline --store file', { env, stdin: key });
  await run(`--context staging request GET /v1/missing -q key=${key}`, { env });
  await run(['--context', 'staging', 'request', 'POST', '/v1/x', '--data', '{"signature":"0x1234567890abcdef"}'], {
    env,
  });
  return { env, out: join(temporaryFolder(), 'ticket.json') };
}

const readBundle = (file: string) => JSON.parse(readFileSync(file, 'utf8'));

test('a bundle holds version, settings, doctor, wire names and failed calls with their answers, and no secret', async () => {
  const { env, out } = await user();
  const { code, out: printed } = await run(`--context staging bundle --out ${out} --json`, { env });
  expect(code).toBe(0);
  const text = readFileSync(out, 'utf8');
  expect(text).not.toMatch(/very-secret|0x1234567890abcdef/);
  expect(statSync(out).mode & 0o777).toBe(0o600);
  expect(JSON.parse(printed)).toMatchObject({ file: out, bytes: text.length, failedCalls: 2 });
  const { sotra, settings, doctor, variables, wireNames, failedCalls, log } = readBundle(out);
  expect([sotra, variables]).toEqual(['0.0.0-test', ['SOTRA_CONFIG_DIR', 'SOTRA_DATA_DIR']]);
  expect(settings.contexts.staging).toMatchObject({ serviceName: 'Example', hasKey: true });
  expect(doctor.checks.map(({ check }: { check: string }) => check)).toContain('reach');
  expect(wireNames).toMatchObject({ 'leaderboard.list.limit': 'limit' });
  expect(failedCalls).toMatchObject([
    { status: 404, method: 'POST' },
    {
      status: 404,
      path: '/v1/missing?key=***',
      command: "sotra --context staging request GET /v1/missing -q 'key=***'",
    },
  ]);
  expect(log.entries).toMatchObject([
    { response: { content: { text: '{"error":"no, ***"}' } } },
    { request: { postData: { text: '{"signature":"***"}' } } },
  ]);
});

test('keys and secrets of webhooks are hidden everywhere, as a name in the settings too', async () => {
  const { env, out } = await user();
  await run(`context set staging --service-name ${key}`, { env });
  await run(`context set ${key} --base-url https://x.example`, { env });
  await run('context set other --base-url https://other.example', { env });
  const file = join(env.SOTRA_CONFIG_DIR, 'config.json');
  const stored = JSON.parse(readFileSync(file, 'utf8'));
  stored.contexts.other = { ...stored.contexts.other, apiKey: 'another-key-2', serviceName: 'another-key-2' };
  stored.contexts.staging.inbox = 'nats://secret-of-a-hook/NAME';
  writeFileSync(file, JSON.stringify(stored));
  const job = join(env.SOTRA_DATA_DIR, 'webhook', 'uploads', 'an-upload');
  mkdirSync(job, { recursive: true });
  writeFileSync(join(job, 'secret-0'), 'secret-of-a-hook\n');
  const { code, out: printed } = await run(`--context staging bundle --out ${out}`, { env });
  expect([code, printed.includes('very-secret')]).toEqual([0, false]);
  expect(readFileSync(out, 'utf8')).not.toMatch(/very-secret|another-key|secret-of-a-hook/);
  expect(readBundle(out).settings.contexts).toMatchObject({
    '***': { baseUrl: 'https://x.example' },
    other: { serviceName: '***' },
    staging: { serviceName: '***', inbox: 'nats://***/NAME' },
  });
});

test('a file in a folder that is not there is refused before anything is asked', async () => {
  const { code, err } = await run('--sandbox bundle --out no-such-folder/ticket.json --yes');
  expect([code, err]).toEqual([
    3,
    expect.stringContaining('--out no-such-folder/ticket.json: there is no folder no-such-folder'),
  ]);
});
