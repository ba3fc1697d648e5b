import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { run, temporaryFolder } from '../support/harness.ts';
import { serve, start } from '../support/processes.ts';
import { long, size, some } from '../support/size.ts';

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
