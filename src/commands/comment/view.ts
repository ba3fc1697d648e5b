import type { Comment, CommentsAnswer, CopyAnswer, TokenCommentsAnswer } from '../../api/answers.ts';
import { readHeld } from '../../api/holding.ts';
import { showUnseen } from '../../api/safe-text.ts';
import type { TextFields, TextForm } from '../../api/signed-text.ts';
import type { Verdict } from '../../api/verify-signature.ts';
import { column, listView, pickColumns, recordView } from '../../lib/output/columns.ts';
import { formatCount, formatUsd, nameOrAddress } from '../../lib/output/format.ts';
import type { Column, View } from '../../lib/output/view.ts';
import type { SignedComment } from './comment-text.ts';

const commentColumns: readonly Column<Comment>[] = [
  column.text('uid', 'Comment', 'uid of the comment (UUID)'),
  column.time('time', 'Time', 'when it was posted', ({ timestamp }) => timestamp),
  column.address('signer', 'Author', 'address that signed', ({ signerAddress }) => signerAddress),
  column.text('text', 'Text', 'the comment', ({ commentText }) => commentText, { tone: 'strong', cut: true }),
  column.text('chain', 'Chain', 'chain of the swap'),
  column.address('token', 'Token', 'token that was swapped', ({ tokenAddress }) => tokenAddress),
  column.address(
    'tx',
    'Transaction',
    'transaction hash, or order id on hyperliquid',
    (comment) => comment.transactionHash,
  ),
  column.count('copies', 'Copies', 'copy trades that followed it', ({ metrics }) => metrics?.copyCount),
  column.text('copiedUsd', 'Copied', 'volume of the copy trades, in USD', ({ metrics }) => metrics?.copyVolume, {
    show: (comment) => formatUsd(readCopyVolume(comment), { compact: true }),
    align: 'right',
  }),
  column.count(
    'likes',
    'Likes',
    'likes, and whether a viewer address is among them',
    ({ metrics }) => metrics?.likeCount,
    {
      show: ({ metrics }) => formatCount(metrics?.likeCount) + (metrics?.isLikedByUser ? ' (liked)' : ''),
    },
  ),
  column.flag('isAppUserComment', 'Own app', "whether a user of the calling partner's app wrote it", { extra: true }),
];

function readCopyVolume({ metrics }: Comment): number | null {
  const volume = metrics?.copyVolume;
  const usd = volume === null || volume === undefined || volume.trim() === '' ? Number.NaN : Number(volume);
  return Number.isNaN(usd) ? null : usd;
}

/** One comment, as it was posted, with hashes and addresses in full. */
export const post = recordView<Comment>(
  commentColumns.map((each) =>
    ['signer', 'token', 'tx'].includes(each.key) ? { ...each, show: () => undefined } : each,
  ),
);

/** Comments, one line each, in the order of the transactions. Chain, token and transaction are known from the request and leave room for the text. */
export const list: View<CommentsAnswer, Comment> = {
  layout: 'table',
  rows: (answer) => Object.values(answer).flatMap((swap) => swap?.comments ?? []),
  columns: pickColumns(commentColumns, (comment: Comment) => comment, {
    time: {},
    signer: { drop: 1 },
    text: {},
    chain: { extra: true },
    token: { extra: true },
    tx: { drop: 4 },
    copies: { drop: 3 },
    copiedUsd: { extra: true },
    likes: { drop: 2 },
    isAppUserComment: {},
    uid: {},
  }),
  empty: 'No comments on these transactions.',
};

type TokenComment = TokenCommentsAnswer[number];

const holdingHelp =
  'tokens the trader holds now; on perps the margin part, on shorts negative if the service sends a sign';
const readGain = ({ positionDetails }: TokenComment) => positionDetails?.positionStats?.realizedGainsUSD;
const extra = { extra: true };

const columns: readonly Column<TokenComment>[] = [
  column.time('at', 'Time', 'time of the comment', ({ timestamp }) => timestamp, { drop: 3 }),
  column.text('author', 'Trader', 'author: name or address', ({ actor }) => actor.name ?? actor.address, {
    show: ({ actor }) => nameOrAddress(actor),
    cut: true,
  }),
  column.text('direction', 'Trade', 'whether the trade is a buy or a sell', ({ trade }) => trade.direction, {
    drop: 1,
  }),
  column.compactUsd('usd', 'Value', 'value of the trade in USD; on perps with leverage', ({ trade }) => trade.usdCost, {
    drop: 2,
  }),
  column.text('text', 'Comment', 'the text', ({ comment }) => comment.commentText, { cut: 40 }),
  column.compactAmount(
    'holding',
    'Holding',
    holdingHelp,
    ({ positionDetails }) => positionDetails && readHeld(positionDetails).amount,
    extra,
  ),
  column.pnl('realizedUsd', 'PnL', 'realized PnL of the position, in USD', readGain, extra),
  column.count('likes', 'Likes', 'likes of the comment', ({ comment }) => comment.metrics?.likeCount, extra),
  column.count('copies', 'Copies', 'copy trades of the comment', ({ comment }) => comment.metrics?.copyCount, extra),
  column.text('side', 'Side', 'long or short; perps only', ({ trade }) => trade.perpPositionType, extra),
  column.text('tokenCommentCount', 'On token', 'total comments on the token', ({ token }) => token.commentCount, extra),
  column.address('address', 'Address', 'wallet of the author', ({ actor }) => actor.address, extra),
  column.address('transactionHash', 'Transaction', 'the trade', ({ comment }) => comment.transactionHash, extra),
  column.text('uid', 'Comment id', 'id of the comment, for comment copy', ({ comment }) => comment.uid, {
    drop: 4,
  }),
  column.text('itemId', 'Item', 'id of the item', extra),
];

export const ofToken = listView<TokenComment>(columns, { empty: 'Nobody has commented on this token.' });

export const copy: View<CopyAnswer, string> = {
  layout: 'table',
  rows: (answer) => answer.intentIds,
  columns: [column.text('intentId', 'Intent', 'id of the intent; one for each address', (id) => id)],
  empty: 'The service recorded no intent.',
};

/** A text to be signed, or signed. */
type Text = TextFields & TextForm & { message: string };

const textColumns: readonly Column<Text>[] = [
  column.text('chain', 'Chain', 'chain of the swap'),
  column.text('tokenAddress', 'Token', 'token, as signed'),
  column.text('transactionHash', 'Transaction', 'transaction hash or order id, as signed'),
  column.text('commentText', 'Text', 'the comment', { show: ({ commentText }) => showUnseen(commentText), cut: true }),
  column.text('serviceName', 'Service', 'name in the first line'),
  column.text('layout', 'Layout', 'form of the signed text'),
  column.text('message', 'Message', 'the text that was signed', {
    show: ({ message }) => showUnseen(message),
    extra: true,
  }),
];

export const sign = recordView<SignedComment>([
  column.text('signature', 'Signature', 'signature over the text'),
  column.text('signerAddress', 'Signer', 'address that signed'),
  ...textColumns,
]);

export const preview = recordView<Text>(textColumns);

export const previews = listView<Text>(textColumns);

export const verify = recordView<Verdict>([
  column.check('valid', 'Valid', 'whether the signer signed exactly this text'),
  column.text('recoveredAddress', 'Signed by', 'address that made the signature (EVM; solana if it is valid)'),
  column.text('signerAddress', 'Signer', 'address that was claimed'),
  column.text('reason', 'Reason', 'why it is not valid', { cut: true }),
]);

export interface PostResult {
  line: number;
  result: 'posted' | 'posted before' | 'refused';
  uid?: string | undefined;
  reason?: string | undefined;
  chain: string;
  transactionHash: string;
  signerAddress: string;
  commentText: string;
}

export const postMany = listView<PostResult>([
  column.text('line', 'Line', 'line of the input file', { align: 'right' }),
  column.text('result', 'Result', 'posted, posted before (not sent again) or refused', {
    show: ({ result }) => ({ text: result, tone: result === 'refused' ? 'loss' : 'gain' }),
  }),
  column.address('tx', 'Transaction', 'transaction hash or order id', ({ transactionHash }) => transactionHash),
  column.text('chain', 'Chain', 'chain of the swap', { drop: 2 }),
  column.text('uid', 'Comment', 'uid of the comment', { drop: 4 }),
  column.text('reason', 'Reason', 'why it was refused', { cut: true }),
  column.text('text', 'Text', 'the comment', ({ commentText }) => commentText, {
    show: ({ commentText }) => showUnseen(commentText),
    cut: true,
    drop: 3,
  }),
  column.text('signer', 'Signer', 'address that signed', ({ signerAddress }) => signerAddress, { extra: true }),
]);
