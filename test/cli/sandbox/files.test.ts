import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { connect } from '../../../src/lib/files/sqlite.ts';
import { openDb } from '../../../src/sandbox/db/store.ts';
import { run, temporaryFolder } from '../../support/harness.ts';

function place() {
  const folder = temporaryFolder();
  return { folder, env: { SOTRA_DATA_DIR: folder, SOTRA_CONFIG_DIR: folder } };
}

/** A database that a program left, closed and whole. */
function databaseOf(file: string, sql: string): Buffer {
  const db = connect(file);
  db.exec(sql);
  db.close();
  return readFileSync(file);
}

test.each([
  ['of another program', 'CREATE TABLE notes (text); INSERT INTO notes VALUES (1)', 'is a database of another program'],
  ['of another program with a version', 'PRAGMA user_version = 1; CREATE TABLE a (b)', 'of another program'],
  [
    'of another version',
    'PRAGMA user_version = 9999; CREATE TABLE partner (b)',
    'is of another version of sotra (9999, not 7)',
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

test.each([
  'sandbox start --port 0 --empty --ready-file FOLDER/none/ready',
  'sandbox start --port 0 --empty --ready-file FOLDER/folder',
  'webhook listen --port 0 --secret-file FOLDER/secret --ready-file FOLDER/none/ready',
  'webhook listen --port 0 --secret-file FOLDER/secret --ready-file FOLDER/folder',
])('%s is exit 3, not a server that nobody can find', async (argv) => {
  const { folder, env } = place();
  mkdirSync(join(folder, 'folder'));
  writeFileSync(join(folder, 'folder', 'mine'), '');
  writeFileSync(join(folder, 'secret'), 'whsec_test\n');
  const { code, err } = await run(argv.replaceAll('FOLDER', folder), { env });
  expect(code).toBe(3);
  expect(err).toContain('error: ');
  expect(existsSync(join(folder, 'folder', 'mine'))).toBe(true);
});

test('sandbox reset --yes replaces a database of another version by a new world', async () => {
  const { folder, env } = place();
  const file = join(folder, 'sandbox.db');
  databaseOf(file, 'PRAGMA user_version = 2; CREATE TABLE partner (b); CREATE TABLE gone (id TEXT)');
  expect((await run('sandbox reset', { env })).err).toContain('Replace it with sotra sandbox reset --yes');
  const reset = await run('sandbox reset --yes --json', { env });
  expect(reset.code).toBe(0);
  expect(JSON.parse(reset.out)).toMatchObject({ db: file, world: 'demo', trades: 2508 });
  const db = openDb(file);
  expect(db.all("SELECT name FROM sqlite_master WHERE name = 'gone'")).toEqual([]);
  db.close();
});
