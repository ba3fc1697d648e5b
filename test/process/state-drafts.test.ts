import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { run, temporaryFolder } from '../support/harness.ts';

/** The number of a process that has ended. */
const deadPid = () => spawnSync(process.execPath, ['--version']).pid;

function leave(folder: string, name: string, minutesAgo: number): void {
  mkdirSync(dirname(join(folder, name)), { recursive: true });
  writeFileSync(join(folder, name), '{"half');
  const at = Date.now() / 1000 - minutesAgo * 60;
  utimesSync(join(folder, name), at, at);
}

test('drafts that a killed process left go with the next change of the settings; young ones and what is not ours stay', async () => {
  const folder = temporaryFolder();
  const ours = ['config.json.tmp-5245811440579385', 'config.json.sotra-0a1b2c3d.tmp', 'config.lock.sotra-0a1b2c3d.tmp'];
  const theirs = ['notes.0a1b2c3d.tmp', 'sotra-0a1b2c3d.tmp.txt', 'other.json.tmp-5245811440579385'];
  for (const name of [...ours, ...theirs]) leave(folder, name, 60);
  leave(folder, 'config.json.sotra-99999999.tmp', 1);
  expect(
    await run('context set a --base-url https://a.example.com', { env: { SOTRA_CONFIG_DIR: folder } }),
  ).toMatchObject({
    code: 0,
  });
  expect(readdirSync(folder).sort()).toEqual(['config.json', 'config.json.sotra-99999999.tmp', ...theirs].sort());
  for (const name of theirs) expect(readFileSync(join(folder, name), 'utf8')).toBe('{"half');
});

const deadOwner = (token: string) => JSON.stringify({ pid: deadPid(), host: hostname(), token });

test.each([
  ['a process that has ended', () => deadOwner('0123456789abcdef')],
  ['one that wrote nothing in it', () => ''],
])('a lock that was just being broken by %s is taken over at once', async (_, mark) => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'config.lock'), deadOwner('fedcba9876543210'));
  writeFileSync(join(folder, 'config.lock.takeover'), mark());
  const from = performance.now();
  const done = await run('context set a --base-url https://a.example.com', { env: { SOTRA_CONFIG_DIR: folder } });
  expect(done).toMatchObject({ code: 0 });
  expect(performance.now() - from).toBeLessThan(5000);
  expect(readdirSync(folder)).toEqual(['config.json']);
});
