import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { answering, failure, newUser, run, runJson, stub, temporaryFolder } from '../../support/harness.ts';
import { long } from '../../support/size.ts';

/** Runs command lines that share their folders, as for one user. */
function user(more: Record<string, string> = {}) {
  const data = join(temporaryFolder(), 'data');
  const env = { ...newUser().env, SOTRA_DATA_DIR: data, ...more };
  return { env, folder: join(data, 'history'), calls: (argv = 'history') => runJson(argv, { env }) };
}

/** The text of every file of the log. */
const textIn = (folder: string) =>
  readdirSync(folder)
    .map((name) => readFileSync(join(folder, name), 'utf8'))
    .join('');

test('the last calls are listed, newest first, with their commands, those to the sandbox and those that failed', async () => {
  const { env, calls } = user();
  await run('--sandbox leaderboard list --limit 1', { env });
  await run('--sandbox request POST /v1/nothing --data {"a":1}', { env });
  const keyed = { ...env, SOTRA_API_KEY: 'key-1' };
  await run('request GET /v1/away --base-url http://127.0.0.1:9 --retries 0', { env: keyed });
  const [third, second, first] = await calls();
  expect(first).toMatchObject({
    n: 3,
    id: expect.stringMatching(/^c[0-9a-f]{8}$/),
    command: 'sotra --sandbox leaderboard list --limit 1',
    method: 'GET',
    path: '/v2/leaderboard?limit=1',
    status: 200,
    context: 'sandbox',
    attempt: 1,
    requestId: expect.stringMatching(/^[\w-]{8,}$/),
  });
  expect(second).toMatchObject({ n: 2, method: 'POST', status: 404, errorCode: 'not-found' });
  const error = 'nothing is listening at http://127.0.0.1:9';
  expect(third).toMatchObject({ n: 1, status: null, baseUrl: 'http://127.0.0.1:9', errorCode: 'network', error });
  expect((await calls('history --failed')).map(({ n }: { n: number }) => n)).toEqual([1, 2]);
  const { err, out } = await run('history --limit 1', { env });
  expect(out).toContain('/v1/away');
  expect(err).toBe('There are more: add --limit.\n');
});

test('a log of blank lines and damaged ones is read in no time', async () => {
  const { env, folder, calls } = user();
  await run('--sandbox leaderboard list --limit 1', { env });
  appendFileSync(join(folder, 'calls.ndjson'), `\n7\n"a"\n{\n${'\n'.repeat(2_000_000)}`);
  expect(await calls('history --limit 3')).toMatchObject([{ n: 1 }]);
});

test('at 80 columns a line shows number, time, status, command, and the beginning of the path', async () => {
  const { env } = user();
  const wallet = '0xb7b6f3cea3f66bf525f5d8f965f6dbf6d9b017b2';
  await run(`--sandbox profile positions ${wallet} closed --limit 2`, { env, now: Date.UTC(2026, 10, 25, 3, 4, 5) });
  const { out } = await run('history', { env, tty: 80 });
  expect(out).toMatch(/^ *1 +03:04:05Z? +200 +--sandbox profile positions 0xb7b6… +\/v1\/addresses\/0xb7b…$/m);
  expect(Math.max(...out.split('\n').map(({ length }) => length))).toBeLessThanOrEqual(80);
});

test('a call is shown with headers and bodies of both sides, as text and JSON', async () => {
  const service = await answering({ error: { code: 7, why: 'no' } }, 409, { 'x-one': '1' });
  const { env } = user(service.env);
  await run(['request', 'POST', '/v1/x?a=1', '--data', '{"n":12345678901234567890}'], { env });
  const { out } = await run('history show 1', { env });
  expect(out).toContain(`sotra request POST '/v1/x?a=1' --data '{"n":12345678901234567890}'\n`);
  expect(out).toContain(`> POST ${service.url}/v1/x?a=1\n`);
  expect(out).toContain('> authorization: Bearer ***\n');
  expect(out).toContain('{\n  "n": 12345678901234567890\n}\n');
  expect(out).toContain('< 409 Conflict\n');
  expect(out).toContain('< x-one: 1\n');
  expect(out).toContain('{\n  "error": {\n    "code": 7,\n    "why": "no"\n  }\n}\n');
  expect(await runJson('history show 1', { env })).toMatchObject({
    n: 1,
    status: 409,
    path: '/v1/x?a=1',
    response: { headers: expect.arrayContaining(['x-one: 1']), body: { error: { code: 7, why: 'no' } } },
  });
});

test('ignored names that the service reports are kept, and a body that is not JSON in full', async () => {
  const service = await answering('<html>a proxy</html>', 200, { 'x-sotra-ignored': 'limitt,pagee' });
  const { env, calls } = user(service.env);
  expect((await run('request GET /v1/x?limitt=2', { env })).code).toBe(13);
  expect(await calls()).toMatchObject([{ ignored: ['limitt', 'pagee'], errorCode: 'bad-answer' }]);
  expect((await run('history show 1', { env })).out).toContain('<html>a proxy</html>');
});

test('a body is kept to 64 KB, with the size of the whole', async () => {
  const text = JSON.stringify('ü'.repeat(200_000));
  const service = await answering(text);
  const { env, calls } = user(service.env);
  await run('request GET /v1/x', { env });
  const { cut, body } = (await calls('history show 1')).response;
  expect([cut, Buffer.byteLength(body)]).toEqual([{ bytes: 400_002 }, 65_535]);
});

test('a secret that is cut off with its body is hidden completely', async () => {
  const secret = `whsec_${'s'.repeat(400)}`;
  const service = await answering(`"${'a'.repeat(64 * 1024 - 200)} ${secret}"`);
  const { env, folder } = user(service.env);
  await run('request GET /v1/x', { env });
  expect(textIn(folder)).not.toContain('sss');
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

test('each attempt of a call is a line, with why it was tried again; a call that was only shown has none', async () => {
  const service = await stub((_, response, count) => response.writeHead(count === 1 ? 503 : 200).end('{"traders":[]}'));
  const { env, calls } = user(service.env);
  await run('leaderboard list', { env, skipWaits: true });
  await run('leaderboard list --dry-run', { env });
  const [second, first] = await calls();
  expect(first).toMatchObject({ n: 2, status: 503, attempt: 1, error: expect.stringContaining('HTTP 503') });
  expect([second.n, second.status, second.attempt, second.error]).toEqual([1, 200, 2, undefined]);
});

test('a call with a secret in it is kept without it, and not sent again', async () => {
  const service = await answering({ ok: true });
  const { env, folder, calls } = user({ ...service.env, SOTRA_API_KEY: 'sk-very-secret-1' });
  await run('request GET /v1/a -q key=sk-very-secret-1 -q b=2', { env });
  await run('request POST /v1/b --data {"signature":"0x1234567890"}', { env });
  expect(await calls()).toMatchObject([{ path: '/v1/b' }, { path: '/v1/a?key=***&b=2' }]);
  expect(statSync(join(folder, 'calls.ndjson')).mode & 0o777).toBe(0o600);
  for (const n of [1, 2]) {
    const refused = await run(`history run ${n} --yes`, { env });
    expect(refused).toEqual(failure(3, ' cannot be sent again: a secret in its '));
  }
  expect(service.requests.length).toBe(2);
});

test('a call is sent again to the same service, body included; a write asks first', async () => {
  const service = await answering({ ok: true });
  const { env, calls } = user({ SOTRA_API_KEY: 'key-of-mine' });
  const body = '{"n":12345678901234567890}';
  await run(['request', 'POST', "/v1/it's?a=1", '--data', body, '--base-url', service.url], { env });
  expect((await run('history run 1', { env })).code).toBe(2);
  expect(await run('history run 1 --yes', { env })).toMatchObject({ code: 0, out: '{\n  "ok": true\n}\n' });
  expect(service.requests.map(({ method, url, body }) => [method, url, body])).toEqual([
    ['POST', "/v1/it's?a=1", body],
    ['POST', "/v1/it's?a=1", body],
  ]);
  expect(service.requests[1]?.headers.authorization).toBe('Bearer key-of-mine');
  expect((await calls())[0]).toMatchObject({ n: 1, status: 200 });
});

test('a call of a context whose address was changed goes to the address that it went to', async () => {
  const [before, now] = [await answering({ ok: true }), await answering({ ok: true })];
  const { env } = user({ SOTRA_API_KEY: 'key-of-mine' });
  await run(`context set staging --base-url ${before.url}`, { env });
  await run('--context staging request POST /v1/x --data {}', { env });
  await run(`context set staging --base-url ${now.url} --yes`, { env });
  expect((await run('history run --yes', { env })).code).toBe(0);
  expect([before.requests.length, now.requests.length]).toEqual([2, 0]);
});

test('the secret of a webhook that is registered again is hidden in the answer', async () => {
  const { env, calls } = user();
  const hook = 'webhook register --url http://127.0.0.1:9/hook --wallet-addresses ext:a';
  await run(`--sandbox ${hook}`, { env });
  const { n } = (await calls()).find(({ method }: { method: string }) => method === 'POST');
  const { code, out, err } = await run(`history run ${n} --yes`, { env });
  expect([code, JSON.parse(out).secret]).toEqual([0, '***']);
  const listed = await runJson('--sandbox webhook list --show-secrets', { env });
  expect(listed).toHaveLength(2);
  for (const { secret } of listed) {
    expect(secret).toMatch(/^[\w-]{16,}$/);
    expect(out + err).not.toContain(secret);
  }
});

test('a number or an id that is not there is an error that tells how many calls there are', async () => {
  const { env } = user();
  expect((await run('history show 1', { env })).err).toContain('call 1: the history is empty');
  await run('--sandbox leaderboard list --limit 1', { env });
  for (const name of ['7', 'c7777777f'])
    expect(await run(`history run ${name}`, { env })).toEqual(failure(5, `call ${name}: the history has 1 call\n`));
  const word = await run('history show newest', { env });
  expect(word).toEqual(failure(2, '<call> newest: must be a number from 1, or an id such as c3f9a07b1'));
});

test('1 is the newest call and the default; an id stays the same when newer calls come', async () => {
  const service = await answering({ traders: [] });
  const { env, calls } = user(service.env);
  await run('leaderboard list --limit 1', { env });
  await run('leaderboard list --limit 2', { env });
  const [{ id: second }, { id: first }] = await calls();
  const pathOf = async (argv: string) => (await calls(argv)).path;
  expect(await pathOf('history show')).toBe('/v2/leaderboard?limit=2');
  expect(await pathOf('history show 1')).toBe('/v2/leaderboard?limit=2');
  expect(await pathOf('history show 2')).toBe('/v2/leaderboard?limit=1');
  expect(await pathOf(`history show ${first}`)).toBe('/v2/leaderboard?limit=1');
  expect((await run(`history run ${first}`, { env })).code).toBe(0);
  expect((await run('history run', { env })).code).toBe(0);
  expect(service.requests.map(({ url }) => url.slice(-1))).toEqual(['1', '2', '1', '1']);
  expect(await pathOf(`history show ${second}`)).toBe('/v2/leaderboard?limit=2');
  expect(await runJson(`why ${second}`, { env })).toMatchObject({ n: 3, id: second });
  expect(await calls('history list')).toEqual(await calls('history'));
});

test('SOTRA_HISTORY=0 keeps no call, and history clear removes those that are kept', async () => {
  const { env, calls } = user();
  await run('--sandbox leaderboard list --limit 1', { env: { ...env, SOTRA_HISTORY: '0' } });
  expect(await calls()).toEqual([]);
  await run('--sandbox leaderboard list --limit 1', { env });
  expect(await calls()).toMatchObject([{ n: 1 }]);
  expect((await run('history clear', { env })).code).toBe(2);
  expect((await run('history clear --dry-run', { env })).out).toContain('1 call');
  expect((await run('history clear --yes', { env })).err).toBe('Deleted 1 call.\n');
  expect(await calls()).toEqual([]);
});

test('lines that are torn, damaged or of a newer release are left out, and harm no line after them', async () => {
  const { env, folder, calls } = user();
  const file = join(folder, 'calls.ndjson');
  await run('--sandbox leaderboard list --limit 1', { env });
  const line = readFileSync(file, 'utf8');
  const [newer, odd] = [line.replace('"v":1', '"v":99'), line.replace('"url":"http', '"url":"')];
  appendFileSync(file, `\n\0\0\0${newer}\n[]\n7${odd}${line.slice(0, 300)}`);
  await run('--sandbox leaderboard list --limit 2', { env });
  expect(await run('history', { env })).toMatchObject({ code: 0, err: '' });
  expect(await calls()).toMatchObject([{ path: '/v2/leaderboard?limit=2' }, { path: '/v2/leaderboard?limit=1' }]);
});

long('a file of 16 MB is put aside, and three are kept', async () => {
  const { env, folder, calls } = user((await answering({ traders: [] })).env);
  const call = (limit: number) => run(`leaderboard list --limit ${limit}`, { env });
  const names = () => readdirSync(folder).filter((name) => name.endsWith('.ndjson'));
  for (const limit of [1, 2, 3, 4]) {
    await call(limit);
    truncateSync(join(folder, 'calls.ndjson'), 16 * 1024 * 1024);
  }
  await call(5);
  expect(names()).toEqual(['calls.1.ndjson', 'calls.2.ndjson', 'calls.ndjson']);
  const limits = (await calls()).map(({ path }: { path: string }) => Number(path.slice(-1)));
  expect(limits).toEqual([5, 4, 3]);
});

test.each<[what: string, make: (data: string) => void]>([
  ['a file as data folder', (data) => writeFileSync(data, '')],
  ['a file as log', (data) => [mkdirSync(data), writeFileSync(join(data, 'history'), '')]],
  ['a link to a device as log', (data) => [mkdirSync(data), symlinkSync('/dev/full', join(data, 'history'))]],
])('%s: one warning, and answer and exit code are those without a log', async (_, make) => {
  const service = await stub(({ url }, response) => {
    response.statusCode = url.includes('missing') ? 404 : 200;
    response.end(url.includes('garbage') ? '<html>' : '{"traders":[]}');
  });
  const { env } = user(service.env);
  make(env.SOTRA_DATA_DIR);
  for (const [argv, code] of [
    ['leaderboard list --json', 0],
    ['request GET /v1/missing', 5],
    ['request GET /v1/garbage', 13],
    ['request GET /v1/away --base-url http://127.0.0.1:9 --retries 0', 9],
  ] as const) {
    const without = await run(argv, { env: { ...env, SOTRA_HISTORY: '0' } });
    const { out, err, ...ended } = await run(argv, { env });
    const [warning, ...rest] = err.split('\n');
    expect([argv, ended.code, out]).toEqual([argv, code, without.out]);
    expect(warning).toMatch(/^warning: this call is not in the history: /);
    expect(rest.join('\n')).toBe(without.err);
  }
});

test('a board that cannot be saved or read stops no command', async () => {
  const { env, folder } = user((await answering({ traders: [] })).env);
  await run('alias set me 0xb7b6f3cea3f66bf525f5d8f965f6dbf6d9b017b2', { env });
  mkdirSync(join(folder, '..'), { recursive: true });
  writeFileSync(folder, 'a file where the folder should be');
  const { err } = await run('leaderboard list --json', { env });
  expect(err).toMatch(/^warning: this call is not in the history: [^\n]*\n$/);
  expect(await run('profile get @me --quiet', { env })).toMatchObject({ code: 0, err: '' });
  rmSync(folder);
  mkdirSync(join(folder, 'board.json'), { recursive: true });
  expect((await run('profile get #1', { env })).err).toMatch(/^warning: the last board cannot be read: .* is a folder/);
});
