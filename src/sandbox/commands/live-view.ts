import { column } from '../../output/columns.ts';
import { formatCount } from '../../output/format.ts';
import type { View } from '../../output/view.ts';

/** One trade that was made. */
export interface Traded {
  chain: string;
  trader: string;
  token: string;
  side: string;
  amount: number;
  usd: number;
  /** Unix seconds. */
  timestamp: number;
  transactionHash: string;
  positionId: string;
  /** Deliveries that it made for webhooks. */
  deliveries: number;
  /** Deliveries of the sandbox that still wait, for a later try or a served sandbox. */
  waiting: number;
}

/** A trade that was made. */
export const traded: View<Traded, Traded> = {
  layout: 'record',
  rows: (answer) => [answer],
  columns: [
    column.text('chain', 'Chain', 'where'),
    column.text('trader', 'Trader', 'wallet'),
    column.text('token', 'Token', 'contract address, mint or symbol'),
    column.text('side', 'Side', 'buy or sell'),
    column.amount('amount', 'Amount', 'tokens'),
    column.usd('usd', 'Value', 'US dollars'),
    column.time('timestamp', 'Time', "by the sandbox's clock, Unix seconds"),
    column.text('transactionHash', 'Transaction', 'hash, or order id on hyperliquid'),
    column.text('positionId', 'Position', 'for position get'),
    column.count('deliveries', 'Deliveries', 'deliveries it made for webhooks'),
    column.count('waiting', 'Waiting', 'deliveries that wait for a later try'),
  ],
  notes: whoDelivers,
};

/** What a simulation did. */
export interface Simulated {
  trades: number;
  deliveries: number;
  /** Deliveries of the sandbox that still wait, for a later try or a served sandbox. */
  waiting: number;
  seconds: number;
}

/** The figures of a simulation. */
export const simulated: View<Simulated, Simulated> = {
  layout: 'record',
  rows: (answer) => [answer],
  columns: [
    column.count('trades', 'Trades', 'trades made'),
    column.count('deliveries', 'Deliveries', 'deliveries they made for webhooks'),
    column.count('waiting', 'Waiting', 'deliveries that wait for a later try'),
    column.text('seconds', 'Seconds', 'how long it took'),
  ],
  notes: whoDelivers,
};

function whoDelivers({ waiting }: { waiting: number }): string[] {
  if (waiting === 0) return [];
  return [
    `${formatCount(waiting)} ${waiting === 1 ? 'delivery waits' : 'deliveries wait'} for a later try: sotra sandbox start makes it, or the next trade.`,
  ];
}

/** One event that was sent. */
export interface Triggered {
  eventId: string;
  eventType: string;
  /** The webhook of the sandbox; `null` where it was sent directly. */
  uid: string | null;
  destinationUrl: string;
  delivered: boolean;
  status: number | null;
  error: string | null;
}

/** Events that were sent, one a destination. */
export const triggered: View<Triggered[], Triggered> = {
  layout: 'table',
  rows: (answer) => answer,
  columns: [
    column.text('eventId', 'Event id', 'id of the event'),
    column.text('destinationUrl', 'Destination', 'where it was sent', { cut: 'middle' }),
    column.check('delivered', 'Taken', 'whether the answer was 2xx'),
    column.text('status', 'Status', 'HTTP status of the answer'),
    column.text('error', 'Why not', 'what went wrong', { cut: 'end' }),
  ],
};
