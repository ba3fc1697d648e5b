import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openDb } from '../../../../src/sandbox/db/store.ts';
import { run, temporaryFolder } from '../../../support/harness.ts';

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
