import { join } from 'node:path';
import Libsql from 'libsql';

/** Seconds that bare inserts took: into the table with its indexes, and into one without any. */
export interface Floor {
  indexed: number;
  plain: number;
}

const lot = 20_000;

/**
 * Inserts the trades of a sandbox's database into a new file, each time in one transaction of one prepared statement: what the driver
 * does at best. Reading them does not count.
 */
export function insertBare(from: string, folder: string): Floor {
  const source = new Libsql(from);
  try {
    const texts = source
      .prepare("SELECT sql FROM sqlite_master WHERE tbl_name = 'trade' AND sql IS NOT NULL ORDER BY type DESC")
      .all() as { sql: string }[];
    const ddl = texts.map(({ sql }) => sql);
    return {
      indexed: insertInto(source, join(folder, 'indexed.db'), ddl),
      plain: insertInto(source, join(folder, 'plain.db'), ddl.slice(0, 1)),
    };
  } finally {
    source.close();
  }
}

function insertInto(source: Libsql.Database, file: string, ddl: readonly string[]): number {
  const target = new Libsql(file);
  try {
    for (const sql of [
      'PRAGMA journal_mode = WAL',
      'PRAGMA synchronous = NORMAL',
      'PRAGMA cache_size = -65536',
      ...ddl,
    ])
      target.exec(sql);
    const read = source.prepare('SELECT * FROM trade WHERE id > ? ORDER BY id LIMIT ?').raw(true);
    let [lastId, seconds] = [0, 0];
    let insert: Libsql.Statement | undefined;
    target.exec('BEGIN');
    for (;;) {
      const rows = read.all([lastId, lot]) as (string | number | null)[][];
      const started = performance.now();
      for (const row of rows) {
        insert ??= target.prepare(`INSERT INTO trade VALUES (${row.map(() => '?').join(', ')})`);
        insert.run(row);
      }
      if (rows.length < lot) target.exec('COMMIT');
      seconds += (performance.now() - started) / 1000;
      if (rows.length < lot) return seconds;
      lastId = Number(rows.at(-1)?.[0]);
    }
  } finally {
    target.close();
  }
}
