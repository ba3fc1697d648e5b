import { addressCell } from '../../output/format.ts';
import { showUnseen } from '../../output/unseen.ts';
import type { Shown, View } from '../../output/view.ts';

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
