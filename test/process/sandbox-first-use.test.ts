import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { run, temporaryFolder } from '../support/harness.ts';
import { some } from '../support/size.ts';

const execute = promisify(execFile);
const board = '--sandbox leaderboard list';
const envOf = (folder: string) => ({ PATH: process.env['PATH'], SOTRA_DATA_DIR: folder, SOTRA_CONFIG_DIR: folder });

async function tradesIn(folder: string): Promise<number> {
  const { out } = await run('sandbox status --json', { env: { SOTRA_DATA_DIR: folder } });
  return JSON.parse(out).trades;
}

test('four processes that use a new sandbox at once find the same world, and leave one file', async () => {
  const folder = temporaryFolder();
  const all = await Promise.all(
    ['sandbox status', 'sandbox status', board, board].map((line) =>
      execute(process.execPath, ['bin/sotra.js', ...line.split(' '), '--json'], { env: envOf(folder) }),
    ),
  );
  const found = all.map(({ stdout }) => JSON.parse(stdout));
  expect(found.map(({ trades, traders }) => trades ?? traders.length)).toEqual([2508, 2508, 40, 40]);
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

test.each(some(['sandbox status', board], 1))(
  'a disk that fills up in %s is exit 3 and says so; with room again the world is made',
  async (line) => {
    const folder = temporaryFolder();
    const script = `trap '' XFSZ; ulimit -f 1500; exec ${process.execPath} bin/sotra.js ${line}`;
    const failed = await execute('bash', ['--norc', '-c', script], { env: envOf(folder) }).catch((error) => error);
    expect(failed.code).toBe(3);
    expect(failed.stderr).toContain('disk');
    expect(await tradesIn(folder)).toBe(2508);
  },
);
