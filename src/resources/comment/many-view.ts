import { column } from '../../output/columns.ts';
import { showUnseen } from '../../output/unseen.ts';
import type { View } from '../../output/view.ts';

/** What became of one comment of a batch. */
export interface Posted {
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
export const manyView: View<readonly Posted[], Posted> = {
  layout: 'table',
  rows: (posted) => posted,
  columns: [
    column.text('line', 'Line', 'line of the input file', { align: 'right' }),
    column.text('result', 'Result', 'posted, posted before (not sent again), refused, or not sent', {
      show: ({ result }) => ({ text: result, tone: result === 'refused' ? 'loss' : 'gain' }),
    }),
    column.address('tx', 'Transaction', 'transaction hash or order id', ({ transactionHash }) => transactionHash),
    column.text('chain', 'Chain', 'chain of the swap', { drop: 2 }),
    column.text('uid', 'Comment', 'uid of the comment', { drop: 4 }),
    column.text('reason', 'Reason', 'why it was refused', { cut: 'end' }),
    column.text('text', 'Text', 'the comment', ({ commentText }) => commentText, {
      show: ({ commentText }) => showUnseen(commentText),
      cut: 'end',
      drop: 3,
    }),
    column.text('signer', 'Signer', 'address that signed', ({ signerAddress }) => signerAddress, { extra: true }),
  ],
};
