import { formatCount, formatTime } from '../../../output/format.ts';
import type { Column, Shown, View } from '../../../output/view.ts';

/** What `webhook sync --json` prints. */
export interface SyncResult {
  uid: string;
  /** Distinct addresses of the file. */
  wanted: number;
  /** Addresses that were confirmed before. */
  confirmed: number;
  missing: number;
  sent: number;
  /** Confirmed addresses that the file does not have. */
  notRemovable: number;
  /** The first of them. */
  notRemovableAddresses: string[];
  inSync: boolean;
  job: string | null;
  chunks: number;
  resentChunks: number;
}

function count<Row>(key: keyof Row & string, header: string, help: string): Column<Row> {
  const value = (row: Row) => row[key] as number;
  return { key, header, help, value, show: (row) => formatCount(value(row)), align: 'right' };
}

/** What a sync found and did. */
export const synced: View<SyncResult, SyncResult> = {
  layout: 'record',
  rows: (result) => [result],
  columns: [
    { key: 'uid', header: 'Webhook', help: 'uid', value: (result) => result.uid },
    count('wanted', 'In the file', 'distinct addresses of the file'),
    count('confirmed', 'Confirmed before', 'addresses that this machine knows the webhook to have'),
    count('missing', 'Missing', 'addresses of the file that were not confirmed'),
    count('sent', 'Sent', 'addresses sent and confirmed now'),
    count(
      'notRemovable',
      'Not removable',
      'confirmed addresses that the file does not have; the service cannot remove them',
    ),
    { key: 'inSync', header: 'In sync', help: 'whether file and webhook agree now', value: (result) => result.inSync },
  ],
};

/** One upload as `webhook jobs` lists it. */
export interface JobRow {
  job: string;
  task: string;
  uid: string | null;
  destinationUrl: string | null;
  baseUrl: string;
  addresses: number;
  chunks: number;
  /** Chunks. */
  confirmed: number;
  resentChunks: number;
  finished: boolean;
  /** Unix seconds. */
  startedAt: number;
}

/** An address, and without https:// where room is short. */
function withoutScheme(text: string): Shown {
  return { text, short: text.replace(/^https:\/\//, '') };
}

/** The uploads of this machine. */
export const jobs: View<JobRow[], JobRow> = {
  layout: 'table',
  rows: (answer) => answer,
  columns: [
    { key: 'job', header: 'Upload', help: 'its name, for webhook resume', value: (row) => row.job },
    { key: 'task', header: 'Task', help: 'register, add-addresses or sync', value: (row) => row.task, drop: 4 },
    {
      key: 'destinationUrl',
      header: 'Destination',
      help: 'where feed items are sent, once it is known',
      value: (row) => row.destinationUrl,
      show: (row) => withoutScheme(row.destinationUrl ?? ''),
      cut: 'middle',
      keep: 16,
    },
    {
      key: 'baseUrl',
      header: 'Service',
      help: 'the service it speaks to',
      value: (row) => row.baseUrl,
      show: (row) => withoutScheme(row.baseUrl),
      cut: 'middle',
      keep: 16,
    },
    { key: 'uid', header: 'Webhook', help: 'uid, once there is one', value: (row) => row.uid, drop: 5 },
    { ...count<JobRow>('addresses', 'Addresses', 'distinct addresses of the list'), drop: 2 },
    { ...count<JobRow>('chunks', 'Chunks', 'requests it takes'), drop: 3 },
    { ...count<JobRow>('confirmed', 'Confirmed', 'chunks that are confirmed'), drop: 1 },
    {
      key: 'finished',
      header: 'Finished',
      help: 'whether all is confirmed',
      value: (row) => row.finished,
      show: (row) => (row.finished ? 'yes' : { text: 'no', tone: 'strong' }),
    },
    {
      key: 'startedAt',
      header: 'Started',
      help: 'when it was started, Unix seconds',
      value: (row) => row.startedAt,
      show: (row) => ({ text: formatTime(row.startedAt), short: formatTime(row.startedAt).slice(0, 16) }),
    },
  ],
  empty: 'No uploads yet.',
};

/** What `webhook jobs remove --json` prints. */
export interface RemovedJob {
  job: string;
  uid: string | null;
  /** What this machine no longer knows or does, a sentence each. */
  lost: string[];
}

/** An upload that was removed. */
export const removedJob: View<RemovedJob, RemovedJob> = {
  layout: 'record',
  rows: (answer) => [answer],
  columns: [
    { key: 'job', header: 'Removed upload', help: 'its name', value: (row) => row.job },
    { key: 'uid', header: 'Webhook', help: 'uid, where it had one', value: (row) => row.uid },
    { key: 'lost', header: 'Lost', help: 'what went with it', value: (row) => row.lost.join('; ') || null },
  ],
};

/** Where a secret was written. */
export const secretWritten: View<{ uid: string; secretFile: string }, { uid: string; secretFile: string }> = {
  layout: 'record',
  rows: (answer) => [answer],
  columns: [
    { key: 'uid', header: 'Webhook', help: 'uid', value: (row) => row.uid },
    { key: 'secretFile', header: 'Secret', help: 'the file that was written', value: (row) => row.secretFile },
  ],
};
