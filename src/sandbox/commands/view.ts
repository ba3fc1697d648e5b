import { column } from '../../output/columns.ts';
import { formatCount } from '../../output/format.ts';
import type { View } from '../../output/view.ts';
import type { LoggedRequest } from '../http/control.ts';
import type { ImportReport } from '../trades/import-trades.ts';
import type { MadeTrade } from '../trades/trade.ts';

function record<Row>(view: Pick<View<Row, Row>, 'columns' | 'notes'>): View<Row, Row> {
  return { layout: 'record', rows: (row) => [row], ...view };
}

/** What `sandbox status --json` shows. */
export interface SandboxStatus {
  db: string;
  world: string;
  /** ISO 8601; `frozen` when the clock is stopped. */
  now: string;
  frozen: boolean;
  newestTrade: string | null;
  trades: number;
  traders: number;
  positions: number;
  tokens: number;
  comments: number;
  webhooks: number;
  waiting: number;
  failed: number;
  keys: string[];
}

export const statusView = record<SandboxStatus>({
  columns: [
    column.text('db', 'Database', 'file of the database'),
    column.text('world', 'World', 'demo (built in) or empty (only what was imported)'),
    column.text('now', 'Clock', "the sandbox's time"),
    column.text('frozen', 'Frozen', 'whether the clock is stopped'),
    column.text('newestTrade', 'Newest trade', 'time of the newest trade'),
    column.count('trades', 'Trades', 'trades stored'),
    column.count('traders', 'Traders', 'wallets that traded'),
    column.count('positions', 'Positions', 'positions, open and closed'),
    column.count('tokens', 'Tokens', 'tokens traded'),
    column.count('comments', 'Comments', 'swap comments'),
    column.count('webhooks', 'Webhooks', 'webhooks of both partners'),
    column.count('waiting', 'Waiting', 'deliveries that wait for a try'),
    column.count('failed', 'Failed', 'deliveries that were given up after the last try'),
    column.text('keys', 'Keys', 'API keys of the two partners', ({ keys }) => keys.join(' ')),
  ],
});

export const logView: View<readonly LoggedRequest[], LoggedRequest> = {
  layout: 'table',
  rows: (requests) => requests,
  columns: [
    column.text('time', 'Time', 'when it was answered'),
    column.text('method', 'Method', 'HTTP method'),
    column.text('path', 'Path', 'path and query, what may be a key hidden', { cut: 'end' }),
    column.count('status', 'Status', 'HTTP status of the answer'),
    column.count('ms', 'ms', 'how long the answer took'),
    column.text('partner', 'Partner', 'whose key it was: a or b'),
    column.text('key', 'Key', 'last characters of the key that was sent'),
    column.text('ignored', 'Ignored', 'query names and body fields without effect', ({ ignored }) => ignored.join(' ')),
  ],
  empty: 'No request was answered yet.',
};

/** What `sandbox stop --json` shows. */
export interface StoppedSandbox {
  url: string;
  pid: number;
  db: string;
  stopped: boolean;
}

export const stopView = record<StoppedSandbox>({
  columns: [
    column.text('url', 'Address', 'where it answered'),
    column.count('pid', 'Process', 'id of the process'),
    column.text('db', 'Database', 'file of the database, which stays'),
    column.text('stopped', 'Stopped', 'whether it has ended'),
  ],
});

export const importView = record<ImportReport>({
  columns: [
    column.count('rows', 'Rows', 'rows of the file'),
    column.count('imported', 'Imported', 'trades that are new in the sandbox'),
    column.count('repeated', 'Repeated', 'rows that were there already'),
    column.count('rejected', 'Rejected', 'rows with an error'),
    column.count('skipped', 'Skipped', 'rows that say the same as another row'),
    column.count('traders', 'Traders', 'wallets in the file'),
    column.count('tokens', 'Tokens', 'tokens in the file'),
    column.text('oldest', 'Oldest trade', "the oldest trade's time in the sandbox"),
    column.text('newest', 'Newest trade', "the newest trade's time in the sandbox"),
  ],
  notes: ({ worldMovedBackMs, newestAgeMs, unavailable }) => [
    ...(unavailable > 0
      ? [`Positions that the file shows only in part: ${formatCount(unavailable)}. Their figures are unavailable.`]
      : []),
    ...(worldMovedBackMs > 0
      ? [`The file is newer than the sandbox: the whole world moved back by ${formatLength(worldMovedBackMs)}.`]
      : []),
    ...(newestAgeMs !== null && newestAgeMs > month
      ? [
          `The file's newest trade is ${formatLength(newestAgeMs)} before now, outside the windows of leaderboards: ` +
            'it keeps its distance to what was imported before. --own-time makes it now.',
        ]
      : []),
  ],
});

const month = 30 * 86_400_000;

function formatLength(ms: number): string {
  const days = ms / 86_400_000;
  return days >= 2 ? `${Math.round(days)} days` : `${Math.round(ms / 1000)} s`;
}

/** What `sandbox trade --json` shows. */
export interface TradeReport extends MadeTrade {
  /** Deliveries of the sandbox that still wait, for a later try or a served sandbox. */
  waiting: number;
}

export const traded = record<TradeReport>({
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
  notes: deliveryNotes,
});

/** What `sandbox simulate --json` shows. */
export interface SimulationReport {
  trades: number;
  deliveries: number;
  /** Deliveries of the sandbox that still wait, for a later try or a served sandbox. */
  waiting: number;
  seconds: number;
}

export const simulated = record<SimulationReport>({
  columns: [
    column.count('trades', 'Trades', 'trades made'),
    column.count('deliveries', 'Deliveries', 'deliveries they made for webhooks'),
    column.count('waiting', 'Waiting', 'deliveries that wait for a later try'),
    column.text('seconds', 'Seconds', 'how long it took'),
  ],
  notes: deliveryNotes,
});

function deliveryNotes({ waiting }: { waiting: number }): string[] {
  if (waiting === 0) return [];
  return [
    `${formatCount(waiting)} ${waiting === 1 ? 'delivery waits' : 'deliveries wait'} for a later try: sotra sandbox start makes it, or the next trade.`,
  ];
}

/** What `webhook trigger --json` shows, once a destination. */
export interface SentEvent {
  eventId: string;
  eventType: string;
  /** The webhook of the sandbox; `null` where it was sent directly. */
  uid: string | null;
  destinationUrl: string;
  delivered: boolean;
  status: number | null;
  error: string | null;
}

export const triggered: View<SentEvent[], SentEvent> = {
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
