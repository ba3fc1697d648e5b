import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { run, temporaryFolder } from '../support/harness.ts';
import { some } from '../support/size.ts';

const execute = promisify(execFile);
const envOf = (folder: string) => ({ PATH: process.env['PATH'], SOTRA_DATA_DIR: folder, SOTRA_CONFIG_DIR: folder });

async function tradesIn(folder: string): Promise<number> {
  const { out } = await run('sandbox status --json', { env: { SOTRA_DATA_DIR: folder } });
  return JSON.parse(out).trades;
}

test('four processes that use a new sandbox at once find the same world, and leave one file', async () => {
  const folder = temporaryFolder();
  const all = await Promise.all(
    Array.from({ length: 4 }, () =>
      execute(process.execPath, ['bin/sotra.js', 'sandbox', 'status', '--json'], { env: envOf(folder) }),
    ),
  );
  expect(all.map(({ stdout }) => JSON.parse(stdout).trades)).toEqual([2508, 2508, 2508, 2508]);
  expect(readdirSync(folder)).toEqual(['sandbox.db']);
});

test.each(some([0, 5, 10, 20, 40, 60], 2))(
  'killed %i ms after the file of a new sandbox is there, it is whole at the next use',
  async (ms) => {
    const folder = temporaryFolder();
    const child = spawn(process.execPath, ['bin/sotra.js', 'sandbox', 'status'], {
      env: envOf(folder),
      stdio: 'ignore',
    });
    const ended = once(child, 'exit');
    while (!existsSync(join(folder, 'sandbox.db')) && child.exitCode === null) await delay(1);
    await delay(ms);
    child.kill('SIGKILL');
    await ended;
    expect(await tradesIn(folder)).toBe(2508);
    expect(readdirSync(folder).filter((name) => name.includes('demo'))).toEqual([]);
  },
);

test('what a process that was killed unpacked is removed when the world is made; a file of another name stays', async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'sandbox.db-demo-0a1b2c3d-0000-4000-8000-000000000000.tmp'), 'half');
  writeFileSync(join(folder, 'other.db-demo-1.tmp'), 'mine');
  expect(await tradesIn(folder)).toBe(2508);
  expect(readdirSync(folder).filter((name) => name.includes('demo'))).toEqual(['other.db-demo-1.tmp']);
});

test('a disk that fills up while the world is made is exit 3 and says so; with room again it is made', async () => {
  const folder = temporaryFolder();
  const script = `trap '' XFSZ; ulimit -f 1500; exec ${process.execPath} bin/sotra.js sandbox status`;
  const failed = await execute('bash', ['--norc', '-c', script], { env: envOf(folder) }).catch((error) => error);
  expect(failed.code).toBe(3);
  expect(failed.stderr).toContain('disk');
  expect(await tradesIn(folder)).toBe(2508);
});
