import { dayMs } from '../../api/duration.ts';
import { column, listView, recordView } from '../../lib/output/columns.ts';
import { formatCount, pathCell } from '../../lib/output/format.ts';
import type { ImportReport } from '../../sandbox/ledger/import-trades.ts';
import type { MadeTrade } from '../../sandbox/ledger/trade.ts';
import type { LoggedRequest } from '../../sandbox/serve/request-log.ts';
import type { describeSandbox } from './open-sandbox.ts';
import type { Ready } from './served.ts';

export const logView = listView<LoggedRequest>(
  [
    column.text('time', 'Time', 'when it was answered', {
      show: ({ time }) => ({ text: time, short: time.slice(11) }),
    }),
    column.text('method', 'Method', 'HTTP method', { drop: 2 }),
    column.text('path', 'Path', 'path and query; possible keys are hidden', {
      show: ({ path }) => pathCell(path),
      cut: true,
    }),
    column.count('status', 'Status', 'HTTP status of the answer'),
    column.count('ms', 'ms', 'duration in milliseconds', { drop: 4 }),
    column.text('partner', 'Partner', 'partner of the key: a or b', { drop: 3 }),
    column.text('key', 'Key', 'last characters of the key', { drop: 5 }),
    column.text(
      'ignored',
      'Ignored',
      'query parameters and body fields without effect',
      ({ ignored }) => ignored.join(' '),
      { drop: 1 },
    ),
    column.text('error', 'Error', 'why it failed', { cut: true }),
    column.text('fault', 'Fault', 'injected fault', { extra: true }),
  ],
  { empty: 'No requests yet.' },
);

export const stopView = recordView<Pick<Ready, 'url' | 'pid' | 'db'> & { stopped: boolean }>([
  column.text('url', 'Address', 'URL it was served at'),
  column.count('pid', 'Process', 'process id'),
  column.text('db', 'Database', 'database file, which is kept'),
  column.text('stopped', 'Stopped', 'whether it was stopped'),
]);

export const statusView = recordView<ReturnType<typeof describeSandbox>>([
  column.text('db', 'Database', 'database file'),
  column.text('world', 'Data', 'demo (built in) or empty (only imported trades)'),
  column.text('now', 'Clock', "the sandbox's time"),
  column.text('frozen', 'Frozen', 'whether the clock is stopped'),
  column.text('newestTrade', 'Newest trade', 'time of the newest trade'),
  column.count('trades', 'Trades', 'trades stored'),
  column.count('traders', 'Traders', 'wallets that traded'),
  column.count('positions', 'Positions', 'positions, open and closed'),
  column.count('tokens', 'Tokens', 'tokens traded'),
  column.count('comments', 'Comments', 'swap comments'),
  column.count('webhooks', 'Webhooks', 'webhooks of both partners'),
  column.count('waiting', 'Waiting', 'deliveries waiting to be sent'),
  column.count('failed', 'Failed', 'deliveries that failed after the last retry'),
  column.text('keys', 'Keys', 'API keys of the two partners', ({ keys }) => keys.join(' ')),
]);

export const importView = recordView<ImportReport>(
  [
    column.count('rows', 'Rows', 'rows of the file'),
    column.count('imported', 'Imported', 'new trades'),
    column.count('repeated', 'Repeated', 'rows that are in the file twice, or were imported before'),
    column.count('rejected', 'Rejected', 'rows with an error'),
    column.count('traders', 'Traders', 'wallets in the file'),
    column.count('tokens', 'Tokens', 'tokens in the file'),
    column.text('oldest', 'Oldest trade', 'time of the oldest trade, in the sandbox'),
    column.text('newest', 'Newest trade', 'time of the newest trade, in the sandbox'),
  ],
  {
    notes: ({ worldMovedBackMs, newestAgeMs, unavailable }) => [
      ...(unavailable > 0
        ? [`Positions with missing trades: ${formatCount(unavailable)}. Their figures are unavailable.`]
        : []),
      ...(worldMovedBackMs > 0
        ? [`The file is newer than the sandbox: all earlier data was moved back by ${formatLength(worldMovedBackMs)}.`]
        : []),
      ...(newestAgeMs !== null && newestAgeMs > monthMs
        ? [
            `The file's newest trade is ${formatLength(newestAgeMs)} old, outside the timeframes of leaderboards: ` +
              'times keep their distance to earlier imports. --own-time shifts it to now.',
          ]
        : []),
    ],
  },
);

const monthMs = 30 * dayMs;

function formatLength(ms: number): string {
  const days = ms / dayMs;
  return days >= 2 ? `${Math.round(days)} days` : `${Math.round(ms / 1000)} s`;
}

type TradeReport = MadeTrade & { waiting: number };

export const traded = recordView<TradeReport>(
  [
    column.text('chain', 'Chain', 'chain of the token'),
    column.text('trader', 'Trader', 'wallet of the trader'),
    column.text('token', 'Token', 'contract address, mint or symbol'),
    column.text('side', 'Side', 'buy or sell'),
    column.amount('amount', 'Amount', 'number of tokens'),
    column.usd('usd', 'Value', 'value in US dollars'),
    column.time('timestamp', 'Time', "Unix seconds, by the sandbox's clock"),
    column.text('transactionHash', 'Transaction', 'hash, or order id on hyperliquid'),
    column.text('positionId', 'Position', 'id for position get'),
    column.count('deliveries', 'Deliveries', 'webhook deliveries'),
    column.count('waiting', 'Waiting', 'deliveries waiting for a retry'),
  ],
  { notes: deliveryNotes },
);

export interface SimulationReport {
  trades: number;
  deliveries: number;
  waiting: number;
  seconds: number;
}

export const simulated = recordView<SimulationReport>(
  [
    column.count('trades', 'Trades', 'trades made'),
    column.count('deliveries', 'Deliveries', 'webhook deliveries'),
    column.count('waiting', 'Waiting', 'deliveries waiting for a retry'),
    column.text('seconds', 'Seconds', 'duration in seconds'),
  ],
  { notes: deliveryNotes },
);

function deliveryNotes({ waiting }: { waiting: number }): string[] {
  if (waiting === 0) return [];
  return [
    `${formatCount(waiting)} ${waiting === 1 ? 'delivery waits' : 'deliveries wait'} for a retry. The served sandbox sends them; without one, sotra sandbox start or the next trade does.`,
  ];
}
