import { execFile, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { answering, openPort, run, stub, temporaryFolder } from '../support/harness.ts';
import { bodyOf, listen, send, signed } from '../support/listening.ts';
import { start } from '../support/processes.ts';
import { serveSandbox } from '../support/served.ts';
import { size } from '../support/size.ts';
import { until } from '../support/until.ts';

const execute = promisify(execFile);

test('--version and --help answer from the built program', async () => {
  const version = start('--version');
  expect([await version.ended, version.printed]).toEqual([0, { out: '1.0.0\n', err: '' }]);
  const help = start('leaderboard list --help');
  expect([await help.ended, help.printed.err]).toEqual([0, '']);
  expect(help.printed.out.replaceAll(/\s+/g, ' ')).toContain('a whole number from 1 to 250');
});

test('an unbuilt clone says what to type, and exits 3', async () => {
  const clone = temporaryFolder();
  cpSync('bin', join(clone, 'bin'), { recursive: true });
  expect(await execute(process.execPath, [join(clone, 'bin/sotra.js')]).catch((error) => error)).toMatchObject({
    code: 3,
    stdout: '',
    stderr: 'error: this clone of sotra is not built yet; type: npm ci && npm run build\n',
  });
});

test('a served sandbox answers the tool and plain curl alike, refuses other names, and is gone after SIGTERM', async () => {
  const readyFile = join(temporaryFolder(), 'ready.json');
  const { child, ended } = start(`sandbox start --port 0 --ready-file ${readyFile}`);
  const ready = await until(() => (existsSync(readyFile) ? JSON.parse(readFileSync(readyFile, 'utf8')) : undefined));
  expect(ready).toMatchObject({ pid: child.pid, keys: ['sandbox-key-a', 'sandbox-key-b'] });
  expect(ready.controlToken.length).toBeGreaterThan(20);
  expect(statSync(readyFile).mode & 0o777).toBe(0o600);
  const env = { SOTRA_API_KEY: 'sandbox-key-a', SOTRA_BASE_URL: ready.url };
  const curl = async (path: string, ...more: string[]) => {
    const key = ['-H', 'Authorization: Bearer sandbox-key-a'];
    return (await execute('curl', ['-s', '-w', ' %{http_code}', ...key, ...more, `${ready.url}${path}`])).stdout;
  };
  const listed = await curl('/v2/leaderboard?chains=solana&limit=5');
  const list = await run('leaderboard list --chains solana --limit 5 --json', { env });
  expect(JSON.parse(list.out)).toEqual(JSON.parse(listed.replace(/ 200$/, '')));
  const third = JSON.parse(list.out).traders[2].profile.addresses[0];
  const inProcess = await run(`--sandbox profile get ${third} --json`);
  expect(JSON.parse((await run(`profile get ${third} --json`, { env })).out)).toEqual(JSON.parse(inProcess.out));
  expect(await curl('/v2/leaderboard', '-H', 'Host: evil.example')).toMatch(/^\{"error":".*"\} 403$/);
  expect(await curl('/v2/nothing')).toBe('{"error":"no such endpoint: GET /v2/nothing"} 404');
  expect(await curl('/v2/leaderboard?limit=251')).toBe(
    '{"error":"limit 251: must be a whole number from 1 to 250"} 400',
  );
  child.kill('SIGTERM');
  expect([await ended, existsSync(readyFile)]).toEqual([0, false]);
  const gone = await run('leaderboard list --retries 0', { env });
  expect(gone).toMatchObject({ code: 9, out: '', err: expect.stringContaining(ready.url) });
});

test('sandbox start --detach returns once it answers, and the process that it names can be stopped', async () => {
  const data = join(temporaryFolder(), 'parent', 'data');
  const { printed, ended } = start('sandbox start --detach --port 0 --json', {
    SOTRA_DATA_DIR: data,
    SOTRA_API_KEY: 'a-key',
  });
  expect(await ended).toBe(0);
  const ready = JSON.parse(printed.out);
  onTestFinished(() => {
    try {
      process.kill(ready.pid, 'SIGKILL');
    } catch {
      // It has ended by itself.
    }
  });
  expect([dirname(data), data].map((folder) => statSync(folder).mode & 0o777)).toEqual([0o700, 0o700]);
  // A process that goes on has no key in its environment, which others may read.
  if (existsSync('/proc/self/environ'))
    expect(readFileSync(`/proc/${ready.pid}/environ`, 'utf8')).not.toContain('SOTRA_API_KEY');
  const env = { SOTRA_API_KEY: 'sandbox-key-b', SOTRA_BASE_URL: ready.url };
  expect((await run('leaderboard list --limit 1', { env })).code).toBe(0);
  const headers = { 'x-control-token': ready.controlToken };
  const stopped = await fetch(`${ready.url}/_sandbox/stop`, { method: 'POST', headers });
  expect(await stopped.json()).toEqual({ pid: ready.pid });
  await until(() => !existsSync(join(data, 'sandbox-ready.json')));
});

test('a port that is taken is exit 3 and names the port', async () => {
  const port = await openPort(createServer());
  const { code, err } = await run(`sandbox start --port ${port}`);
  expect([code, err]).toEqual([3, expect.stringContaining(`cannot listen on port ${port}`)]);
});

test('files of the first commands are private to the user, whatever the umask', async () => {
  const folder = temporaryFolder();
  const lines = [
    '--sandbox leaderboard list',
    'context set own --base-url http://127.0.0.1:9',
    `sandbox reset --empty --db ${folder}/data/own.db --yes`,
  ];
  const script = lines.map((line) => `${process.execPath} bin/sotra.js ${line}`).join(' && ');
  const env = {
    PATH: process.env['PATH'],
    SOTRA_DATA_DIR: join(folder, 'data'),
    SOTRA_CONFIG_DIR: join(folder, 'config'),
  };
  await execute('sh', ['-c', `umask 000; ${script}`], { env });
  const made = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => /^(data|config)/.test(name));
  expect(made).toEqual(expect.arrayContaining(['config/config.json', 'data/own.db']));
  expect(made.filter((name) => (statSync(join(folder, name)).mode & 0o077) !== 0)).toEqual([]);
});

test('webhook events --wait prints the first event that fits, from a listener in another process', async () => {
  const folder = temporaryFolder();
  const { url } = await listen(folder);
  const deliver = (id: string, type: string) => send(url, bodyOf(id, type), signed(bodyOf(id, type)));
  await deliver('before', 'copyswap');
  const waiting = start('webhook events --type copyswap --wait 60s --json', { SOTRA_DATA_DIR: folder });
  for (let count = 0; waiting.child.exitCode === null; count += 1) {
    await deliver(`other-${count}`, 'new-feed-item');
    await deliver(`copy-${count}`, 'copyswap');
  }
  expect(await waiting.ended).toBe(0);
  expect(JSON.parse(waiting.printed.out)).toMatchObject([
    { eventType: 'copyswap', eventId: expect.stringMatching(/^copy-\d+$/) },
  ]);
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

test('an inbox whose server says nothing: exit 9, and the process ends', async () => {
  const inbox = `nats://127.0.0.1:${await openPort(createServer())}/X`;
  const { ended, printed } = start(['webhook', 'events', '--inbox', inbox]);
  expect(await ended).toBe(9);
  expect(printed.err).toContain('cannot connect to the inbox X');
});

test('doctor ends once all is printed, without waiting for the rest of an answer', async () => {
  const service = await stub((_, response) => void response.writeHead(200, { 'content-length': '20' }).write('{'));
  const started = Date.now();
  const { printed, ended } = start('doctor', service.env);
  expect([await ended, printed.out]).toEqual([0, expect.stringContaining('HTTP 200')]);
  // It gives a service ten seconds.
  expect(Date.now() - started).toBeLessThan(8000);
});

test('bundle without flags is a new file of this folder, which is summed up in at most ten lines before it is named', async () => {
  const [data, cwd] = [temporaryFolder(), temporaryFolder()];
  const service = await answering({ error: 'no' }, 404);
  const env = { ...service.env, SOTRA_DATA_DIR: data, SOTRA_CONFIG_DIR: data, PATH: '' };
  await run('request POST /v1/x', { env });
  const { stdout } = await execute(process.execPath, [resolve('bin/sotra.js'), 'bundle'], { cwd, env });
  const lines = stdout.trimEnd().split('\n');
  expect(lines.length).toBeLessThanOrEqual(10);
  expect(stdout).toContain('POST /v1/x: no (HTTP 404');
  const [file = '', ...others] = readdirSync(cwd);
  expect([file, others]).toEqual([
    expect.stringMatching(/^sotra-bundle-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z\.json$/),
    [],
  ]);
  expect(lines.at(-1)).toContain(file);
  const made = join(cwd, file);
  expect([statSync(made).mode & 0o777, JSON.parse(readFileSync(made, 'utf8')).failedCalls]).toEqual([
    0o600,
    [expect.objectContaining({ status: 404 })],
  ]);
});

test('commands that change the settings at the same time all find their change in the file, which is whole at any moment', async () => {
  const env = { SOTRA_CONFIG_DIR: temporaryFolder() };
  const file = join(env.SOTRA_CONFIG_DIR, 'config.json');
  const names = Array.from({ length: size(2, 20) }, (_, index) => `context-${index}`);
  const started = names.map((name) => start(`context set ${name} --base-url https://a.example.com`, env));
  await until(() => {
    if (existsSync(file)) JSON.parse(readFileSync(file, 'utf8'));
    return started.every(({ child }) => child.exitCode !== null);
  });
  expect(await Promise.all(started.map(({ ended }) => ended))).toEqual(names.map(() => 0));
  expect(Object.keys(JSON.parse(readFileSync(file, 'utf8')).contexts).sort()).toEqual([...names].sort());
  expect([statSync(file).mode & 0o777, readdirSync(env.SOTRA_CONFIG_DIR)]).toEqual([
    0o600,
    ['config.json', 'config.lock'],
  ]);
});

/** What a process sees that is started in a folder which holds settings of somebody else. */
function contextsIn(env: Record<string, string>): { status: number | null; stdout: string; stderr: string } {
  const folder = temporaryFolder();
  mkdirSync(join(folder, '.config', 'sotra'), { recursive: true });
  const planted = { current: 'planted', contexts: { planted: { baseUrl: 'https://planted.example.com' } } };
  writeFileSync(join(folder, '.config', 'sotra', 'config.json'), JSON.stringify(planted));
  return spawnSync(process.execPath, [resolve('bin/sotra.js'), 'context', 'list'], {
    cwd: folder,
    env,
    encoding: 'utf8',
  });
}

test.each([
  ['HOME not set', {}],
  ['HOME empty', { HOME: '' }],
  ['XDG_CONFIG_HOME relative', { HOME: join(tmpdir(), 'sotra-no-such-home'), XDG_CONFIG_HOME: '.config' }],
  ['APPDATA relative', { HOME: join(tmpdir(), 'sotra-no-such-home'), APPDATA: '.config' }],
])('with %s no settings are read from the current folder', (_, env: Record<string, string>) => {
  const { status, stdout } = contextsIn(env);
  expect([status, stdout.includes('clicker'), stdout.includes('planted')]).toEqual([0, true, false]);
});

test.each([
  ['HOME', '.', 'error: HOME is ., not an absolute path\nhint: Set SOTRA_CONFIG_DIR to an absolute path.\n'],
  [
    'SOTRA_CONFIG_DIR',
    '.config/sotra',
    'error: SOTRA_CONFIG_DIR .config/sotra: must be an absolute path\nhint: Set SOTRA_CONFIG_DIR to an absolute path.\n',
  ],
])('a relative %s is exit 3', (name, value, stderr) => {
  expect(contextsIn({ [name]: value })).toMatchObject({ status: 3, stdout: '', stderr });
});

const token = '0x4ed4e862860bed51a9570b96d89af5e1b0efefed';

/** A service whose lists never end, with pages of 40 KB. */
const servePages = () =>
  stub((_, response, count) => void response.end(JSON.stringify([{ itemId: `${count}`.padEnd(40_000) }])));

/** The lines of the log that are whole. */
function readLines(folder: string): { response: { status: number }; _sotra: { id: string } }[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.ndjson'))
    .flatMap((name) => readFileSync(join(folder, name), 'utf8').split('\n'))
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

test('fifty processes that write at once lose no line, and share no id', async () => {
  const service = await servePages();
  const folder = temporaryFolder();
  const env = { ...service.env, SOTRA_DATA_DIR: folder };
  const [processes, pages] = [size(4, 50), 20];
  const argv = `token positions base ${token} open --limit 1 --max ${pages} --format ndjson --quiet`;
  const codes = await Promise.all(Array.from({ length: processes }, () => start(argv, env).ended));
  expect(new Set(codes)).toEqual(new Set([0]));
  const history = join(folder, 'history');
  const lines = readLines(history);
  // Attempts that reached nobody are lines too.
  const answered = lines.filter(({ response }) => response.status === 200);
  expect([answered.length, service.requests.length]).toEqual([processes * pages, processes * pages]);
  expect(new Set(lines.map(({ _sotra }) => _sotra.id)).size).toBe(lines.length);
  for (const name of readdirSync(history)) expect(statSync(join(history, name)).mode & 0o777).toBe(0o600);
}, 120_000);

test('processes that are killed leave whole lines, and those that write meanwhile lose none', async () => {
  const service = await servePages();
  const folder = temporaryFolder();
  const env = { ...service.env, SOTRA_DATA_DIR: folder };
  const pages = size(50, 90);
  const argv = `token positions base ${token} open --limit 1 --max ${pages} --format ndjson --quiet`;
  const begun = Array.from({ length: size(2, 20) }, () => start(argv, env));
  const spared = start(argv, env);
  await until(() => service.requests.length > 20, 'the processes write');
  for (const { child } of begun) child.kill('SIGKILL');
  expect(await spared.ended).toBe(0);
  await Promise.all(begun.map(({ ended }) => ended));
  const calls = JSON.parse((await run('history --limit 100000 --json', { env })).out);
  expect(calls.filter(({ pid }: { pid: number }) => pid === spared.child.pid)).toHaveLength(pages);
  expect(await run('history --limit 1 --json', { env })).toMatchObject({ code: 0 });
}, 120_000);
