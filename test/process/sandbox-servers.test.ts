import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { openDb } from '../../src/sandbox/db/store.ts';
import { run, temporaryFolder } from '../support/harness.ts';
import { serve, start } from '../support/processes.ts';
import { long, size, some } from '../support/size.ts';
import { until } from '../support/until.ts';

const follower = (client: number) => `0x${(client + 1).toString(16).padStart(40, '0')}`;
const target = (index: number) => `0x${(index + 1000).toString(16).padStart(40, '0')}`;

test('two servers and several processes write to one database at once: each write that was answered is seen by both', async () => {
  const count = size(15, 40);
  const folder = temporaryFolder();
  const first = await serve(folder, ['--empty']);
  const other = temporaryFolder();
  const { url } = await serve(other, ['--empty', '--db', first.db]);
  expect(url).not.toBe(first.url);
  const env = { SOTRA_DATA_DIR: folder, SOTRA_CONFIG_DIR: folder };
  const headers = { authorization: 'Bearer sandbox-key-a', 'content-type': 'application/json' };
  const put = async (client: number) => {
    for (let index = 0; index < count; index += 1) {
      const body = JSON.stringify({ targets: [target(client * 100 + index)] });
      const path = `${client % 2 === 0 ? first.url : url}/v1/addresses/${follower(client)}/follow`;
      const answer = await fetch(path, { method: 'PUT', headers, body });
      if (answer.status !== 200) throw new Error(await answer.text());
    }
  };
  const others = size(2, 4);
  const processes = Array.from({ length: others }, (_, index) =>
    start(['--sandbox', 'follow', 'add', follower(9), target(9000 + index)], env),
  );
  await Promise.all([0, 1, 2, 3].map(put));
  expect(await Promise.all(processes.map(({ ended }) => ended))).toEqual(Array(others).fill(0));
  for (const base of [first.url, url]) {
    const service = { ...env, SOTRA_BASE_URL: base, SOTRA_API_KEY: 'sandbox-key-a' };
    const held = async (client: number) => {
      const { out } = await run(`profile follows ${follower(client)} --all --format ndjson`, { env: service });
      return new Set(out.match(/0x[0-9a-f]{40}/g)).size;
    };
    expect([await held(0), await held(1), await held(2), await held(3), await held(9)]).toEqual([
      count,
      count,
      count,
      count,
      others,
    ]);
  }
});

long('a server that ends leaves the ready file of a later one', async () => {
  const folder = temporaryFolder();
  const first = await serve(folder, ['--empty']);
  const ready = join(folder, 'ready.json');
  const env = { SOTRA_DATA_DIR: folder, SOTRA_CONFIG_DIR: folder };
  const detached = start(['sandbox', 'start', '--detach', '--port', '0', '--ready-file', ready, '--json'], env);
  expect(await detached.ended).toBe(0);
  const { pid } = JSON.parse(detached.printed.out);
  onTestFinished(() => void process.kill(pid, 'SIGKILL'));
  expect(pid).not.toBe(first.child.pid);
  const ended = new Promise((resolve) => first.child.on('close', resolve));
  first.child.kill('SIGTERM');
  expect(await ended).toBe(0);
  expect(JSON.parse(readFileSync(ready, 'utf8')).pid).toBe(pid);
});

const execute = promisify(execFile);
const board = '--sandbox leaderboard list';
const envOf = (folder: string) => ({ PATH: process.env['PATH'], SOTRA_DATA_DIR: folder, SOTRA_CONFIG_DIR: folder });

async function tradesIn(folder: string): Promise<number> {
  const { out } = await run('sandbox status --json', { env: { SOTRA_DATA_DIR: folder } });
  return JSON.parse(out).trades;
}

test('processes that use a new sandbox at once find the same world, and leave one file', async () => {
  const folder = temporaryFolder();
  const all = await Promise.all(
    some(['sandbox status', 'sandbox status', board, board], 2).map((line) =>
      execute(process.execPath, ['bin/sotra.js', ...line.split(' '), '--json'], { env: envOf(folder) }),
    ),
  );
  const found = all.map(({ stdout }) => JSON.parse(stdout));
  expect(found.map(({ trades, traders }) => trades ?? traders.length)).toEqual(some([2508, 2508, 40, 40], 2));
  expect(readdirSync(folder)).toEqual(['history', 'sandbox.db']);
});

const moments = [0, 5, 10, 20, 40, 60];

test.each([
  ...some(moments, 1).map((ms) => ['sandbox status', ms] as const),
  ...some(moments, 1).map((ms) => [board, ms] as const),
])(
  '%s that is killed %i ms after it begins to write leaves a sandbox that is whole at the next use',
  async (line, ms) => {
    const folder = temporaryFolder();
    const child = spawn(process.execPath, ['bin/sotra.js', ...line.split(' ')], {
      env: envOf(folder),
      stdio: 'ignore',
    });
    const ended = once(child, 'exit');
    while (readdirSync(folder).length === 0 && child.exitCode === null) await delay(1);
    await delay(ms);
    child.kill('SIGKILL');
    await ended;
    expect(await tradesIn(folder)).toBe(2508);
  },
);

/** Loaded before the program: its clock is that far ahead once a file is there, as when it is set, or the machine slept. */
const jumping = `
import { existsSync } from 'node:fs';
const { Date: Real } = globalThis;
let ahead = 0;
setInterval(() => {
  if (existsSync(process.env.JUMP_FILE)) ahead = Number(process.env.JUMP_MS);
}, 20).unref();
globalThis.Date = class extends Real {
  constructor(...parts) {
    if (parts.length === 0) super(Real.now() + ahead);
    else super(...parts);
  }
  static now() {
    return Real.now() + ahead;
  }
};
`;

function startJumping(argv: string, jumpMs: number) {
  const folder = temporaryFolder();
  const [clock, jump] = [join(folder, 'clock.mjs'), join(folder, 'jump')];
  writeFileSync(clock, jumping);
  const env = { NODE_OPTIONS: `--import ${clock}`, JUMP_FILE: jump, JUMP_MS: String(jumpMs), SOTRA_DATA_DIR: folder };
  const running = start(argv.replaceAll('FOLDER', folder), env);
  return { ...running, folder, jump: () => writeFileSync(jump, '') };
}

/** Waits for a trade beyond those of the world that is made first, all at once. */
async function firstTrade(folder: string): Promise<void> {
  const file = join(folder, 'sandbox.db');
  await until(() => existsSync(file));
  const db = openDb(file);
  onTestFinished(() => db.close());
  const count = () => db.get<{ n: number }>('SELECT count(*) AS n FROM trade')?.n ?? 0;
  await until(() => count() > 0);
  const made = count();
  await until(() => count() > made);
}

const hourMs = 3_600_000;

test('a sandbox whose clock is set fifty years ahead answers as before', async () => {
  const { child, folder, ended, jump } = startJumping(
    'sandbox start --port 0 --ready-file FOLDER/ready.json',
    50 * 365.25 * 24 * hourMs,
  );
  const file = join(folder, 'ready.json');
  await until(() => existsSync(file) && readFileSync(file, 'utf8').endsWith('}\n'));
  const { url } = JSON.parse(readFileSync(file, 'utf8'));
  const ask = async (path: string) => {
    const answer = await fetch(url + path, {
      headers: { authorization: 'Bearer sandbox-key-a' },
      signal: AbortSignal.timeout(10_000),
    });
    return [answer.status, Object.keys((await answer.json()) as object)];
  };
  expect(await ask('/v2/leaderboard?limit=3')).toEqual([200, ['traders']]);
  jump();
  for (let count = 0; count < 30; count += 1) {
    expect(await ask('/v2/leaderboard?limit=3')).toEqual([200, ['traders']]);
    await delay(10);
  }
  child.kill('SIGINT');
  expect(await ended).toBe(0);
});

long('a simulation whose machine slept for eight hours still ends at Ctrl-C, and tells what it made', async () => {
  const { child, folder, printed, ended, jump } = startJumping(
    'sandbox simulate --rate 5000/s --for 24h --json',
    8 * hourMs,
  );
  await firstTrade(folder);
  jump();
  await delay(500);
  child.kill('SIGINT');
  const killed = Date.now();
  const code = await ended;
  expect([code, printed.err]).toEqual([130, expect.any(String)]);
  expect(Date.now() - killed).toBeLessThan(20_000);
  expect(JSON.parse(printed.out).trades).toBeGreaterThan(0);
});
