import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { cpSync, existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { run, temporaryFolder } from '../support/harness.ts';
import { long } from '../support/size.ts';
import { until } from '../support/until.ts';

const bin = 'bin/sotra.js';
const execute = promisify(execFile);

interface ProcessEnd {
  code: number | null;
  signal: NodeJS.Signals | null;
  out: string;
  err: string;
}

const folders = () => {
  const folder = temporaryFolder();
  return { SOTRA_DATA_DIR: folder, SOTRA_CONFIG_DIR: folder };
};

function environment(more: Record<string, string> = {}): NodeJS.ProcessEnv {
  return { PATH: process.env['PATH'], ...folders(), ...more };
}

function start(argv: readonly string[], env: NodeJS.ProcessEnv): { child: ChildProcess; ended: Promise<ProcessEnd> } {
  const child = spawn(process.execPath, [bin, ...argv], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const text = { out: '', err: '' };
  child.stdout.on('data', (chunk) => {
    text.out += chunk;
  });
  child.stderr.on('data', (chunk) => {
    text.err += chunk;
  });
  const ended = new Promise<ProcessEnd>((resolve) =>
    child.on('close', (code, signal) => resolve({ code, signal, ...text })),
  );
  return { child, ended };
}

const sotra = (argv: string, env: NodeJS.ProcessEnv) => start(argv.split(' '), env).ended;

async function serve(env: NodeJS.ProcessEnv, ...more: string[]) {
  const readyFile = join(temporaryFolder(), 'ready.json');
  const server = start(['sandbox', 'start', '--port', '0', '--ready-file', readyFile, ...more], env);
  const ready = await until(() => (existsSync(readyFile) ? JSON.parse(readFileSync(readyFile, 'utf8')) : undefined));
  return { ...server, ready, readyFile };
}

test('--version and --help answer from the built program', async () => {
  const version = await sotra('--version', environment());
  expect(version).toMatchObject({ code: 0, out: '1.0.0\n', err: '' });
  const help = await sotra('leaderboard list --help', environment());
  expect(help.out).toContain('--limit <n>');
  expect(help.out.replaceAll(/\s+/g, ' ')).toContain('a whole number from 1 to 250');
  expect(help.out).toContain('GET /v2/leaderboard');
  expect(help).toMatchObject({ code: 0, err: '' });
});

for (const round of [1, 2, 3, 4, 5])
  long(`several processes that open a new sandbox at one moment all see the same world (${round})`, async () => {
    const preload = pathToFileURL(join(import.meta.dirname, 'meet.mjs')).href;
    const count = 8;
    const env = environment({
      NODE_OPTIONS: `--import=${preload}`,
      MEET: temporaryFolder(),
      MEET_COUNT: String(count),
    });
    const all = await Promise.all(
      Array.from({ length: count }, () => sotra('--sandbox leaderboard list --columns rank,pnlUsd,profileId', env)),
    );
    expect(all.map(({ code, err }) => ({ code, err }))).toEqual(Array(count).fill({ code: 0, err: all[0]?.err }));
    expect(new Set(all.map(({ out }) => out)).size).toBe(1);
    const status = await sotra('sandbox status --json', { ...env, NODE_OPTIONS: '' });
    expect(JSON.parse(status.out)).toMatchObject({ world: 'demo', trades: 2508 });
  });

test('an unbuilt clone says what to type, and exits 3', async () => {
  const clone = temporaryFolder();
  cpSync('bin', join(clone, 'bin'), { recursive: true });
  const failed = await promisify(execFile)(process.execPath, [join(clone, 'bin/sotra.js')]).catch((error) => error);
  expect(failed).toMatchObject({
    code: 3,
    stdout: '',
    stderr: 'error: this clone of sotra is not built yet; type: npm ci && npm run build\n',
  });
});

test('a served sandbox answers the tool and plain curl alike, and is gone after SIGTERM', async () => {
  const env = environment();
  const { child, ended, ready, readyFile } = await serve(env);
  expect(ready).toMatchObject({ pid: child.pid, keys: ['sandbox-key-a', 'sandbox-key-b'] });
  expect(ready.controlToken.length).toBeGreaterThan(20);
  expect(statSync(readyFile).mode & 0o777).toBe(0o600);
  const client = { SOTRA_API_KEY: 'sandbox-key-a', SOTRA_BASE_URL: ready.url };
  const list = await run('leaderboard list --chains solana --limit 5 --json', { env: client });
  const { stdout } = await execute('curl', [
    '-s',
    '-H',
    'Authorization: Bearer sandbox-key-a',
    `${ready.url}/v2/leaderboard?chains=solana&limit=5`,
  ]);
  expect(JSON.parse(list.out)).toEqual(JSON.parse(stdout));
  const third = JSON.parse(stdout).traders[2].profile.addresses[0];
  const rank = await run(`leaderboard rank ${third} --chains solana --json`, { env: client });
  expect(JSON.parse(rank.out).ranking).toBe(3);
  const inProcess = await run(`--sandbox profile get ${third} --json`);
  const served = await run(`profile get ${third} --json`, { env: client });
  expect(JSON.parse(served.out)).toEqual(JSON.parse(inProcess.out));
  const wrongKey = await run('leaderboard list', { env: { ...client, SOTRA_API_KEY: 'wrong' } });
  expect(wrongKey).toMatchObject({ code: 4, out: '' });
  child.kill('SIGTERM');
  expect(await ended).toMatchObject({ code: 0 });
  expect(existsSync(readyFile)).toBe(false);
  const gone = await run('leaderboard list --retries 0', { env: client });
  expect(gone).toMatchObject({ code: 9, out: '' });
  expect(gone.err).toContain(ready.url);
});

test('a served sandbox refuses other Host headers, unknown paths and bodies that are too large', async () => {
  const { ready } = await serve(environment(), '--db', ':memory:', '--empty');
  const ask = async (...argv: string[]) => {
    const { stdout } = await execute('curl', [
      '-s',
      '-w',
      ' %{http_code}',
      '-H',
      'Authorization: Bearer sandbox-key-b',
      ...argv,
    ]);
    return stdout;
  };
  expect(await ask('-H', 'Host: evil.example', `${ready.url}/v2/leaderboard`)).toMatch(/^\{"error":".*"\} 403$/);
  expect(await ask(`${ready.url}/v2/nothing`)).toBe('{"error":"no such endpoint: GET /v2/nothing"} 404');
  expect(await ask(`${ready.url}/v2/leaderboard?limit=251`)).toBe(
    '{"error":"limit 251: must be a whole number from 1 to 250"} 400',
  );
  expect(await ask(`${ready.url}/v2/leaderboard/ranking`)).toMatch(/^\{"error":"address is required.*"\} 400$/);
  expect(await ask(`${ready.url}/v2/leaderboard`)).toBe('{"traders":[]} 200');
});

test('sandbox start --detach returns once it answers, and the process it names can be stopped', async () => {
  const data = join(temporaryFolder(), 'parent', 'data');
  const env = environment({ SOTRA_DATA_DIR: data });
  const { code, out } = await sotra('sandbox start --detach --port 0 --json', env);
  const ready = JSON.parse(out);
  expect([dirname(data), data].map((folder) => statSync(folder).mode & 0o777)).toEqual([0o700, 0o700]);
  onTestFinished(() => {
    try {
      process.kill(ready.pid, 'SIGKILL');
    } catch {
      // It has ended by itself.
    }
  });
  expect(code).toBe(0);
  const client = { SOTRA_API_KEY: 'sandbox-key-b', SOTRA_BASE_URL: ready.url };
  expect((await run('leaderboard list --limit 1', { env: client })).code).toBe(0);
  const stop = ['-s', '-X', 'POST', '-H', `x-control-token: ${ready.controlToken}`, `${ready.url}/_sandbox/stop`];
  expect((await execute('curl', stop)).stdout).toBe('{}');
  await until(() => (existsSync(join(env['SOTRA_DATA_DIR'] ?? '', 'sandbox-ready.json')) ? undefined : true));
});

test('a port that is taken is exit 3 and names the port', async () => {
  const { ready } = await serve(environment(), '--db', ':memory:', '--empty');
  const port = new URL(ready.url).port;
  const { code, err } = await run(`sandbox start --port ${port}`);
  expect(code).toBe(3);
  expect(err).toContain(`cannot listen on port ${port}`);
});
