import type { Comment } from '../../model/position.ts';
import { addressCell, formatCount, formatTime, formatUsd } from '../../output/format.ts';
import { showUnseen } from '../../output/unseen.ts';
import type { Column, Shown, View } from '../../output/view.ts';
import type { CommentAnswer, CommentsAnswer, CopyAnswer } from './endpoints.ts';
import type { Preview } from './preview.ts';
import type { SignedComment } from './signed.ts';
import type { TextFields, TextForm } from './signing.ts';
import type { Verdict } from './verify.ts';

const likedMark = (liked: boolean | undefined) => (liked === true ? ' (liked)' : '');

const commentColumns: readonly Column<Comment>[] = [
  { key: 'uid', header: 'Comment', help: 'uid of the comment (UUID)', value: (comment) => comment.uid },
  {
    key: 'time',
    header: 'Time',
    help: 'when it was posted; UTC, for machines Unix seconds',
    value: (comment) => comment.timestamp,
    show: (comment) => formatTime(comment.timestamp),
  },
  {
    key: 'signer',
    header: 'Author',
    help: 'address that signed',
    value: (comment) => comment.signerAddress,
    show: (comment) => addressCell(comment.signerAddress),
  },
  {
    key: 'text',
    header: 'Text',
    help: 'the comment',
    value: (comment) => comment.commentText,
    show: (comment): Shown => ({ text: comment.commentText, tone: 'strong' }),
    cut: 'end',
  },
  { key: 'chain', header: 'Chain', help: 'chain of the swap', value: (comment) => comment.chain },
  {
    key: 'token',
    header: 'Token',
    help: 'token that was swapped',
    value: (comment) => comment.tokenAddress,
    show: (comment) => addressCell(comment.tokenAddress),
  },
  {
    key: 'tx',
    header: 'Transaction',
    help: 'transaction hash, or order id on hyperliquid',
    value: (comment) => comment.transactionHash,
    show: (comment) => addressCell(comment.transactionHash),
  },
  {
    key: 'copies',
    header: 'Copies',
    help: 'copy trades that followed it',
    value: (comment) => comment.metrics?.copyCount,
    show: (comment) => formatCount(comment.metrics?.copyCount),
    align: 'right',
  },
  {
    key: 'copiedUsd',
    header: 'Copied',
    help: 'volume of the copy trades, in USD',
    value: (comment) => comment.metrics?.copyVolume,
    show: (comment) => formatUsd(usdOf(comment), { compact: true }),
    align: 'right',
  },
  {
    key: 'likes',
    header: 'Likes',
    help: 'likes, and whether one of the viewer addresses is among them',
    value: (comment) => comment.metrics?.likeCount,
    show: ({ metrics }) => formatCount(metrics?.likeCount) + likedMark(metrics?.isLikedByUser),
    align: 'right',
  },
  {
    key: 'isAppUserComment',
    header: 'Own app',
    help: "whether it was written by a user of the calling partner's app",
    value: (comment) => comment.isAppUserComment,
    show: (comment) => (comment.isAppUserComment ? 'yes' : 'no'),
    extra: true,
  },
];

function usdOf({ metrics }: Comment): number | null {
  const volume = metrics?.copyVolume;
  const usd = volume === null || volume === undefined || volume.trim() === '' ? Number.NaN : Number(volume);
  return Number.isNaN(usd) ? null : usd;
}

/** Columns of a record, with hashes and addresses in full. */
const whole = commentColumns.map(({ show, ...column }) =>
  show !== undefined && !['signer', 'token', 'tx'].includes(column.key) ? { ...column, show } : column,
);

/** One comment, as it was posted. */
export const post: View<CommentAnswer, Comment> = {
  layout: 'record',
  rows: (comment) => [comment],
  columns: whole,
};

/** What a list keeps for `--columns`, so that the comments have room: the chain was asked for, the token follows from the swap. */
const listExtras = ['chain', 'token', 'copiedUsd', 'isAppUserComment'];
const dropped: Readonly<Record<string, number>> = { tx: 4, copies: 3, likes: 2, signer: 1 };

function listColumn(column: Column<Comment>): Column<Comment> {
  const drop = dropped[column.key];
  if (listExtras.includes(column.key)) return { ...column, extra: true };
  return drop === undefined ? column : { ...column, drop };
}

/** Comments, one line each, in the order of the transactions. */
export const list: View<CommentsAnswer, Comment> = {
  layout: 'table',
  rows: (answer) => Object.values(answer).flatMap((swap) => swap?.comments ?? []),
  columns: [...commentColumns.slice(1), ...commentColumns.slice(0, 1)].map(listColumn),
  empty: 'No comments on these transactions.',
};

/** The intents, one line an address. */
export const copy: View<CopyAnswer, string> = {
  layout: 'table',
  rows: (answer) => answer.intentIds,
  columns: [{ key: 'intentId', header: 'Intent', help: 'id of the intent; one an address', value: (id) => id }],
  empty: 'The service recorded no intent.',
};

type SignedText = TextFields & TextForm & { message: string };

const textColumns: readonly Column<SignedText>[] = [
  { key: 'chain', header: 'Chain', help: 'chain of the swap', value: (signed) => signed.chain },
  { key: 'tokenAddress', header: 'Token', help: 'token, as signed', value: (signed) => signed.tokenAddress },
  {
    key: 'transactionHash',
    header: 'Transaction',
    help: 'transaction hash or order id, as signed',
    value: (signed) => signed.transactionHash,
  },
  {
    key: 'commentText',
    header: 'Text',
    help: 'the comment',
    value: (signed) => signed.commentText,
    show: (signed) => showUnseen(signed.commentText),
    cut: 'end',
  },
  { key: 'serviceName', header: 'Service', help: 'name in the first line', value: (signed) => signed.serviceName },
  { key: 'layout', header: 'Layout', help: 'form of the signed text', value: (signed) => signed.layout },
  {
    key: 'message',
    header: 'Message',
    help: 'the text that was signed',
    value: (signed) => signed.message,
    show: (signed) => showUnseen(signed.message),
    extra: true,
  },
];

/** A signed comment: the signature first, because that is what is copied. */
export const sign: View<SignedComment, SignedComment> = {
  layout: 'record',
  rows: (signed) => [signed],
  columns: [
    { key: 'signature', header: 'Signature', help: 'signature over the text', value: (signed) => signed.signature },
    { key: 'signerAddress', header: 'Signer', help: 'address that signed', value: (signed) => signed.signerAddress },
    ...textColumns,
  ],
};

/** What would be signed. */
export const preview: View<Preview, Preview> = { layout: 'record', rows: (shown) => [shown], columns: textColumns };

/** Whether a signature is good, and whose it is. */
export const verify: View<Verdict, Verdict> = {
  layout: 'record',
  rows: (verdict) => [verdict],
  columns: [
    {
      key: 'valid',
      header: 'Valid',
      help: 'whether the signer signed exactly this text',
      value: (verdict) => verdict.valid,
      show: (verdict): Shown => (verdict.valid ? { text: 'yes', tone: 'gain' } : { text: 'no', tone: 'loss' }),
    },
    {
      key: 'recoveredAddress',
      header: 'Signed by',
      help: 'address that the signature belongs to (EVM; solana where it is valid)',
      value: (verdict) => verdict.recoveredAddress,
    },
    {
      key: 'signerAddress',
      header: 'Signer',
      help: 'address that was claimed',
      value: (verdict) => verdict.signerAddress,
    },
    { key: 'reason', header: 'Reason', help: 'why it is not valid', value: (verdict) => verdict.reason, cut: 'end' },
  ],
};

/** What was done with one comment of a batch. */
export interface PostResult {
  /** Line of the input file, from 1. */
  line: number;
  result: 'posted' | 'posted before' | 'refused' | 'not sent';
  uid?: string | undefined;
  /** Why it was refused. */
  reason?: string | undefined;
  chain: string;
  transactionHash: string;
  signerAddress: string;
  commentText: string;
}

/** One line a comment of a batch. */
export const postMany: View<readonly PostResult[], PostResult> = {
  layout: 'table',
  rows: (posted) => posted,
  columns: [
    { key: 'line', header: 'Line', help: 'line of the input file', value: (posted) => posted.line, align: 'right' },
    {
      key: 'result',
      header: 'Result',
      help: 'posted, posted before (not sent again), refused, or not sent',
      value: (posted) => posted.result,
      show: ({ result }): Shown => ({ text: result, tone: result === 'refused' ? 'loss' : 'gain' }),
    },
    {
      key: 'tx',
      header: 'Transaction',
      help: 'transaction hash or order id',
      value: (posted) => posted.transactionHash,
      show: (posted) => addressCell(posted.transactionHash),
    },
    { key: 'chain', header: 'Chain', help: 'chain of the swap', value: (posted) => posted.chain, drop: 2 },
    { key: 'uid', header: 'Comment', help: 'uid of the comment', value: (posted) => posted.uid, drop: 4 },
    { key: 'reason', header: 'Reason', help: 'why it was refused', value: (posted) => posted.reason, cut: 'end' },
    {
      key: 'text',
      header: 'Text',
      help: 'the comment',
      value: (posted) => posted.commentText,
      show: (posted) => showUnseen(posted.commentText),
      cut: 'end',
      drop: 3,
    },
    {
      key: 'signer',
      header: 'Signer',
      help: 'address that signed',
      value: (posted) => posted.signerAddress,
      extra: true,
    },
  ],
};
