import { secondsOf } from '../db/settings.ts';
import { groupBy, oneOf } from '../ledger/trade.ts';
import type { Partner, RequestContext } from './handler.ts';
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

/** The comments of some trades by trade id. Source: sections "Comment" and "Reply". Errors: ServiceRefusal 404 for an unknown viewer UUID. */
export function readTradeComments(
  context: RequestContext,
  tradeIds: readonly number[],
  options: CommentOptions = {},
): Map<number, Json[]> {
  const rows = context.db.all<CommentRow>(
    `SELECT c.id, c.trade_id AS tradeId, c.partner_id AS partnerId, c.chain, c.token, c.transaction_hash AS transactionHash, c.wallet,
       c.text, c.at_ms AS atMs, c.like_count AS likeCount,
       (SELECT count(*) FROM copy k WHERE k.comment_id = c.id) AS copyCount,
       (SELECT coalesce(sum(k.usd), 0) FROM copy k WHERE k.comment_id = c.id) AS copyUsd
     FROM comment c WHERE c.trade_id ${oneOf} ORDER BY c.at_ms DESC, c.id`,
    [JSON.stringify(tradeIds)],
  );
  const liked = likedBy(context, options.viewers);
  const toSec = secondsOf(context.db);
  const replies = options.replies ? readReplies(context, rows, liked) : undefined;
  const inForm = (row: CommentRow) => ({
    ...makeComment(row, { partner: context.partner, liked, toSec }),
    ...(replies === undefined ? {} : { replies: replies.get(row.id) ?? [] }),
  });
  const byTrade = groupBy(rows, ({ tradeId }) => tradeId);
  return new Map([...byTrade].map(([id, own]) => [id, own.map(inForm)]));
}

function makeComment(
  row: CommentRow,
  { partner, liked, toSec }: { partner: Partner; liked: ReadonlySet<string>; toSec: (ms: number) => number },
): Json {
  return {
    uid: row.id,
    transactionHash: row.transactionHash,
    chain: row.chain,
    tokenAddress: row.token,
    commentText: row.text,
    timestamp: toSec(row.atMs),
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

function likedBy({ db, partner }: RequestContext, viewers: readonly string[] = []): Set<string> {
  if (viewers.length === 0) return new Set();
  const profiles = viewers.map((viewer) => findProfile(db, viewer, partner));
  return new Set(db.values(`SELECT target_id FROM liked WHERE profile_id ${oneOf}`, [JSON.stringify(profiles)]));
}

function readReplies(
  context: RequestContext,
  comments: readonly CommentRow[],
  liked: ReadonlySet<string>,
): Map<string, Json[]> {
  const rows = context.db.all<ReplyRow>(
    `SELECT id, comment_id AS commentId, wallet, text, at_ms AS atMs, like_count AS likeCount FROM reply
     WHERE comment_id ${oneOf} ORDER BY at_ms, id`,
    [JSON.stringify(comments.map(({ id }) => id))],
  );
  const wallets = rows.map(({ wallet }) => wallet);
  const authors = readActors(context, wallets);
  const toSec = secondsOf(context.db);
  const inForm = ({ id, wallet, text, atMs, likeCount }: ReplyRow) => ({
    id,
    text,
    author: authors.get(wallet),
    timestamp: toSec(atMs),
    likeCount,
    isLikedByUser: liked.has(id),
  });
  const byComment = groupBy(rows, ({ commentId }) => commentId);
  return new Map([...byComment].map(([id, own]) => [id, own.map(inForm)]));
}
