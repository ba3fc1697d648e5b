import { formatTime } from '../../../output/format.ts';
import type { View } from '../../../output/view.ts';
import type { Verdict } from './verify.ts';

/** One stored event. */
export interface EventRow {
  eventId: string;
  eventType: string;
  /** Unix seconds. */
  receivedAt: number;
  path: string;
  about: string;
  event: Record<string, unknown>;
}

/** Stored events, newest first. */
export const events: View<EventRow[], EventRow> = {
  layout: 'table',
  rows: (answer) => answer,
  columns: [
    {
      key: 'receivedAt',
      header: 'Received',
      help: 'when it arrived, Unix seconds',
      value: (row) => row.receivedAt,
      show: (row) => formatTime(row.receivedAt),
    },
    { key: 'eventType', header: 'Event', help: 'kind of the event', value: (row) => row.eventType },
    {
      key: 'about',
      header: 'What happened',
      help: 'who did what with which token',
      value: (row) => row.about,
      cut: 'end',
    },
    {
      key: 'eventId',
      header: 'Event id',
      help: 'what webhook replay takes, whole or its start',
      value: (row) => row.eventId,
      cut: 'end',
    },
    { key: 'path', header: 'Path', help: 'path it was sent to', value: (row) => row.path, extra: true },
  ],
  empty: 'No events are stored. sotra webhook listen receives and stores them.',
};

/** What became of an event that was sent once more. */
export interface ReplayRow {
  eventId: string;
  eventType: string;
  taken: boolean;
  status: number | null;
  error: string | null;
}

/** Events that were sent once more, oldest first. */
export const replayed: View<ReplayRow[], ReplayRow> = {
  layout: 'table',
  rows: (answer) => answer,
  columns: [
    { key: 'eventId', header: 'Event id', help: 'the event', value: (row) => row.eventId },
    { key: 'eventType', header: 'Event', help: 'its kind', value: (row) => row.eventType, drop: 1 },
    {
      key: 'taken',
      header: 'Taken',
      help: 'whether the answer was 2xx',
      value: (row) => row.taken,
      show: (row) => (row.taken ? { text: 'yes', tone: 'gain' } : { text: 'no', tone: 'loss' }),
    },
    { key: 'status', header: 'Status', help: 'HTTP status of the answer', value: (row) => row.status },
    { key: 'error', header: 'Why not', help: 'what went wrong', value: (row) => row.error, cut: 'end' },
  ],
  empty: 'No stored event is that recent.',
};

/** Whether a delivery is what the service sent. */
export const verdict: View<Verdict, Verdict> = {
  layout: 'record',
  rows: (answer) => [answer],
  columns: [
    {
      key: 'valid',
      header: 'Valid',
      help: 'signed by the secret, and within the tolerance',
      value: (row) => row.valid,
      show: ({ valid }) => ({ text: valid ? 'yes' : 'no', tone: valid ? 'gain' : 'loss' }),
    },
    { key: 'reason', header: 'Why not', help: 'the most exact reason that can be told', value: (row) => row.reason },
    {
      key: 'timestamp',
      header: 'Signed at',
      help: 'time in the header, Unix seconds',
      value: (row) => row.timestamp,
      show: (row) => formatTime(row.timestamp),
    },
    {
      key: 'eventIds',
      header: 'Events',
      help: 'ids of the events in the body',
      value: (row) => row.eventIds.join(' '),
    },
  ],
};
