import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { answering, run, temporaryFolder } from '../support/harness.ts';

const key = 'sk-very-secret-1';

/** A user with a context that holds a key, and calls that failed. */
async function user() {
  const folder = temporaryFolder();
  const env = { SOTRA_CONFIG_DIR: join(folder, 'config'), SOTRA_DATA_DIR: join(folder, 'data') };
  const service = await answering({ error: `no, ${key}` }, 404);
  await run(`context set staging --base-url ${service.url} --service-name Example`, { env });
  await run('auth login --context staging --with-key --offline --store file', { env, stdin: key });
  await run(`--context staging request GET /v1/missing -q key=${key}`, { env });
  await run(['--context', 'staging', 'request', 'POST', '/v1/x', '--data', '{"signature":"0x1234567890abcdef"}'], {
    env,
  });
  return { env, out: join(folder, 'ticket.json') };
}

test('a bundle holds version, settings, doctor and failed calls, and no secret', async () => {
  const { env, out } = await user();
  const { code, out: printed } = await run(`--context staging bundle --out ${out} --yes --json`, { env });
  expect(code).toBe(0);
  const text = readFileSync(out, 'utf8');
  expect(text).not.toMatch(/very-secret|0x1234567890abcdef/);
  expect(statSync(out).mode & 0o777).toBe(0o600);
  expect(JSON.parse(printed)).toEqual({ file: out, bytes: text.length, failedCalls: 2 });
  const { sotra, settings, doctor, variables, failedCalls } = JSON.parse(text);
  expect([sotra, variables]).toEqual(['0.0.0-test', ['SOTRA_CONFIG_DIR', 'SOTRA_DATA_DIR']]);
  expect(settings.contexts.staging).toMatchObject({ serviceName: 'Example', hasKey: true });
  expect(doctor.checks.map(({ check }: { check: string }) => check)).toContain('reach');
  expect(failedCalls).toMatchObject([
    { status: 404, method: 'POST', request: { body: { signature: '***' } } },
    {
      status: 404,
      path: '/v1/missing?key=***',
      command: "sotra --context staging request GET /v1/missing -q 'key=***'",
      response: { body: { error: 'no, ***' } },
    },
  ]);
});

test('it is shown before it is written, and written only after a yes', async () => {
  const { env, out } = await user();
  const refused = await run(`--context staging bundle --out ${out}`, { env });
  expect([refused.code, existsSync(out)]).toEqual([2, false]);
  const no = await run(`--context staging bundle --out ${out}`, { env, answers: ['no'] });
  expect([no.code, existsSync(out)]).toEqual([2, false]);
  expect(no.err).toContain('"failedCalls": [');
  expect(no.err).toContain(`Write this to ${out}? [y/N] `);
  expect((await run(`--context staging bundle --out ${out}`, { env, answers: ['y'] })).code).toBe(0);
  expect((await run(`--context staging bundle --out ${out}`, { env, answers: ['n'] })).err).toContain(
    `Replace ${out} with this?`,
  );
  expect((await run(`--context staging bundle --out ${out}.new --dry-run`, { env })).code).toBe(0);
  expect(existsSync(`${out}.new`)).toBe(false);
});

test.each([
  ['as a name in the settings', `context set staging --service-name ${key}`, 'settings.contexts.staging.serviceName'],
  ['as the name of a context', `context set ${key} --base-url https://x.example`, 'settings.contexts'],
])('a key %s is found and named by its place alone, and nothing is written', async (_, argv, place) => {
  const { env, out } = await user();
  await run(argv, { env });
  const { code, err } = await run(`--context staging bundle --out ${out} --yes`, { env });
  expect([code, existsSync(out)]).toEqual([3, false]);
  expect(err).toContain('the bundle would hold the API key');
  expect(err).toContain(`in ${place}`);
  expect(err).not.toContain('very-secret');
});

test('secrets of webhooks and keys of other contexts are looked for too', async () => {
  const { env, out } = await user();
  await run('context set other --base-url https://other.example', { env });
  const file = join(env.SOTRA_CONFIG_DIR, 'config.json');
  const stored = JSON.parse(readFileSync(file, 'utf8'));
  stored.contexts.other = { ...stored.contexts.other, apiKey: 'another-key-2', serviceName: 'another-key-2' };
  writeFileSync(file, JSON.stringify(stored));
  const { code, err } = await run(`--context staging bundle --out ${out} --yes`, { env });
  expect([code, err]).toEqual([
    3,
    expect.stringContaining('the API key of context other, in settings.contexts.other.serviceName'),
  ]);
});

test('a file in a folder that is not there is refused before anything is asked', async () => {
  const { code, err } = await run('--sandbox bundle --out no-such-folder/ticket.json --yes');
  expect([code, err]).toEqual([
    2,
    expect.stringContaining('--out no-such-folder/ticket.json: there is no folder no-such-folder'),
  ]);
});
