import { command } from '../../model/shell.ts';
import { column, listView, recordView } from '../../output/columns.ts';
import { formatAge, formatTime } from '../../output/format.ts';
import type { CellText, Column, View } from '../../output/view.ts';
import type { Validation, Webhook } from './endpoints.ts';

const uid: Column<{ uid?: string | undefined }> = column.text('uid', 'Webhook', 'uid: what later commands take');
const destination: Column<{ destinationUrl?: string | null | undefined }> = column.text(
  'destinationUrl',
  'Destination',
  'where feed items are sent',
  { cut: 'middle' },
);

export const list = listView<Webhook>(
  [
    uid,
    destination,
    column.text('secret', 'Secret', 'what deliveries are signed with; masked unless --show-secrets', { drop: 1 }),
  ],
  { empty: 'No webhooks. sotra webhook register --url <address> --file <file> makes one.' },
);

export const validated = recordView<Validation>([
  column.check('success', 'Checks signatures', 'rejects the unsigned probe and accepts the signed one'),
  column.text('error', 'Why not', 'which probe went wrong'),
]);

/** The webhook that was deleted; the service's answer says nothing. */
export const deleted: View<unknown, { uid: string }, { uid: string }> = {
  layout: 'record',
  rows: (_, input) => [input],
  columns: [uid, column.text('state', 'State', 'deleted', () => 'deleted')],
};

/** What an upload prints; section "Results of the commands that are more than one call" of the command-line names. */
export interface UploadResult {
  uid: string;
  destinationUrl: string | null;
  job: string;
  addresses: number;
  chunks: number;
  duplicates: number;
  rejected: number;
  resentChunks: number;
  secret?: string;
  secretFile?: string;
}

/** What an upload did. The secret is not shown to people: it is in a file. */
export const uploaded = recordView<UploadResult>(
  [
    uid,
    destination,
    column.text('job', 'Upload', 'its name, for webhook resume'),
    column.count('addresses', 'Addresses', 'distinct addresses, all confirmed'),
    column.count('chunks', 'Chunks', 'requests of up to 1,000 addresses'),
    column.count('duplicates', 'Repeated', 'addresses that were in the input more than once'),
    column.count('rejected', 'Bad lines', 'lines that are not addresses and were skipped'),
    column.count(
      'resentChunks',
      'Sent twice',
      'chunks sent more than once, over all runs; harmless, since addresses are a set',
    ),
    column.text('secretFile', 'Secret', 'the file with the secret; without --secret-file, how to get it', {
      show: (result) =>
        result.secretFile ?? (result.secret === undefined ? '–' : command`kept; sotra webhook secret ${result.uid}`),
    }),
  ],
  {
    notes: ({ secret, uid: id }) =>
      secret === undefined
        ? []
        : [command`The secret is stored on this machine: sotra webhook secret ${id} --out <file> writes it to a file.`],
  },
);

export interface SyncResult {
  uid: string;
  wanted: number;
  confirmed: number;
  missing: number;
  sent: number;
  /** Confirmed addresses that the file does not have. */
  notRemovable: number;
  notRemovableAddresses: string[];
  inSync: boolean;
  job: string | null;
  chunks: number;
  resentChunks: number;
}

export const synced = recordView<SyncResult>([
  column.text('uid', 'Webhook', 'uid'),
  column.count('wanted', 'In the file', 'distinct addresses of the file'),
  column.count('confirmed', 'Confirmed before', 'addresses that this machine knows the webhook to have'),
  column.count('missing', 'Missing', 'addresses of the file that were not confirmed'),
  column.count('sent', 'Sent', 'addresses sent and confirmed now'),
  column.count(
    'notRemovable',
    'Not removable',
    'confirmed addresses that the file does not have; the service cannot remove them',
  ),
  column.text('inSync', 'In sync', 'whether file and webhook agree now'),
]);

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

function withoutScheme(address: string | null): CellText {
  return { text: address ?? '', short: (address ?? '').replace(/^https:\/\//, '') };
}

export const jobs = listView<JobRow>(
  [
    column.text('job', 'Upload', 'its name, for webhook resume'),
    column.text('task', 'Task', 'register, add-addresses or sync', { drop: 4 }),
    column.text('destinationUrl', 'Destination', 'where feed items are sent, once it is known', {
      show: (row) => withoutScheme(row.destinationUrl),
      cut: 'middle',
      keep: 16,
    }),
    column.text('baseUrl', 'Service', 'the service it speaks to', {
      show: (row) => withoutScheme(row.baseUrl),
      cut: 'middle',
      keep: 16,
    }),
    column.text('uid', 'Webhook', 'uid, once there is one', { drop: 5 }),
    column.count('addresses', 'Addresses', 'distinct addresses of the list', { drop: 2 }),
    column.count('chunks', 'Chunks', 'requests it takes', { drop: 3 }),
    column.count('confirmed', 'Confirmed', 'chunks that are confirmed', { drop: 1 }),
    column.text('finished', 'Finished', 'whether all is confirmed', {
      show: (row) => (row.finished ? 'yes' : { text: 'no', tone: 'strong' }),
    }),
    column.text('startedAt', 'Started', 'when it was started, Unix seconds', {
      show: ({ startedAt }) => ({ text: formatTime(startedAt), short: formatTime(startedAt).slice(0, 16) }),
    }),
  ],
  { empty: 'No uploads yet.' },
);

export interface RemovedJob {
  job: string;
  uid: string | null;
  /** What this machine no longer knows, a sentence each. */
  lost: string[];
}

export const removedJob = recordView<RemovedJob>([
  column.text('job', 'Removed upload', 'its name'),
  column.text('uid', 'Webhook', 'uid, where it had one'),
  column.text('lost', 'Lost', 'what went with it', (row) => row.lost.join('; ') || null),
]);

export const secretWritten = recordView<{ uid: string; secretFile: string }>([
  column.text('uid', 'Webhook', 'uid'),
  column.text('secretFile', 'Secret', 'the file that was written'),
]);

/** What `webhook verify --json` prints. */
export interface Verdict {
  valid: boolean;
  reason?: string;
  eventIds: string[];
  /** Unix seconds of the header; `null` where it has none. */
  timestamp: number | null;
  /** Seconds since then; below zero where it is yet to come. */
  ageSec?: number | null;
}

/** `signed 21y ago`. */
export function describeAge(ageSec: number): string {
  const age = formatAge(0, Math.abs(ageSec));
  return ageSec < 0 ? `signed ${age} from now` : `signed ${age} ago`;
}

export const verdict = recordView<Verdict>([
  column.check('valid', 'Valid', 'signed by the secret, and within the tolerance'),
  column.text('reason', 'Why not', 'the most exact reason there is'),
  column.time('timestamp', 'Signed at', 'time in the header, Unix seconds'),
  column.text('ageSec', 'Age', 'how long ago that was, in seconds', ({ ageSec }) => ageSec, {
    show: ({ ageSec }) => (typeof ageSec === 'number' ? describeAge(ageSec) : '–'),
  }),
  column.text('eventIds', 'Events', 'ids of the events in the body', (row) => row.eventIds.join(' ')),
]);
