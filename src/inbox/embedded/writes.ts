import type { Db } from '../../files/database.ts';
import { hideUrlSecrets } from '../../model/url-secrets.ts';
import type { Target } from '../inbox.ts';
import type { Batch, CommitResult, Mark, NewDelivery } from './batch.ts';
import { createEventIds, type EventIds } from './event-ids.ts';
import { countHours } from './hours.ts';
import { ruleOf } from './rule.ts';
import { blockSize } from './store.ts';
import { newestSeq } from './waiting.ts';

/** What the thread does with the store, all of it or nothing. */
export interface Writes {
  commit: (batches: readonly (Batch & { bodies: Uint8Array })[]) => CommitResult[];
  addTargets: (targets: readonly Target[], nowMs: number) => void;
}

export function writesOf(db: Db): Writes {
  const eventIds = createEventIds(db);
  const webhookIds = new Map<string, number>();
  const webhookId = (name: string): number => {
    const known = webhookIds.get(name);
    if (known !== undefined) return known;
    const row = db.get<{ id: number }>(
      'INSERT INTO webhook (name) VALUES (?) ON CONFLICT (name) DO UPDATE SET name = excluded.name RETURNING id',
      [name],
    );
    webhookIds.set(name, row?.id ?? 0);
    return row?.id ?? 0;
  };
  return {
    commit: (batches) => {
      try {
        return db.transaction(() =>
          batches.map(({ bodies, ...batch }) => {
            const committed = addDeliveries(db, batch.deliveries, bodies, { eventIds, webhookId });
            for (const mark of batch.marks) addMark(db, mark);
            countHours(db, batch, committed);
            return committed;
          }),
        );
      } catch (error) {
        // What was taken back may have been remembered.
        webhookIds.clear();
        eventIds.forget();
        throw error;
      }
    },
    addTargets: (targets, nowMs) =>
      db.transaction(() => {
        for (const target of targets)
          db.run(
            `INSERT INTO target (url, event_type, start_seq, used_ms) VALUES (?, ?, ?, ?)
             ON CONFLICT (url, event_type) DO UPDATE SET used_ms = excluded.used_ms`,
            [hideUrlSecrets(target.url), ruleOf(target), newestSeq(db), nowMs],
          );
      }),
  };
}

function addDeliveries(
  db: Db,
  deliveries: readonly NewDelivery[],
  bodies: Uint8Array,
  known: { eventIds: EventIds; webhookId: (name: string) => number },
): CommitResult {
  if (deliveries.length === 0) return [];
  const firstSeq = newestSeq(db) + 1;
  let start = 0;
  const committed = deliveries.map(({ webhook, atMs, eventIds, terms, headers, bodyBytes }, index) => {
    const body = bodies.subarray(start, start + bodyBytes);
    start += bodyBytes;
    const seq = firstSeq + index;
    const newIds = eventIds.filter((id) => known.eventIds.add(id, seq));
    if (newIds.length === 0) return null;
    db.run(
      'INSERT INTO delivery (seq, at_ms, webhook_id, event_ids, terms, headers, body) VALUES (?, ?, ?, ?, ?, ?, ?)',
      [seq, atMs, known.webhookId(webhook), JSON.stringify(newIds), JSON.stringify(terms), headers, body],
    );
    return { seq, newIds };
  });
  db.run('UPDATE total SET deliveries = deliveries + ?', [committed.filter((each) => each !== null).length]);
  indexBlocks(db, firstSeq, firstSeq + deliveries.length);
  return committed;
}

/** Adds the blocks that were filled to the index of terms. */
function indexBlocks(db: Db, firstSeq: number, nextSeq: number): void {
  const [first, next] = [Math.floor(firstSeq / blockSize), Math.floor(nextSeq / blockSize)];
  for (let block = first; block < next; block += 1)
    db.run(
      `INSERT OR IGNORE INTO term SELECT ?1, j.value, d.seq FROM delivery d, json_each(d.terms) j
       WHERE d.seq >= ?2 AND d.seq < ?3 ORDER BY 2, 3`,
      [block, block * blockSize, (block + 1) * blockSize],
    );
}

function addMark(db: Db, { targetId, webhookId, seq, forward }: Mark): void {
  db.run(
    `INSERT INTO reached (target_id, webhook_id, seq) VALUES (?, ?, ?)
     ON CONFLICT (target_id, webhook_id) DO UPDATE SET seq = max(seq, excluded.seq)`,
    [targetId, webhookId, seq],
  );
  if (forward === undefined) return;
  const { outcome, status, ms, tries, error, atMs } = forward;
  db.run(
    `INSERT OR REPLACE INTO forward (seq, target_id, outcome, status, ms, tries, error, at_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    [seq, targetId, outcome, status, ms, tries, error, atMs],
  );
}
