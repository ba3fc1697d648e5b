import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openDb } from '../../../src/sandbox/db/store.ts';
import { run, temporaryFolder } from '../../support/harness.ts';
import { serve, start } from '../../support/processes.ts';
import { long } from '../../support/size.ts';

function place() {
  const folder = temporaryFolder();
  return { folder, env: { SOTRA_DATA_DIR: folder, SOTRA_CONFIG_DIR: folder } };
}

/** A database that a program left, closed and whole. */
function databaseOf(file: string, sql: string): Buffer {
  const script = `const db = new (require('libsql'))(process.argv[1]); db.exec(process.argv[2]); db.close();`;
  execFileSync(process.execPath, ['-e', script, file, sql]);
  return readFileSync(file);
}

test.each([
  ['of another program', 'CREATE TABLE notes (text); INSERT INTO notes VALUES (1)', 'is a database of another program'],
  ['of another program with a version', 'PRAGMA user_version = 1; CREATE TABLE a (b)', 'of another program'],
  [
    'of another version',
    'PRAGMA user_version = 9999; CREATE TABLE partner (b)',
    'is of another version of sotra (9999, not 5)',
  ],
])('a database %s is exit 3 and is not changed', async (_, sql, message) => {
  const { folder, env } = place();
  const file = join(folder, 'sandbox.db');
  const before = databaseOf(file, sql);
  for (const argv of ['sandbox status', 'sandbox reset', '--sandbox leaderboard list', 'sandbox start --port 0']) {
    const { code, out, err } = await run(argv, { env });
    expect({ code, out }).toEqual({ code: 3, out: '' });
    expect(err).toContain(file);
    expect(err).toContain(message);
  }
  expect(readFileSync(file).equals(before)).toBe(true);
  expect(readdirSync(folder)).toEqual(['sandbox.db']);
});

test.each([1, 15, 100, 511, 512])(
  'a file of %i bytes that is no database is exit 3 and is not changed',
  async (bytes) => {
    const { folder, env } = place();
    const file = join(folder, 'notes.txt');
    writeFileSync(file, 'x'.repeat(bytes));
    for (const argv of [`sandbox status --db ${file}`, `sandbox reset --yes --db ${file}`]) {
      const { code, out, err } = await run(argv, { env });
      expect({ code, out }).toEqual({ code: 3, out: '' });
      expect(err).toContain(`cannot open the sandbox database ${file}: file is not a database`);
    }
    expect(readFileSync(file, 'utf8')).toBe('x'.repeat(bytes));
    expect(readdirSync(folder)).toEqual(['notes.txt']);
  },
);

test('an empty file becomes a sandbox', async () => {
  const { folder, env } = place();
  const file = join(folder, 'new.db');
  writeFileSync(file, '');
  expect(await run(`sandbox status --db ${file}`, { env })).toMatchObject({ code: 0 });
});

long('several processes and a server write to one database at once: nothing is locked, nothing is lost', async () => {
  const { folder, env } = place();
  const { url, child, db } = await serve(folder, ['--empty']);
  onTestFinished(() => void child.kill('SIGKILL'));
  const served = { ...env, SOTRA_BASE_URL: url, SOTRA_API_KEY: 'sandbox-key-a' };
  const target = (index: number) => `0x${(index + 100).toString(16).padStart(40, '0')}`;
  const all = Array.from({ length: 16 }, async (_, index) => {
    const argv = ['follow', 'add', `0x${'1'.repeat(40)}`, target(index)];
    if (index % 2 === 1) return run(argv, { env: served });
    const { ended, printed } = start(['--sandbox', ...argv], env);
    return { code: await ended, err: printed.err };
  });
  for (const { code, err } of await Promise.all(all)) {
    expect({ code, err }).toMatchObject({ code: 0 });
    expect(err).not.toContain('locked');
  }
  expect(db).toBe(join(folder, 'sandbox.db'));
  const { out } = await run(`profile follows 0x${'1'.repeat(40)} --all --format ndjson`, { env: served });
  const held = [...out.matchAll(/0x[0-9a-f]{40}/g)].map(([address]) => address);
  expect(new Set(held)).toEqual(new Set(all.map((_, index) => target(index))));
});

test.each([
  'sandbox start --port 0 --empty --ready-file FOLDER/none/ready',
  'sandbox start --port 0 --empty --ready-file FOLDER/folder',
  'webhook listen --port 0 --secret-file FOLDER/secret --ready-file FOLDER/none/ready',
  'webhook listen --port 0 --secret-file FOLDER/secret --ready-file FOLDER/folder',
])('%s is exit 3, not a server that nobody is told of', async (argv) => {
  const { folder, env } = place();
  mkdirSync(join(folder, 'folder'));
  writeFileSync(join(folder, 'folder', 'mine'), '');
  writeFileSync(join(folder, 'secret'), 'whsec_test\n');
  const { code, err } = await run(argv.replaceAll('FOLDER', folder), { env });
  expect(code).toBe(3);
  expect(err).toContain('error: ');
  expect(existsSync(join(folder, 'folder', 'mine'))).toBe(true);
});

const trade =
  'sandbox trade --chain base --trader 0x1111111111111111111111111111111111111111 --token 0x5180db8f5c931aae63c74266b211f580155ecac8 --side buy --amount 1 --usd 50';

/** A sandbox that another version wrote. */
function written(version: number) {
  const env = { SOTRA_DATA_DIR: temporaryFolder() };
  const file = join(env.SOTRA_DATA_DIR, 'sandbox.db');
  const db = openDb(':memory:');
  db.run('CREATE TABLE gone (id TEXT)');
  db.run(`PRAGMA user_version = ${version}`);
  db.run('VACUUM INTO ?', [file]);
  db.close();
  return { env, file };
}

test.each([2, 99])('a database of another version (%i) is refused by name and stays as it is', async (version) => {
  const { env, file } = written(version);
  const before = readFileSync(file);
  for (const argv of ['--sandbox leaderboard list', 'sandbox status', trade, 'sandbox reset']) {
    const { code, err } = await run(argv, { env });
    expect(code).toBe(3);
    expect(err).toContain(file);
    expect(err).toContain('Replace it with sotra sandbox reset --yes');
    expect(readFileSync(file).equals(before)).toBe(true);
  }
});

test('sandbox reset --yes replaces a database of another version by a new world', async () => {
  const { env, file } = written(2);
  const reset = await run('sandbox reset --yes --json', { env });
  expect(reset.code).toBe(0);
  expect(JSON.parse(reset.out)).toMatchObject({ db: file, world: 'demo', trades: 2508 });
  const db = openDb(file);
  expect(db.all("SELECT name FROM sqlite_master WHERE name = 'gone'")).toEqual([]);
  db.close();
});
