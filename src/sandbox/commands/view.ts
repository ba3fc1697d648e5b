import { column } from '../../output/columns.ts';
import { formatCount } from '../../output/format.ts';
import type { View } from '../../output/view.ts';
import type { LoggedRequest } from '../http/control.ts';
import type { ImportReport } from '../trades/import-trades.ts';
import type { StoppedSandbox } from './served.ts';
import type { SandboxStatus } from './state.ts';

/** The state of the sandbox. */
export const statusView: View<SandboxStatus, SandboxStatus> = {
  layout: 'record',
  rows: (status) => [status],
  columns: [
    column.text('db', 'Database', 'file of the database'),
    column.text('world', 'World', 'demo (built in) or empty (only what was imported)'),
    column.text('now', 'Clock', "the sandbox's time"),
    column.text('frozen', 'Stands still', 'whether the clock is frozen'),
    column.text('newestTrade', 'Newest trade', 'time of the newest trade'),
    column.count('trades', 'Trades', 'trades stored'),
    column.count('traders', 'Traders', 'wallets that traded'),
    column.count('positions', 'Positions', 'positions, open and closed'),
    column.count('tokens', 'Tokens', 'tokens traded'),
    column.count('comments', 'Comments', 'swap comments'),
    column.count('webhooks', 'Webhooks', 'webhooks of both partners'),
    column.count('waiting', 'Waiting', 'deliveries that wait for a try'),
    column.count('failed', 'Failed', 'deliveries that no try brought to their webhook'),
    column.text('keys', 'Keys', 'API keys of the two partners', ({ keys }) => keys.join(' ')),
  ],
};

/** The requests of a served sandbox, oldest first. */
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

/** A sandbox that was stopped. */
export const stopView: View<StoppedSandbox, StoppedSandbox> = {
  layout: 'record',
  rows: (stopped) => [stopped],
  columns: [
    column.text('url', 'Address', 'where it answered'),
    column.count('pid', 'Process', 'id of the process'),
    column.text('db', 'Database', 'file of the database, which stays'),
    column.text('stopped', 'Stopped', 'whether it has ended'),
  ],
};

/** What an import did. */
export const importView: View<ImportReport, ImportReport> = {
  layout: 'record',
  rows: (report) => [report],
  columns: [
    column.count('rows', 'Rows', 'rows of the file'),
    column.count('imported', 'Imported', 'trades that are new in the sandbox'),
    column.count('repeated', 'Repeated', 'rows that were there already'),
    column.count('rejected', 'Rejected', 'rows with an error'),
    column.count('skipped', 'Passed over', 'rows that tell the same trade as another row'),
    column.count('traders', 'Traders', 'wallets in the file'),
    column.count('tokens', 'Tokens', 'tokens in the file'),
    column.text('oldest', 'Oldest trade', "the oldest trade's time in the sandbox"),
    column.text('newest', 'Newest trade', "the newest trade's time in the sandbox"),
  ],
  notes: ({ worldMovedBackMs, newestAgeMs, unavailable }) => [
    ...(unavailable > 0
      ? [
          `Positions that the file begins inside of, or has gaps in: ${formatCount(unavailable)}. Their figures are unavailable.`,
        ]
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
};

const month = 30 * 86_400_000;

function formatLength(ms: number): string {
  const days = ms / 86_400_000;
  return days >= 2 ? `${Math.round(days)} days` : `${Math.round(ms / 1000)} s`;
}
