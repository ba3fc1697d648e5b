import { formatAmount, formatCount, formatTime, formatUsd } from '../../output/format.ts';
import type { Column, View } from '../../output/view.ts';

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

function text<Row>(key: keyof Row & string, header: string, help: string): Column<Row> {
  return { key, header, help, value: (row) => row[key] as string };
}

function count<Row>(key: keyof Row & string, header: string, help: string): Column<Row> {
  const value = (row: Row) => row[key] as number;
  return { key, header, help, value, show: (row) => formatCount(value(row)) };
}

/** A trade that was made. */
export const traded: View<Traded, Traded> = {
  layout: 'record',
  rows: (answer) => [answer],
  columns: [
    text('chain', 'Chain', 'where'),
    text('trader', 'Trader', 'wallet'),
    text('token', 'Token', 'contract address, mint or symbol'),
    text('side', 'Side', 'buy or sell'),
    {
      key: 'amount',
      header: 'Amount',
      help: 'tokens',
      value: (row) => row.amount,
      show: (row) => formatAmount(row.amount),
    },
    { key: 'usd', header: 'Value', help: 'US dollars', value: (row) => row.usd, show: (row) => formatUsd(row.usd) },
    {
      key: 'timestamp',
      header: 'Time',
      help: "by the sandbox's clock, Unix seconds",
      value: (row) => row.timestamp,
      show: (row) => formatTime(row.timestamp),
    },
    text('transactionHash', 'Transaction', 'hash, or order id on hyperliquid'),
    text('positionId', 'Position', 'for position get'),
    count('deliveries', 'Deliveries', 'deliveries it made for webhooks'),
    count('waiting', 'Waiting', 'deliveries that wait for a later try'),
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
    count('trades', 'Trades', 'trades made'),
    count('deliveries', 'Deliveries', 'deliveries they made for webhooks'),
    count('waiting', 'Waiting', 'deliveries that wait for a later try'),
    { key: 'seconds', header: 'Seconds', help: 'how long it took', value: (row) => row.seconds },
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
    { ...text<Triggered>('eventId', 'Event id', 'id of the event') },
    { ...text<Triggered>('destinationUrl', 'Destination', 'where it was sent'), cut: 'middle' },
    {
      key: 'delivered',
      header: 'Taken',
      help: 'whether the answer was 2xx',
      value: (row) => row.delivered,
      show: (row) => (row.delivered ? { text: 'yes', tone: 'gain' } : { text: 'no', tone: 'loss' }),
    },
    { key: 'status', header: 'Status', help: 'HTTP status of the answer', value: (row) => row.status },
    { key: 'error', header: 'Why not', help: 'what went wrong', value: (row) => row.error, cut: 'end' },
  ],
};
