import { uuidOf } from '../db/ids.ts';
import type { Db } from '../db/store.ts';

/** An entry counts as a copy when it comes within this time of the intent (wire-facts 3.8: "usually within an hour"). */
const copyWindowMs = 3_600_000;

interface Match {
  intentId: string;
  commentId: string;
  partnerId: string;
}

interface Entry {
  id: number;
  wallet: string;
  chain: string;
  token: string;
  direction: string;
  usd: number;
  atMs: number;
}

/**
 * Turns new trades into copies where they fit a copy intent: an entry by that address into that token and chain, on perps in the
 * direction of the commented trade, within the hour. One trade is at most one copy and one intent becomes at most one; the
 * latest intent wins. Gives the number of copies made.
 */
export function matchCopies(db: Db, tradeIds: readonly number[]): number {
  if (db.get('SELECT 1 FROM intent WHERE trade_id IS NULL LIMIT 1') === undefined) return 0;
  const entries = db.all<Entry>(
    `SELECT id, wallet, chain, token, direction, usd, at_ms AS atMs FROM trade t
     WHERE id IN (SELECT value FROM json_each(?)) AND intent = 'enter'
       AND EXISTS (SELECT 1 FROM intent i WHERE i.wallet = t.wallet AND i.chain = t.chain AND i.token = t.token)
     ORDER BY at_ms, id`,
    [JSON.stringify(tradeIds)],
  );
  return entries.filter((entry) => matchEntry(db, entry)).length;
}

function matchEntry(db: Db, entry: Entry): boolean {
  const match = db.get<Match>(
    `SELECT i.id AS intentId, i.comment_id AS commentId, i.partner_id AS partnerId
     FROM intent i JOIN comment c ON c.id = i.comment_id JOIN trade t ON t.id = c.trade_id
     WHERE i.wallet = ? AND i.chain = ? AND i.token = ? AND i.at_ms <= ? AND i.at_ms > ? AND i.trade_id IS NULL
       AND t.direction = ? ORDER BY i.at_ms DESC, i.id LIMIT 1`,
    [entry.wallet, entry.chain, entry.token, entry.atMs, entry.atMs - copyWindowMs, entry.direction],
  );
  if (match === undefined) return false;
  db.run('UPDATE intent SET trade_id = ? WHERE id = ?', [entry.id, match.intentId]);
  db.run('INSERT INTO copy (id, comment_id, partner_id, wallet, usd, at_ms) VALUES (?, ?, ?, ?, ?, ?)', [
    uuidOf(`copy:${match.intentId}`),
    match.commentId,
    match.partnerId,
    entry.wallet,
    entry.usd,
    entry.atMs,
  ]);
  return true;
}

export interface CopyIntent {
  commentId: string;
  partnerId: string;
  /** Wallets as stored: EVM lowercase; no repeats. */
  wallets: readonly string[];
  chain: string;
  token: string;
  atMs: number;
  /** `null`: exits are not followed. */
  trackExitMs: number | null;
}

/** Stores one intent an address and gives their ids, in the order of the wallets. */
export function addIntents(db: Db, intent: CopyIntent): string[] {
  return db.transaction(() =>
    intent.wallets.map((wallet) => {
      const count = db.get<{ n: number }>('SELECT count(*) AS n FROM intent')?.n ?? 0;
      const id = uuidOf(`intent:${count}:${intent.commentId}:${wallet}:${intent.atMs}`);
      db.run(
        `INSERT INTO intent (id, comment_id, partner_id, wallet, chain, token, at_ms, track_exit_ms)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
        [id, intent.commentId, intent.partnerId, wallet, intent.chain, intent.token, intent.atMs, intent.trackExitMs],
      );
      return id;
    }),
  );
}
