import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { configDirectory, dataDirectory } from '../../../../src/lib/config/config.ts';
import { takeLock } from '../../../../src/lib/files/database.ts';
import type { Io } from '../../../../src/lib/io.ts';
import { failure, run, temporaryFolder } from '../../../support/harness.ts';

test('a command that waits for the lock of a running process can be interrupted, and changes nothing', async () => {
  const folder = temporaryFolder();
  const release = takeLock(join(folder, 'config.lock'), 'it');
  onTestFinished(release);
  const options = { env: { SOTRA_CONFIG_DIR: folder }, signal: AbortSignal.timeout(100) };
  const { code } = await run('context set own --base-url https://a.example.com', options);
  expect(code).toBe(130);
  expect(readdirSync(folder)).toEqual(['config.lock']);
});

test.each([
  ['the settings', 'context list', 'config.json'],
  ['the settings, to change them', 'context set own --base-url https://a.example.com', 'config.json'],
  ['the database of the sandbox', '--sandbox leaderboard list', 'sandbox.db'],
  ['a stored key', 'key export own', 'keys/own.json'],
])('a FIFO in the place of %s is exit 3 at once, not a wait for ever', async (_, argv, name) => {
  const folder = temporaryFolder();
  const env = { SOTRA_CONFIG_DIR: folder, SOTRA_DATA_DIR: folder };
  const file = join(folder, name);
  mkdirSync(dirname(file), { recursive: true });
  execFileSync('mkfifo', [file]);
  const { code, err } = await run(argv, { env });
  expect([code, err]).toEqual([3, expect.stringContaining(file)]);
});

test('settings and data are in the folders of the system for them', () => {
  const on = (platform: string, env: Record<string, string>) => {
    const machine = { env, system: { platform } } as Io;
    return [configDirectory(machine), dataDirectory(machine)];
  };
  expect(on('linux', { HOME: '/home/a' })).toEqual(['/home/a/.config/sotra', '/home/a/.local/share/sotra']);
  expect(on('darwin', { HOME: '/a', APPDATA: '/x' })).toEqual(['/a/.config/sotra', '/a/.local/share/sotra']);
  expect(on('linux', { HOME: '/a', XDG_CONFIG_HOME: '/c', XDG_DATA_HOME: '/d' })).toEqual(['/c/sotra', '/d/sotra']);
  const paths = { USERPROFILE: 'C:\\Users\\a', APPDATA: 'C:\\Users\\a\\Roaming', LOCALAPPDATA: 'C:\\Users\\a\\Local' };
  expect(on('win32', paths)).toEqual(['C:\\Users\\a\\Roaming\\sotra', 'C:\\Users\\a\\Local\\sotra']);
  expect(on('win32', { USERPROFILE: 'C:\\Users\\a' })[0]).toBe('C:\\Users\\a\\.config\\sotra');
  expect(on('win32', { SOTRA_CONFIG_DIR: 'D:\\own', SOTRA_DATA_DIR: 'D:\\data' })).toEqual(['D:\\own', 'D:\\data']);
});

test.each([
  ['{"contexts":{"a":{"baseUrl":5}}}', 'contexts.a.baseUrl: expected string'],
  [
    '{"contexts":{"a":{"layout":"six-line"}}}',
    'contexts.a.layout: Invalid option: expected one of "five-line"|"blank-line"',
  ],
  ['{"contexts":{"a":{"wire":{"*.limit":1}}}}', 'contexts.a.wire.*.limit: expected string'],
  ['{"contexts":{},"aliases":null}', 'aliases: expected record'],
])('settings %s are exit 3 and name the problem', async (text, message) => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'config.json'), text);
  expect(await run('context list', { env: { SOTRA_CONFIG_DIR: folder } })).toMatchObject(failure(3, message));
});

test.each([
  ['holds something else', (file: string) => writeFileSync(file, '{"half')],
  ['is a folder', (file: string) => mkdirSync(file)],
  ['is a pipe', (file: string) => execFileSync('mkfifo', [file])],
])('a lock file that %s is exit 3 naming it', async (_, make) => {
  const folder = temporaryFolder();
  const file = join(folder, 'config.lock');
  make(file);
  const outcome = await run('context set a --base-url https://a.example.com', { env: { SOTRA_CONFIG_DIR: folder } });
  expect(outcome).toMatchObject(failure(3, file));
});
