import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { run, temporaryFolder } from './harness.ts';

/** A program that changes the settings many times through the store, as processes of sotra do. */
function writerProgram(): string {
  const folder = temporaryFolder();
  const source = join(folder, 'writer.ts');
  writeFileSync(
    source,
    `import { openStore } from '${process.cwd()}/src/store.ts';
    const [directory, name, count] = process.argv.slice(2);
    const isAlive = (pid) => { try { return process.kill(pid, 0); } catch { return false; } };
    const world = {
      pid: process.pid, random: Math.random, signal: new AbortController().signal, system: { isAlive },
      sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
    };
    for (let i = 0; i < Number(count); i += 1)
      await openStore(directory).update(world, (now) => ({ ...now, contexts: { ...now.contexts, [name + i]: { apiKey: name + i } } }));`,
  );
  const names = ['--entry-file-names', '[name].mjs', '--chunk-file-names', '[name].mjs'];
  execFileSync(
    process.execPath,
    ['node_modules/rolldown/bin/cli.mjs', source, '--platform', 'node', '--dir', join(folder, 'out'), ...names],
    { stdio: 'pipe' },
  );
  return join(folder, 'out', 'writer.mjs');
}

test('two processes that change the settings 200 times each at once lose nothing, and the file stays valid and 0600', async () => {
  const program = writerProgram();
  const folder = temporaryFolder();
  const file = join(folder, 'config.json');
  const writers = ['left', 'right'].map((name) => spawn(process.execPath, [program, folder, name, '200']));
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
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect((await ended).map(([code]) => code)).toEqual([0, 0]);
  expect(reads).toBeGreaterThan(10);
  const { contexts } = JSON.parse(readFileSync(file, 'utf8'));
  expect(Object.keys(contexts)).toHaveLength(400);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readdirSync(folder)).toEqual(['config.json']);
});

test('commands that change the settings at the same time all find their change in the file', async () => {
  const env = { ...process.env, SOTRA_CONFIG_DIR: temporaryFolder() };
  const names = Array.from({ length: 12 }, (_, index) => `context-${index}`);
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
  writeFileSync(join(folder, 'config.lock'), `${hostname()} ${pid} 00`);
  const { code } = await run('context set own --base-url https://a.example.com', { env: { SOTRA_CONFIG_DIR: folder } });
  expect(code).toBe(0);
  expect(readdirSync(folder)).toEqual(['config.json']);
});

test('a command that waits for the lock of a running process can be interrupted, and changes nothing', async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'config.lock'), `${hostname()} ${process.pid} 00`);
  const signal = AbortSignal.timeout(100);
  const { code } = await run('context set own --base-url https://a.example.com', {
    env: { SOTRA_CONFIG_DIR: folder },
    signal,
  });
  expect(code).toBe(130);
  expect(readdirSync(folder)).toEqual(['config.lock']);
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
