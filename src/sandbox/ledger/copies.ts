import { hourMs } from '../../api/duration.ts';
import type { Db } from '../db/store.ts';
import { makeUuid } from '../seeded.ts';
import { oneOf, type StoredTrade, tradeColumns } from './trade.ts';

/** An entry counts as a copy when it comes within this time of the intent (wire-facts 3.8: "usually within an hour"). */
const copyWindowMs = hourMs;

/**
 * Turns entries into copies where they fit a copy intent: same address, token and chain, on perps the direction of the commented trade,
 * within the hour. One trade is at most one copy and one intent becomes at most one; the latest intent wins.
 */
export function matchCopies(db: Db, tradeIds: readonly number[]): void {
  if (db.get('SELECT 1 FROM intent WHERE trade_id IS NULL LIMIT 1') === undefined) return;
  const entries = db.all<StoredTrade>(
    `SELECT ${tradeColumns} FROM trade t WHERE t.id ${oneOf} AND t.intent = 'enter'
       AND EXISTS (SELECT 1 FROM intent i WHERE i.wallet = t.wallet AND i.chain = t.chain AND i.token = t.token)
     ORDER BY t.at_ms, t.id`,
    [JSON.stringify(tradeIds)],
  );
  for (const entry of entries) matchEntry(db, entry);
}

function matchEntry(db: Db, entry: StoredTrade): void {
  const match = db.get<{ intentId: string; commentId: string; partnerId: string }>(
    `SELECT i.id AS intentId, i.comment_id AS commentId, i.partner_id AS partnerId
     FROM intent i JOIN comment c ON c.id = i.comment_id JOIN trade t ON t.id = c.trade_id
     WHERE i.wallet = ? AND i.chain = ? AND i.token = ? AND i.at_ms <= ? AND i.at_ms > ? AND i.trade_id IS NULL
       AND t.direction = ? ORDER BY i.at_ms DESC, i.id LIMIT 1`,
    [entry.wallet, entry.chain, entry.token, entry.atMs, entry.atMs - copyWindowMs, entry.direction],
  );
  if (match === undefined) return;
  db.run('UPDATE intent SET trade_id = ? WHERE id = ?', [entry.id, match.intentId]);
  db.run('INSERT INTO copy (id, comment_id, partner_id, wallet, usd, at_ms) VALUES (?, ?, ?, ?, ?, ?)', [
    makeUuid(`copy:${match.intentId}`),
    match.commentId,
    match.partnerId,
    entry.wallet,
    entry.usd,
    entry.atMs,
  ]);
}
