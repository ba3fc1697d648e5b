import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { answering, failure, newUser, run, runJson, stub, temporaryFolder } from '../support/harness.ts';

const key = 'sk-very-secret-1';

/** A user with a context that holds a key, and calls that failed. */
async function user() {
  const { env, file } = newUser();
  const service = await answering({ error: `no, ${key}` }, 404);
  await run(`context set staging --base-url ${service.url} --service-name Example`, { env });
  await run('auth login --context staging --with-key --offline --store file', { env, stdin: key });
  await run(`--context staging request GET /v1/gone -q key=${key}`, { env });
  await run('--context staging request POST /v1/x --data {"signature":"0x1234567890abcdef"}', { env });
  return { env, settings: file, out: join(temporaryFolder(), 'ticket.json') };
}

const readBundle = (file: string) => JSON.parse(readFileSync(file, 'utf8'));

test('a bundle holds version, settings, doctor and failed calls with their answers, and no secret', async () => {
  const { env, out } = await user();
  const printed = await runJson(`--context staging bundle --out ${out}`, { env });
  const text = readFileSync(out, 'utf8');
  expect(text).not.toMatch(/very-secret|0x1234567890abcdef/);
  expect(statSync(out).mode & 0o777).toBe(0o600);
  expect(printed).toMatchObject({ file: out, bytes: text.length, failedCalls: 2 });
  const { sotra, settings, doctor, variables, failedCalls, log } = readBundle(out);
  expect([sotra, variables]).toEqual(['0.0.0-test', ['SOTRA_CONFIG_DIR', 'SOTRA_DATA_DIR']]);
  expect(settings.contexts.staging).toMatchObject({ serviceName: 'Example', hasKey: true });
  expect(doctor.checks.map(({ check }: { check: string }) => check)).toContain('reach');
  expect(failedCalls).toMatchObject([
    { status: 404, method: 'POST' },
    {
      status: 404,
      path: '/v1/gone?key=***',
      command: "sotra --context staging request GET /v1/gone -q 'key=***'",
    },
  ]);
  expect(log.entries).toMatchObject([
    { response: { content: { text: '{"error":"no, ***"}' } } },
    { request: { postData: { text: '{"signature":"***"}' } } },
  ]);
});

test('keys and secrets of webhooks are hidden everywhere, as a name in the settings too', async () => {
  const { env, out, settings } = await user();
  await run(`context set staging --service-name ${key}`, { env });
  await run(`context set ${key} --base-url https://x.example`, { env });
  await run('context set other --base-url https://other.example', { env });
  const stored = JSON.parse(readFileSync(settings, 'utf8'));
  stored.contexts.other = { ...stored.contexts.other, apiKey: 'another-key-2', serviceName: 'another-key-2' };
  stored.contexts.staging.inbox = 'nats://secret-of-a-hook/NAME';
  writeFileSync(settings, JSON.stringify(stored));
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

test('bundle --out in a folder that does not exist is refused before anything is asked', async () => {
  expect(await run('--sandbox bundle --out no-such-folder/ticket.json --yes')).toEqual(
    failure(3, '--out no-such-folder/ticket.json: there is no folder no-such-folder'),
  );
});

interface Check {
  check: string;
  state: string;
  found: string;
  fix: string | null;
}

async function diagnose(argv: string, options: Parameters<typeof run>[1] = {}) {
  const { code, out } = await run(`${argv} --json`, options);
  const { ok, checks } = JSON.parse(out) as { ok: boolean; checks: Check[] };
  const of = (name: string) => checks.find(({ check }) => check === name);
  return { code, ok, checks, of };
}

test('doctor finds nothing wrong with a service that answers, and sends one request', async () => {
  const service = await answering({ traders: [] });
  const { code, ok, of } = await diagnose('doctor', { env: service.env });
  expect({ code, ok }).toEqual({ code: 0, ok: true });
  expect(of('service')).toMatchObject({ state: 'ok', found: `${service.url}, from SOTRA_BASE_URL` });
  expect(of('key')).toMatchObject({ state: 'ok', found: '...-key from SOTRA_API_KEY; the service accepts it' });
  expect(of('reach')?.found).toMatch(/^HTTP 200 in \d+ ms$/);
  expect(of('clock')?.state).toBe('ok');
  expect(service.requests.map(({ url }) => url)).toEqual(['/v2/leaderboard?limit=1']);
});

test('doctor ends with 4 if the key is refused and with 9 if nothing listens, and says what to do', async () => {
  const service = await answering({ error: 'unknown key' }, 401);
  const refused = await diagnose('doctor', { env: service.env });
  expect(refused.code).toBe(4);
  expect(refused.of('key')).toMatchObject({ state: 'problem', fix: 'sotra auth login, or set SOTRA_API_KEY' });
  const gone = await diagnose('doctor --base-url http://127.0.0.1:1', { env: { SOTRA_API_KEY: 'some-key-1234' } });
  expect(gone.code).toBe(9);
  expect(gone.of('reach')).toMatchObject({ state: 'problem', found: 'nothing is listening at http://127.0.0.1:1' });
  for (const { checks } of [refused, gone])
    for (const { state, fix } of checks) expect(fix === null).toBe(state === 'ok' || state === 'skipped');
});

test('doctor ends with 9, and does not judge the key, if a web page answers', async () => {
  for (const status of [200, 403]) {
    const page = await answering('<!doctype html><title>Sign in</title>', status, { 'content-type': 'text/html' });
    const { code, of } = await diagnose('doctor', { env: page.env });
    expect([code, of('key')?.found]).toEqual([9, '...-key from SOTRA_API_KEY']);
    expect(of('reach')?.found).toMatch(/^HTTP \d+ in \d+ ms: a web page$/);
  }
});

test('doctor names a redirect, and a clock that is wrong', async () => {
  const moved = await answering('', 302, { location: 'https://elsewhere.example.com/' });
  expect((await diagnose('doctor', { env: moved.env })).of('reach')).toMatchObject({ state: 'problem' });
  const within = await stub(({ url }, response) =>
    url === '/new' ? response.end('{"traders":[]}') : response.writeHead(302, { location: '/new' }).end(),
  );
  expect((await diagnose('doctor', { env: within.env })).ok).toBe(true);
  const late = await stub((_, response) => {
    response.sendDate = false;
    response.writeHead(200, { date: 'Fri, 20 Nov 2026 12:00:00 GMT' }).end('{"traders":[]}');
  });
  const now = Date.parse('2026-11-20T12:05:00Z');
  const { code, of } = await diagnose('doctor', { env: late.env, now });
  expect(code).toBe(0);
  expect(of('clock')).toMatchObject({ state: 'warning', fix: 'set the system clock' });
  expect(of('clock')?.found).toMatch(/^(299|300) s ahead of the service's$/);
});

test('doctor warns of settings that others may read; damaged ones are exit 3', async () => {
  const { env, file } = newUser({ contexts: {} });
  chmodSync(file, 0o644);
  const open = await diagnose('doctor --sandbox', { env });
  expect(open.code).toBe(0);
  expect(open.of('settings')).toMatchObject({ state: 'warning', fix: `chmod 600 ${file}` });
  // Neither is a folder where the file would be.
  const beneath = await diagnose('doctor --sandbox', { env: { SOTRA_CONFIG_DIR: file, SOTRA_DATA_DIR: file } });
  expect([beneath.of('settings')?.state, beneath.of('sandbox')?.state]).toEqual(['problem', 'problem']);
  writeFileSync(file, '{');
  expect((await diagnose('doctor --sandbox', { env })).code).toBe(3);
  expect(readFileSync(file, 'utf8')).toBe('{');
});

test('doctor says how to choose a service if there is none, and that no sandbox is created yet', async () => {
  const { code, of } = await diagnose('doctor');
  expect(code).toBe(0);
  expect(of('service')).toMatchObject({ state: 'warning', fix: expect.stringMatching(/^sotra auth login/) });
  expect(of('sandbox')).toMatchObject({ state: 'ok', found: expect.stringMatching(/^not created yet: /) });
});
