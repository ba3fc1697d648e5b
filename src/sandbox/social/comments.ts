import { honoredViewers } from '../../model/identifier.ts';
import type { Db } from '../db/store.ts';
import type { Partner } from '../http/service.ts';
import { groupBy, oneOf } from '../trades/queries.ts';
import { findProfile } from './lookup.ts';
import { actorsOf } from './profiles.ts';

type Json = Record<string, unknown>;

interface CommentOptions {
  partner: Partner;
  nowMs: number;
  /** Wallets whose likes fill `isLikedByUser`; absent: nobody's. */
  viewers?: readonly string[] | undefined;
  /** With the replies to each comment, oldest first. */
  replies: boolean;
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

/**
 * The comments of some trades in the service's form, by trade id; trades without one are absent. Seconds, USD as decimal text. Source:
 * sections "Comment" and "Reply". Errors: Refusal 404 for a viewer UUID nobody has.
 */
export function commentsOfTrades(db: Db, tradeIds: readonly number[], options: CommentOptions): Map<number, Json[]> {
  const rows = db.all<CommentRow>(
    `SELECT c.id, c.trade_id AS tradeId, c.partner_id AS partnerId, c.chain, c.token, c.transaction_hash AS transactionHash, c.wallet,
       c.text, c.at_ms AS atMs, c.like_count AS likeCount,
       (SELECT count(*) FROM copy k WHERE k.comment_id = c.id) AS copyCount,
       (SELECT coalesce(sum(k.usd), 0) FROM copy k WHERE k.comment_id = c.id) AS copyUsd
     FROM comment c WHERE c.trade_id ${oneOf} ORDER BY c.at_ms DESC, c.id`,
    [JSON.stringify(tradeIds)],
  );
  const liked = likedBy(db, options);
  const replies = options.replies ? repliesOf(db, rows, liked, options) : undefined;
  const inForm = (row: CommentRow) => ({
    ...commentOf(row, options.partner, liked),
    ...(replies === undefined ? {} : { replies: replies.get(row.id) ?? [] }),
  });
  const byTrade = groupBy(rows, ({ tradeId }) => tradeId);
  return new Map([...byTrade].map(([id, own]) => [id, own.map(inForm)]));
}

function commentOf(row: CommentRow, partner: Partner, liked: ReadonlySet<string>): Json {
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

/** A sentence where something was copied. */
export function copiedText(copies: number): string[] {
  return copies === 0 ? [] : [`Copied ${copies} ${copies === 1 ? 'time' : 'times'}`];
}

/** Copied volume as every answer writes it: US dollars as decimal text. */
export function copyVolume(usd: number): string {
  return usd.toFixed(2);
}

/** Ids of the comments and replies that any of the viewers likes. */
function likedBy(db: Db, { viewers = [], partner }: CommentOptions): Set<string> {
  if (viewers.length === 0) return new Set();
  const profiles = viewers.slice(0, honoredViewers).map((viewer) => findProfile(db, viewer, partner));
  const rows = db.all<{ id: string }>(`SELECT target_id AS id FROM liked WHERE profile_id ${oneOf}`, [
    JSON.stringify(profiles),
  ]);
  return new Set(rows.map(({ id }) => id));
}

function repliesOf(
  db: Db,
  comments: readonly CommentRow[],
  liked: ReadonlySet<string>,
  options: CommentOptions,
): Map<string, Json[]> {
  const rows = db.all<ReplyRow>(
    `SELECT id, comment_id AS commentId, wallet, text, at_ms AS atMs, like_count AS likeCount FROM reply
     WHERE comment_id ${oneOf} ORDER BY at_ms, id`,
    [JSON.stringify(comments.map(({ id }) => id))],
  );
  const wallets = rows.map(({ wallet }) => wallet);
  const authors = actorsOf(db, wallets, options);
  const inForm = ({ id, wallet, text, atMs, likeCount }: ReplyRow) => {
    const timestamp = Math.floor(atMs / 1000);
    return { id, text, author: authors.get(wallet), timestamp, likeCount, isLikedByUser: liked.has(id) };
  };
  const byComment = groupBy(rows, ({ commentId }) => commentId);
  return new Map([...byComment].map(([id, own]) => [id, own.map(inForm)]));
}
