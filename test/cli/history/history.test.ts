import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { answering, run, stub, temporaryFolder } from '../../support/harness.ts';
import { size } from '../../support/size.ts';

const execute = promisify(execFile);

/** Runs command lines that share their folders, as those of one user do. */
function user(more: Record<string, string> = {}) {
  const folder = temporaryFolder();
  const env = { SOTRA_CONFIG_DIR: join(folder, 'config'), SOTRA_DATA_DIR: join(folder, 'data'), ...more };
  const calls = async (argv = 'history') => JSON.parse((await run(`${argv} --json`, { env })).out);
  return { env, folder: join(folder, 'data', 'history'), calls };
}

test('the last calls are listed, newest first, with those to the sandbox and those that failed', async () => {
  const { env, calls } = user();
  await run('--sandbox leaderboard list --limit 1', { env });
  await run('--sandbox request POST /v1/nothing --data {"a":1}', { env });
  await run('request GET /v1/away --base-url http://127.0.0.1:9 --retries 0', {
    env: { ...env, SOTRA_API_KEY: 'key-1' },
  });
  const [third, second, first] = await calls();
  expect(first).toMatchObject({
    n: 1,
    method: 'GET',
    path: '/v2/leaderboard?limit=1',
    status: 200,
    context: 'sandbox',
    attempts: 1,
    requestId: expect.stringMatching(/^[\w-]{8,}$/),
  });
  expect(second).toMatchObject({
    n: 2,
    method: 'POST',
    status: 404,
    body: '{"a":1}',
    error: expect.stringContaining('404'),
  });
  expect(third).toMatchObject({
    n: 3,
    status: null,
    baseUrl: 'http://127.0.0.1:9',
    error: expect.stringContaining('ECONNREFUSED'),
  });
  expect((await calls('history --failed')).map(({ n }: { n: number }) => n)).toEqual([3, 2]);
  const { err, out } = await run('history --limit 1', { env });
  expect(out).toContain('/v1/away');
  expect(err).toBe('There are 2 more: --limit 3.\n');
});

test('calls of one command that come fast are all kept, in their order', async () => {
  const { env, calls } = user();
  const { code } = await run(
    '--sandbox profile positions 0xb7b6f3cea3f66bf525f5d8f965f6dbf6d9b017b2 closed --chains all --limit 2 --max 12 --format ndjson',
    { env },
  );
  const all: { path: string; status: number }[] = await calls();
  expect([code, all.length, new Set(all.map(({ status }) => status))]).toEqual([0, 6, new Set([200])]);
  expect(all.map(({ path }) => /page=(\d)/.exec(path)?.[1] ?? '1')).toEqual(['6', '5', '4', '3', '2', '1']);
});

test('of one command the first hundred calls are kept, and those that fail', async () => {
  const service = await stub((_, response, count) => {
    response.statusCode = count > 120 ? 500 : 200;
    response.end(JSON.stringify([{ itemId: count }]));
  });
  const { env, calls } = user(service.env);
  const argv = 'token positions base 0x4ed4e862860bed51a9570b96d89af5e1b0efefed open --limit 1 --max 200';
  const { code } = await run(`${argv} --format ndjson --retries 0 --quiet`, { env });
  const kept: { status: number; path: string }[] = await calls('history --limit 1000');
  const pagesOf = (wanted: number) =>
    kept.filter(({ status }) => status === wanted).map(({ path }) => Number(/page=(\d+)/.exec(path)?.[1] ?? 1));
  expect([code, pagesOf(200).length, Math.max(...pagesOf(200))]).toEqual([8, 100, 100]);
  expect([pagesOf(500).length, pagesOf(500)]).toEqual([service.requests.length - 120, expect.arrayContaining([121])]);
});

test('a call that was repeated is one line; one that was only shown is none', async () => {
  const service = await stub((_, response, count) => response.writeHead(count === 1 ? 503 : 200).end('{"traders":[]}'));
  const { env, calls } = user(service.env);
  await run('leaderboard list', { env, skipWaits: true });
  await run('leaderboard list --dry-run', { env });
  expect(await calls()).toMatchObject([{ n: 1, status: 200, attempts: 2 }]);
});

test('neither keys nor bodies with secrets are kept', async () => {
  const service = await answering({ ok: true });
  const { env, folder, calls } = user({ ...service.env, SOTRA_API_KEY: 'sk-very-secret-1' });
  await run('request GET /v1/a -q key=sk-very-secret-1 -q b=2', { env });
  await run(['request', 'POST', '/v1/b', '--data', '{"signature":"0x1234567890"}'], { env });
  await run(['request', 'POST', '/v1/c', '--data', JSON.stringify('x'.repeat(5000))], { env });
  expect(await calls()).toMatchObject([
    { path: '/v1/c', bodyBytes: 5002 },
    { path: '/v1/b', bodyBytes: 28 },
    { path: '/v1/a?key=***&b=2' },
  ]);
  const kept = readdirSync(folder)
    .map((name) => readFileSync(join(folder, name), 'utf8'))
    .join('');
  expect(kept).not.toMatch(/very-secret|0x1234567890/);
  expect(statSync(join(folder, 'current.ndjson')).mode & 0o777).toBe(0o600);
  for (const n of [1, 2]) {
    const { code, err } = await run(`history run ${n} --yes`, { env });
    expect([code, err]).toEqual([3, expect.stringMatching(/^error: call \d cannot be sent again: .* not kept\n/)]);
  }
  expect(service.requests.length).toBe(3);
});

test('a call is shown whole and sent again to the same service; a write asks first', async () => {
  const service = await answering({ ok: true });
  const { env, calls } = user({ SOTRA_API_KEY: 'key-of-mine' });
  const body = '{"n":12345678901234567890}';
  await run(['request', 'POST', "/v1/it's?a=1", '--data', body, '--base-url', service.url], { env });
  const [{ command }] = [await calls('history show 1')];
  expect(command).toBe(`sotra --base-url ${service.url} request POST '/v1/it'\\''s?a=1' --data '${body}'`);
  expect((await run('history run 1', { env })).code).toBe(2);
  const again = await run('history run 1 --yes', { env });
  expect([again.code, again.out]).toEqual([0, '{\n  "ok": true\n}\n']);
  expect(service.requests.map(({ method, url, body }) => [method, url, body])).toEqual([
    ['POST', "/v1/it's?a=1", body],
    ['POST', "/v1/it's?a=1", body],
  ]);
  expect(service.requests[1]?.headers.authorization).toBe('Bearer key-of-mine');
  expect((await calls())[0]).toMatchObject({ n: 2, status: 200 });
});

test('a number that is not there names those that are', async () => {
  const { env } = user();
  expect((await run('history show 1', { env })).err).toContain('call 1: none is remembered');
  await run('--sandbox leaderboard list --limit 1', { env });
  const { code, err } = await run('history run 7', { env });
  expect([code, err]).toEqual([5, 'error: call 7: those remembered are 1 to 1\nhint: sotra history lists them.\n']);
});

test('it is off with a variable or a setting, and cleared when asked', async () => {
  const { env, calls } = user();
  const call = (more = {}) => run('--sandbox leaderboard list --limit 1', { env: { ...env, ...more } });
  await call({ SOTRA_HISTORY: '0' });
  await run('history set off', { env });
  await call();
  expect(await calls()).toEqual([]);
  await run('history set on', { env });
  await call();
  expect(await calls()).toMatchObject([{ n: 1 }]);
  expect((await run('history clear', { env })).code).toBe(2);
  expect((await run('history clear --dry-run', { env })).out).toContain('1 call');
  expect((await run('history clear --yes', { env })).err).toBe('1 call removed.\n');
  expect(await calls()).toEqual([]);
});

test('a folder that cannot be written, and lines that a crash cut off, harm no command', async () => {
  const { env, folder, calls } = user();
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    join(folder, 'current.ndjson'),
    '\n{"atMs":1,"method":"GET","path":"/v1/first","status":200}\n{"atMs":2,"meth',
  );
  expect((await run('--sandbox leaderboard list --limit 1', { env })).code).toBe(0);
  expect((await calls()).map(({ n }: { n: number }) => n)).toEqual([3, 1]);
  const blocked = user();
  mkdirSync(join(blocked.folder, '..'), { recursive: true });
  writeFileSync(blocked.folder, 'a file where the folder should be');
  expect((await run('--sandbox leaderboard list --limit 1', { env: blocked.env })).code).toBe(0);
  chmodSync(folder, 0o500);
  expect((await run('--sandbox leaderboard list --limit 1', { env })).code).toBe(0);
  chmodSync(folder, 0o700);
});

test('processes that call at once lose nothing, also while old calls are put aside; the last thousand stay', async () => {
  const service = await answering({ traders: [] });
  const { env, folder, calls } = user(service.env);
  mkdirSync(folder, { recursive: true });
  const line = JSON.stringify({
    atMs: 1,
    method: 'GET',
    baseUrl: service.url,
    path: '/v1/old',
    status: 200,
    ms: 1,
    attempts: 1,
  });
  // The next line fills the 128 KiB after which lines are counted.
  const old = `\n${line}`.repeat(1200);
  const start = 2 * 128 * 1024 - 10;
  writeFileSync(join(folder, 'current.ndjson'), old + ' '.repeat(start - Buffer.byteLength(old)));
  const processes = size(4, 60);
  const one = () => execute(process.execPath, ['bin/sotra.js', 'leaderboard', 'list'], { env: { ...env, PATH: '' } });
  for (let done = 0; done < processes; done += 4) await Promise.all([one(), one(), one(), one()]);
  const kept = await calls('history --limit 1000');
  expect(readdirSync(folder)).toContain('0.ndjson');
  expect(kept.length).toBe(1000);
  expect(kept.filter(({ path }: { path: string }) => path === '/v2/leaderboard').length).toBe(processes);
  expect(kept[0].n).toBe(1200 + processes);
}, 60_000);
