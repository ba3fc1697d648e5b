import { execFile, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { answering, openPort, run, stub, temporaryFolder, until } from '../support/harness.ts';
import { start, startShell } from '../support/processes.ts';
import { size } from '../support/size.ts';

const execute = promisify(execFile);

test('an unbuilt clone says what to type, and exits 3', async () => {
  const clone = temporaryFolder();
  cpSync('bin', join(clone, 'bin'), { recursive: true });
  expect(await execute(process.execPath, [join(clone, 'bin/sotra.js')]).catch((error) => error)).toMatchObject({
    code: 3,
    stdout: '',
    stderr: 'error: this clone of sotra is not built yet; type: npm ci && npm run build\n',
  });
});

test('files of the first commands are private to the user, whatever the umask', async () => {
  const folder = temporaryFolder();
  const lines = [
    '--sandbox leaderboard list',
    'context set own --base-url http://127.0.0.1:9',
    `sandbox reset --empty --db ${folder}/data/own.db --yes`,
  ];
  const env = { SOTRA_DATA_DIR: join(folder, 'data'), SOTRA_CONFIG_DIR: join(folder, 'config') };
  const script = lines.map((line) => `sotra ${line}`).join(' && ');
  expect(await startShell(`umask 000; ${script}`, env).ended).toBe(0);
  const made = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => /^(data|config)/.test(name));
  expect(made).toEqual(expect.arrayContaining(['config/config.json', 'data/own.db']));
  expect(made.filter((name) => (statSync(join(folder, name)).mode & 0o077) !== 0)).toEqual([]);
});

test('an inbox whose server says nothing: exit 9, and the process ends', async () => {
  const inbox = `nats://127.0.0.1:${await openPort(createServer())}/X`;
  const { ended, printed } = start(['webhook', 'events', '--inbox', inbox]);
  expect(await ended).toBe(9);
  expect(printed.err).toContain('cannot connect to the inbox X');
});

test('doctor ends once all is printed, without waiting for the rest of an answer', async () => {
  let askedMs = 0;
  const service = await stub((_, response) => {
    askedMs = Date.now();
    response.writeHead(200, { 'content-length': '20' }).write('{');
  });
  const { printed, ended } = start('doctor', service.env);
  expect([await ended, printed.out]).toEqual([0, expect.stringContaining('HTTP 200')]);
  // It gives a service ten seconds.
  expect(Date.now() - askedMs).toBeLessThan(8000);
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

test('concurrent changes of the settings are all in the file, which is complete at any moment', async () => {
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
  const cwd = temporaryFolder();
  mkdirSync(join(cwd, '.config', 'sotra'), { recursive: true });
  const planted = { current: 'planted', contexts: { planted: { baseUrl: 'https://planted.example.com' } } };
  writeFileSync(join(cwd, '.config', 'sotra', 'config.json'), JSON.stringify(planted));
  return spawnSync(process.execPath, [resolve('bin/sotra.js'), 'context', 'list'], { cwd, env, encoding: 'utf8' });
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
