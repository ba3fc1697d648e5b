import { hideUrlSecrets } from '../../client/secrets.ts';
import { usageError } from '../../errors.ts';
import type { SandboxDelivery, SandboxWebhook, ShownSandboxDelivery } from '../../pages/service.ts';
import { worldOffset } from '../../sandbox/db/settings.ts';
import type { Db } from '../../sandbox/db/store.ts';

const maxDeliveries = 1000;

const columns = `d.id AS seq, d.state, d.tries, d.status, d.error, e.type, e.at_ms AS atMs, e.id AS eventId, w.uid, w.destination_url AS url,
  CASE d.state WHEN 'waiting' THEN d.due_ms END AS nextMs`;
const joined = 'outbox d JOIN event e ON e.seq = d.item JOIN webhook w ON w.id = d.target';

const hideIn = <T extends { url: string }>(row: T): T => ({ ...row, url: hideUrlSecrets(row.url) });

const onClock = (db: Db, row: SandboxDelivery): SandboxDelivery => hideIn({ ...row, atMs: row.atMs + worldOffset(db) });

/** The newest first; without what is sent. */
export function listDeliveries(db: Db): SandboxDelivery[] {
  const sql = `SELECT ${columns} FROM ${joined} ORDER BY d.id DESC LIMIT ?`;
  return db.all<SandboxDelivery>(sql, [maxDeliveries]).map((row) => onClock(db, row));
}

/** Errors: `usage` for an unknown delivery. */
export function showDelivery(db: Db, seq: unknown): ShownSandboxDelivery {
  const found = db.get<SandboxDelivery & { event: string }>(
    `SELECT ${columns}, e.body AS event FROM ${joined} WHERE d.id = ?`,
    [Number(seq)],
  );
  if (found === undefined) throw usageError(`delivery ${seq}: does not exist any more`);
  const { event, ...row } = found;
  const body = Buffer.from(`{"events":[${event}]}`);
  return { row: onClock(db, row), body: body.toString('base64'), bodyBytes: body.length };
}

/** Makes a delivery due now, with all its tries if it had ended. */
export function deliverAgain(db: Db, seq: unknown, nowMs: number): void {
  const sql = `UPDATE outbox SET tries = CASE state WHEN 'waiting' THEN tries ELSE 0 END, state = 'waiting', due_ms = ? WHERE id = ?`;
  db.run(sql, [nowMs, showDelivery(db, seq).row.seq]);
}

export function showWebhook(db: Db, uid: unknown): SandboxWebhook {
  const count = (state: string) =>
    `(SELECT count(*) FROM outbox d WHERE d.target = w.id AND d.state = '${state}') AS ${state}`;
  const found = db.get<SandboxWebhook>(
    `SELECT w.uid, w.partner_id AS partner, w.destination_url AS url,
       (SELECT count(*) FROM webhook_wallet a WHERE a.webhook_id = w.id) AS addresses,
       ${['delivered', 'waiting', 'failed'].map(count).join(', ')}
     FROM webhook w WHERE w.uid = ?`,
    [String(uid)],
  );
  if (found === undefined) throw usageError(`webhook ${uid}: does not exist`);
  return hideIn(found);
}

export function readSecret(db: Db, uid: unknown): { secret: string } {
  const { uid: known } = showWebhook(db, uid);
  return { secret: db.get<{ secret: string }>('SELECT secret FROM webhook WHERE uid = ?', [known])?.secret ?? '' };
}
