import { formatCount } from '../../output/format.ts';
import type { Column, View } from '../../output/view.ts';
import type { LoggedRequest } from '../http/control.ts';
import type { ImportReport } from '../trades/import-trades.ts';
import type { StoppedSandbox } from './served.ts';
import type { SandboxStatus } from './state.ts';

function field<Row>(key: string & keyof Row, header: string, help: string): Column<Row> {
  const value = (row: Row) => {
    const cell = row[key];
    return Array.isArray(cell) ? cell.join(' ') : (cell as string | number | boolean | null);
  };
  return {
    key,
    header,
    help,
    value,
    show: (row) => {
      const cell = value(row);
      return typeof cell === 'number' ? formatCount(cell) : cell === null ? '–' : String(cell);
    },
  };
}

/** The state of the sandbox. */
export const statusView: View<SandboxStatus, SandboxStatus> = {
  layout: 'record',
  rows: (status) => [status],
  columns: [
    field('db', 'Database', 'file of the database'),
    field('world', 'World', 'demo (built in) or empty (only what was imported)'),
    field('now', 'Clock', "the sandbox's time"),
    field('frozen', 'Stands still', 'whether the clock is frozen'),
    field('newestTrade', 'Newest trade', 'time of the newest trade'),
    field('trades', 'Trades', 'trades stored'),
    field('traders', 'Traders', 'wallets that traded'),
    field('positions', 'Positions', 'positions, open and closed'),
    field('tokens', 'Tokens', 'tokens traded'),
    field('comments', 'Comments', 'swap comments'),
    field('webhooks', 'Webhooks', 'webhooks of both partners'),
    field('waiting', 'Waiting', 'deliveries that wait for a try'),
    field('failed', 'Failed', 'deliveries that no try brought to their webhook'),
    field('keys', 'Keys', 'API keys of the two partners'),
  ],
};

/** The requests of a served sandbox, oldest first. */
export const logView: View<readonly LoggedRequest[], LoggedRequest> = {
  layout: 'table',
  rows: (requests) => requests,
  columns: [
    field('time', 'Time', 'when it was answered'),
    field('method', 'Method', 'HTTP method'),
    { ...field<LoggedRequest>('path', 'Path', 'path and query, what may be a key hidden'), cut: 'end' },
    field('status', 'Status', 'HTTP status of the answer'),
    field('ms', 'ms', 'how long the answer took'),
    field('partner', 'Partner', 'whose key it was: a or b'),
    field('key', 'Key', 'last characters of the key that was sent'),
    field('ignored', 'Ignored', 'names of the query and fields of the body that changed nothing'),
  ],
  empty: 'No request was answered yet.',
};

/** A sandbox that was stopped. */
export const stopView: View<StoppedSandbox, StoppedSandbox> = {
  layout: 'record',
  rows: (stopped) => [stopped],
  columns: [
    field('url', 'Address', 'where it answered'),
    field('pid', 'Process', 'id of the process'),
    field('db', 'Database', 'file of the database, which stays'),
    field('stopped', 'Stopped', 'whether it has ended'),
  ],
};

/** What an import did. */
export const importView: View<ImportReport, ImportReport> = {
  layout: 'record',
  rows: (report) => [report],
  columns: [
    field('rows', 'Rows', 'rows of the file'),
    field('imported', 'Imported', 'trades that are new in the sandbox'),
    field('repeated', 'Repeated', 'rows that were there already'),
    field('rejected', 'Rejected', 'rows with an error'),
    field('skipped', 'Passed over', 'rows that tell the same trade as another row'),
    field('traders', 'Traders', 'wallets in the file'),
    field('tokens', 'Tokens', 'tokens in the file'),
    field('oldest', 'Oldest trade', "the oldest trade's time in the sandbox"),
    field('newest', 'Newest trade', "the newest trade's time in the sandbox"),
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
