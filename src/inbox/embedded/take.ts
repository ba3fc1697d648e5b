import { setImmediate } from 'node:timers/promises';
import type { Db } from '../../files/database.ts';
import { hideUrlSecrets } from '../../model/url-secrets.ts';
import type { Claim, StoredDelivery, Target } from '../inbox.ts';
import { isFor } from '../route.ts';
import type { Mark } from './batch.ts';
import { nextDelivery } from './delivery-rows.ts';
import { ruleOf } from './rule.ts';
import { newestSeq } from './waiting.ts';
import type { Writer } from './writer.ts';

/** Wakes those who wait for a change. */
export interface Bell {
  ring: () => void;
  /** Resolves at the next ring. */
  next: () => Promise<void>;
}

/** Deliveries that are skipped before that is stored, so that the next start need not look at them again. */
const maxPassed = 1000;

/** The deliveries that a target has not got yet, one of each webhook at a time; see `Inbox.take`. */
export async function* takeDeliveries(
  target: Target,
  { db, writer, bell, signal }: { db: Db; writer: Writer; bell: Bell; signal: AbortSignal },
): AsyncGenerator<Claim> {
  const { id: targetId, startSeq } = targetRow(db, target);
  const reached = new Map(
    db
      .all<{ id: number; seq: number }>('SELECT webhook_id AS id, seq FROM reached WHERE target_id = ?', [targetId])
      .map(({ id, seq }) => [id, seq]),
  );
  const busy = new Set<number>();
  // First: what another process stores between the two is then looked for again.
  let lastSeq = newestSeq(db);
  const due = new Set(db.all<{ id: number }>('SELECT id FROM webhook').map(({ id }) => id));
  const lookForNew = () => {
    const newest = newestSeq(db);
    if (newest === lastSeq) return;
    for (const { id } of db.all<{ id: number }>('SELECT DISTINCT webhook_id AS id FROM delivery WHERE seq > ?', [
      lastSeq,
    ]))
      due.add(id);
    lastSeq = newest;
  };
  const mark = (webhookId: number, { seq, webhook, atMs }: StoredDelivery, forward?: Mark['forward']) => {
    reached.set(webhookId, seq);
    writer.addMark({ targetId, webhookId, webhook, seq, arrivedMs: atMs, ...(forward && { forward }) });
  };
  const findNext = async (webhookId: number): Promise<StoredDelivery | undefined> => {
    let after = Math.max(startSeq, reached.get(webhookId) ?? 0);
    for (let passed = 1; ; passed += 1) {
      const next = nextDelivery(db, webhookId, after);
      if (next === undefined || ruleOf(target) === '') return next;
      if (next.events.some((event) => isFor(target, event))) return next;
      after = next.seq;
      reached.set(webhookId, after);
      if (passed % maxPassed > 0) continue;
      mark(webhookId, next);
      await setImmediate();
    }
  };
  const claimOf = (webhookId: number, delivery: StoredDelivery): Claim => {
    let isMarked = false;
    return {
      delivery,
      settle: async (forward) => {
        if (!isMarked) mark(webhookId, delivery, forward);
        isMarked = true;
        await writer.settled();
        busy.delete(webhookId);
        due.add(webhookId);
        bell.ring();
      },
      release: () => void busy.delete(webhookId),
    };
  };
  while (!signal.aborted) {
    const rung = bell.next();
    lookForNew();
    for (const webhookId of due) {
      if (busy.has(webhookId)) continue;
      due.delete(webhookId);
      const delivery = await findNext(webhookId);
      if (delivery === undefined) continue;
      busy.add(webhookId);
      yield claimOf(webhookId, delivery);
      if (signal.aborted) return;
    }
    await rung;
  }
}

function targetRow(db: Db, target: Target): { id: number; startSeq: number } {
  const row = db.get<{ id: number; startSeq: number }>(
    'SELECT id, start_seq AS startSeq FROM target WHERE url = ? AND event_type = ?',
    [hideUrlSecrets(target.url), ruleOf(target)],
  );
  if (row === undefined) throw new Error(`${hideUrlSecrets(target.url)} was not added to the targets`);
  return row;
}
