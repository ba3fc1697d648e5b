import { hourMs } from '../../api/duration.ts';
import { honoredViewers } from '../../api/identifier.ts';
import type { Db } from '../db/store.ts';
import { groupBy, oneOf, type StoredTrade, tradeColumns } from '../ledger/trade.ts';
import { makeUuid } from '../seeded.ts';
import type { Asker, Partner } from './handler.ts';
import { findProfile } from './identifiers.ts';
import { type Json, readActors } from './profiles.ts';

interface CommentOptions {
  /** Wallets whose likes fill `isLikedByUser`. */
  viewers?: readonly string[] | undefined;
  replies?: boolean;
}

interface CommentRow {
  id: string;
  tradeId: number;
  partnerId: string | null;
  chain: string;
  token: string;
  transactionHash: string;
  wallet: string;
  text: string;
  atMs: number;
  likeCount: number;
  copyCount: number;
  copyUsd: number;
}

interface ReplyRow {
  id: string;
  commentId: string;
  wallet: string;
  text: string;
  atMs: number;
  likeCount: number;
}

/** The comments of some trades by trade id. Source: sections "Comment" and "Reply". Errors: ServiceRefusal 404 for a viewer UUID nobody has. */
export function readTradeComments(
  asker: Asker,
  tradeIds: readonly number[],
  options: CommentOptions = {},
): Map<number, Json[]> {
  const rows = asker.db.all<CommentRow>(
    `SELECT c.id, c.trade_id AS tradeId, c.partner_id AS partnerId, c.chain, c.token, c.transaction_hash AS transactionHash, c.wallet,
       c.text, c.at_ms AS atMs, c.like_count AS likeCount,
       (SELECT count(*) FROM copy k WHERE k.comment_id = c.id) AS copyCount,
       (SELECT coalesce(sum(k.usd), 0) FROM copy k WHERE k.comment_id = c.id) AS copyUsd
     FROM comment c WHERE c.trade_id ${oneOf} ORDER BY c.at_ms DESC, c.id`,
    [JSON.stringify(tradeIds)],
  );
  const liked = likedBy(asker, options.viewers);
  const replies = options.replies ? readReplies(asker, rows, liked) : undefined;
  const inForm = (row: CommentRow) => ({
    ...makeComment(row, asker.partner, liked),
    ...(replies === undefined ? {} : { replies: replies.get(row.id) ?? [] }),
  });
  const byTrade = groupBy(rows, ({ tradeId }) => tradeId);
  return new Map([...byTrade].map(([id, own]) => [id, own.map(inForm)]));
}

function makeComment(row: CommentRow, partner: Partner, liked: ReadonlySet<string>): Json {
  return {
    uid: row.id,
    transactionHash: row.transactionHash,
    chain: row.chain,
    tokenAddress: row.token,
    commentText: row.text,
    timestamp: Math.floor(row.atMs / 1000),
    isAppUserComment: row.partnerId !== null && row.partnerId === partner.id,
    metrics: {
      copyCount: row.copyCount,
      copyVolume: copyVolume(row.copyUsd),
      likeCount: row.likeCount,
      isLikedByUser: liked.has(row.id),
    },
    signerAddress: row.wallet,
  };
}

export function copiedText(copies: number): string[] {
  return copies === 0 ? [] : [`Copied ${copies} ${copies === 1 ? 'time' : 'times'}`];
}

/** Copied volume as every answer writes it: US dollars as decimal text. */
export function copyVolume(usd: number): string {
  return usd.toFixed(2);
}

function likedBy({ db, partner }: Asker, viewers: readonly string[] = []): Set<string> {
  if (viewers.length === 0) return new Set();
  const profiles = viewers.slice(0, honoredViewers).map((viewer) => findProfile(db, viewer, partner));
  return new Set(db.values(`SELECT target_id FROM liked WHERE profile_id ${oneOf}`, [JSON.stringify(profiles)]));
}

function readReplies(asker: Asker, comments: readonly CommentRow[], liked: ReadonlySet<string>): Map<string, Json[]> {
  const rows = asker.db.all<ReplyRow>(
    `SELECT id, comment_id AS commentId, wallet, text, at_ms AS atMs, like_count AS likeCount FROM reply
     WHERE comment_id ${oneOf} ORDER BY at_ms, id`,
    [JSON.stringify(comments.map(({ id }) => id))],
  );
  const authors = readActors(
    asker,
    rows.map(({ wallet }) => wallet),
  );
  const inForm = ({ id, wallet, text, atMs, likeCount }: ReplyRow) => {
    const timestamp = Math.floor(atMs / 1000);
    return { id, text, author: authors.get(wallet), timestamp, likeCount, isLikedByUser: liked.has(id) };
  };
  const byComment = groupBy(rows, ({ commentId }) => commentId);
  return new Map([...byComment].map(([id, own]) => [id, own.map(inForm)]));
}

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
