import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openDatabase } from '../../../../src/lib/files/database.ts';
import { temporaryFolder } from '../../../support/harness.ts';

test('a closed database refuses whatever is asked of it by an error, and may be closed again', () => {
  const file = join(temporaryFolder(), 'a.db');
  const db = openDatabase(file, { pageBytes: 4096, cacheKib: 1024, checkpointPages: 1000, check: () => undefined });
  db.exec('CREATE TABLE t (n)');
  expect(db.get('SELECT count(*) AS n FROM t')).toEqual({ n: 0 });
  db.close();
  db.close();
  const closed = `the database is closed (${file})`;
  expect(() => db.get('SELECT count(*) AS n FROM t')).toThrow(closed);
  expect(() => db.run('INSERT INTO t VALUES (1)')).toThrow(closed);
  expect(() => db.transaction(() => 1)).toThrow(closed);
});
