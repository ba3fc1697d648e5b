import type { Db } from '../../files/database.ts';
import { filterOf, hashOf, type IdFilter, mayHold } from './id-filter.ts';

/** Deliveries of one segment of ids. */
const segmentSize = 524_288;
/** Ids of one look, and of one step through a segment. */
const [rowsAtOnce, idsAtOnce] = [256, 8192];

const segmentOf = (seq: number) => Math.floor(seq / segmentSize);

/** The numbers of all segments, found with one look for each. */
const segments = `WITH RECURSIVE segments (segment) AS (
  SELECT min(segment) FROM event
  UNION ALL SELECT (SELECT min(segment) FROM event e WHERE e.segment > s.segment) FROM segments s WHERE s.segment IS NOT NULL
)`;

/** The ids of stored events, for the one who writes: an index over all of them would change a page somewhere for each new one. */
export interface EventIds {
  /** `false`: it was there. To be called in a transaction; deliveries come in the order of their numbers. */
  add: (id: string, seq: number) => boolean;
  /** After a transaction that was taken back. */
  forget: () => void;
}

export function createEventIds(db: Db): EventIds {
  /** By segment: those that get no more ids. */
  const filters = new Map<number, IdFilter>();
  let current = -1;
  const load = (segment: number): void => {
    const stored = db.all<{ segment: number; filter: Uint8Array }>('SELECT segment, filter FROM event_filter');
    filters.clear();
    for (const { segment, filter } of stored) filters.set(segment, new Uint8Array(filter));
    const before = db.all<{ segment: number }>(`${segments} SELECT segment FROM segments WHERE segment < ?`, [segment]);
    for (const { segment: full } of before) if (!filters.has(full)) close(full);
    current = segment;
  };
  const close = (segment: number): void => {
    const filter = filterOf(idsIn(segment));
    db.run('INSERT INTO event_filter (segment, filter) VALUES (?, ?)', [segment, filter]);
    filters.set(segment, filter);
  };
  /** As JSON, which is read in a tenth of the time that rows take. */
  function* idsIn(segment: number): Generator<string> {
    for (let last: string | undefined; ; ) {
      const sql = `SELECT json_group_array(id) AS ids FROM
        (SELECT id FROM event WHERE segment = ? AND id ${last === undefined ? '>=' : '>'} ? ORDER BY id LIMIT ${idsAtOnce})`;
      const found = db.get<{ ids: string }>(sql, [segment, last ?? '']);
      const ids = JSON.parse(found?.ids ?? '[]') as string[];
      yield* ids;
      last = ids.at(-1);
      if (last === undefined) return;
    }
  }
  const isInClosed = (id: string): boolean => {
    // As SQLite keeps it: in UTF-8, which has no halves of characters.
    const hash = hashOf(Buffer.from(id).toString());
    for (const [segment, filter] of filters)
      if (mayHold(filter, hash) && db.get('SELECT 1 FROM event WHERE segment = ? AND id = ?', [segment, id]))
        return true;
    return false;
  };
  return {
    add: (id, seq) => {
      const segment = segmentOf(seq);
      if (segment !== current) load(segment);
      if (isInClosed(id)) return false;
      return (
        db.run('INSERT INTO event (segment, id, seq) VALUES (?, ?, ?) ON CONFLICT DO NOTHING', [segment, id, seq]) > 0
      );
    },
    forget: () => {
      current = -1;
    },
  };
}

/** The numbers of the deliveries with such events, oldest first. */
export function seqsOf(db: Db, ids: readonly string[]): number[] {
  return db
    .all<{ seq: number }>(
      `${segments} SELECT DISTINCT e.seq FROM segments s CROSS JOIN json_each(?) j CROSS JOIN event e ON e.segment = s.segment AND e.id = j.value
       ORDER BY e.seq`,
      [JSON.stringify(ids)],
    )
    .map(({ seq }) => seq);
}

/** The numbers of the deliveries with events whose ids begin so, each once, in the order of the ids. */
export function* seqsByIdStart(db: Db, start: string): Generator<number> {
  const seen = new Set<number>();
  for (let last: string | undefined; ; ) {
    const rows: { id: string; seq: number }[] = db.all<{ id: string; seq: number }>(
      `${segments} SELECT e.id, e.seq FROM segments s CROSS JOIN event e ON e.segment = s.segment
         AND e.id ${last === undefined ? '>=' : '>'} ? AND e.id <= ? ORDER BY e.id LIMIT ${rowsAtOnce}`,
      [last ?? start, `${start}\u{10ffff}`],
    );
    for (const { seq } of rows) {
      if (!seen.has(seq)) yield seq;
      seen.add(seq);
    }
    last = rows.at(-1)?.id;
    if (last === undefined) return;
  }
}

export function removeId(db: Db, id: string, seq: number): void {
  db.run('DELETE FROM event WHERE segment = ? AND id = ?', [segmentOf(seq), id]);
}

/** The filters of segments before a delivery. */
export function removeFilters(db: Db, oldestSeq: number): void {
  db.run('DELETE FROM event_filter WHERE segment < ?', [segmentOf(oldestSeq)]);
}
