import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { configDirectory, dataDirectory } from '../../../src/setup/store.ts';
import type { World } from '../../../src/world.ts';
import { run, temporaryFolder } from '../../support/harness.ts';
import { size } from '../../support/size.ts';

/** A program that changes the settings many times through the store, as processes of sotra do. */
function writerProgram(): string {
  const folder = temporaryFolder();
  const source = join(folder, 'writer.ts');
  writeFileSync(
    source,
    `import { openSettings } from '${process.cwd()}/src/setup/store.ts';
    const [directory, name, count] = process.argv.slice(2);
    const readStartTime = (pid) => { try { process.kill(pid, 0); return ''; } catch { return undefined; } };
    const world = {
      pid: process.pid, random: Math.random, signal: new AbortController().signal, system: { readStartTime },
      sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
    };
    for (let i = 0; i < Number(count); i += 1)
      await openSettings(directory).update(world, (now) => ({ ...now, contexts: { ...now.contexts, [name + i]: { apiKey: name + i } } }));`,
  );
  const names = ['--entry-file-names', '[name].mjs', '--chunk-file-names', '[name].mjs'];
  execFileSync(
    process.execPath,
    ['node_modules/rolldown/bin/cli.mjs', source, '--platform', 'node', '--dir', join(folder, 'out'), ...names],
    { stdio: 'pipe' },
  );
  return join(folder, 'out', 'writer.mjs');
}

test('two processes that change the settings many times each at once lose nothing, and the file stays valid and 0600', async () => {
  const times = size(10, 200);
  const program = writerProgram();
  const folder = temporaryFolder();
  const file = join(folder, 'config.json');
  const writers = ['left', 'right'].map((name) => spawn(process.execPath, [program, folder, name, String(times)]));
  const ended = Promise.all(writers.map((writer) => once(writer, 'exit')));
  let reads = 0;
  let running = true;
  ended.then(() => {
    running = false;
  });
  while (running) {
    // A reader at any moment finds a whole file.
    if (existsSync(file)) JSON.parse(readFileSync(file, 'utf8'));
    reads += 1;
    await delay(1);
  }
  expect((await ended).map(([code]) => code)).toEqual([0, 0]);
  expect(reads).toBeGreaterThan(0);
  const { contexts } = JSON.parse(readFileSync(file, 'utf8'));
  expect(Object.keys(contexts)).toHaveLength(2 * times);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readdirSync(folder)).toEqual(['config.json']);
});

test('commands that change the settings at the same time all find their change in the file', async () => {
  const env = { ...process.env, SOTRA_CONFIG_DIR: temporaryFolder() };
  const names = Array.from({ length: size(3, 12) }, (_, index) => `context-${index}`);
  const children = names.map((name) =>
    spawn(process.execPath, ['bin/sotra.js', 'context', 'set', name, '--base-url', 'https://a.example.com'], { env }),
  );
  const codes = await Promise.all(children.map(async (child) => (await once(child, 'exit'))[0]));
  expect(codes).toEqual(names.map(() => 0));
  const { contexts } = JSON.parse(readFileSync(join(env.SOTRA_CONFIG_DIR, 'config.json'), 'utf8'));
  expect(Object.keys(contexts).sort()).toEqual([...names].sort());
});

test('the lock of a process that has ended is taken over', async () => {
  const folder = temporaryFolder();
  const { pid } = spawnSync(process.execPath, ['-e', '']);
  writeFileSync(join(folder, 'config.lock'), JSON.stringify({ pid, host: hostname() }));
  const { code } = await run('context set own --base-url https://a.example.com', { env: { SOTRA_CONFIG_DIR: folder } });
  expect(code).toBe(0);
  expect(readdirSync(folder)).toEqual(['config.json']);
});

test('a command that waits for the lock of a running process can be interrupted, and changes nothing', async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'config.lock'), JSON.stringify({ pid: process.pid, host: hostname() }));
  const signal = AbortSignal.timeout(100);
  const { code } = await run('context set own --base-url https://a.example.com', {
    env: { SOTRA_CONFIG_DIR: folder },
    signal,
  });
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

test('a key may come through a FIFO, as <(...) of a shell gives it', async () => {
  const file = join(temporaryFolder(), 'key');
  execFileSync('mkfifo', ['-m', '644', file]);
  const writing = writeFile(file, '07'.repeat(32));
  const swap = `--chain base --tx 0x${'11'.repeat(32)} --token 0x${'22'.repeat(20)} --text gm --service-name Example`;
  expect(await run(`comment sign ${swap} --key-file ${file} --json`)).toMatchObject({ code: 0, err: '' });
  await writing;
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

test('settings and data lie where the system keeps such things', () => {
  const on = (platform: string, env: Record<string, string>) => {
    const machine = { env, system: { platform } } as World;
    return [configDirectory(machine), dataDirectory(machine)];
  };
  expect(on('linux', { HOME: '/home/a' })).toEqual(['/home/a/.config/sotra', '/home/a/.local/share/sotra']);
  expect(on('darwin', { HOME: '/Users/a', APPDATA: '/x' })).toEqual([
    '/Users/a/.config/sotra',
    '/Users/a/.local/share/sotra',
  ]);
  expect(on('linux', { HOME: '/home/a', XDG_CONFIG_HOME: '/c', XDG_DATA_HOME: '/d' })).toEqual([
    '/c/sotra',
    '/d/sotra',
  ]);
  const roaming = {
    USERPROFILE: 'C:\\Users\\a',
    APPDATA: 'C:\\Users\\a\\Roaming',
    LOCALAPPDATA: 'C:\\Users\\a\\Local',
  };
  expect(on('win32', roaming)).toEqual(['C:\\Users\\a\\Roaming\\sotra', 'C:\\Users\\a\\Local\\sotra']);
  expect(on('win32', { USERPROFILE: 'C:\\Users\\a' })[0]).toBe('C:\\Users\\a\\.config\\sotra');
  expect(on('win32', { SOTRA_CONFIG_DIR: 'D:\\own', SOTRA_DATA_DIR: 'D:\\data' })).toEqual(['D:\\own', 'D:\\data']);
});

test('a folder that cannot be written is exit 3 and named', async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'file'), '');
  const env = { SOTRA_CONFIG_DIR: join(folder, 'file', 'config') };
  const { code, err } = await run('context set own --base-url https://a.example.com', { env });
  expect(code).toBe(3);
  expect(err).toContain(join('file', 'config', 'config.json'));
});

test('a damaged settings file is never overwritten', async () => {
  const folder = temporaryFolder();
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'config.json'), '{"contexts": ');
  const { code } = await run('context set own --base-url https://a.example.com', { env: { SOTRA_CONFIG_DIR: folder } });
  expect(code).toBe(3);
  expect(readFileSync(join(folder, 'config.json'), 'utf8')).toBe('{"contexts": ');
  expect(readdirSync(folder)).toEqual(['config.json']);
});

test.each([
  ['{"contexts":{"a":3}}', 'contexts.a is not an object'],
  ['{"contexts":{"a":{"baseUrl":5}}}', 'contexts.a.baseUrl is not text'],
  ['{"contexts":{"a":{"layout":"six-line"}}}', 'contexts.a.layout is "six-line", not one of five-line, blank-line'],
  ['{"contexts":{"a":{"wire":{"*.limit":1}}}}', 'contexts.a.wire.*.limit is not text'],
  ['{"contexts":{},"aliases":null}', 'aliases is not an object'],
  ['{"contexts":{},"aliases":{"a":[]}}', 'aliases.a is not text'],
  ['{"contexts":{},"current":7}', 'current is not text'],
])('settings %s are exit 3 and say what is wrong', async (text, message) => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'config.json'), text);
  const { code, err } = await run('context list', { env: { SOTRA_CONFIG_DIR: folder } });
  expect(code).toBe(3);
  expect(err).toContain(message);
});
