import type { Validation, Webhook } from '../../api/answers.ts';
import { column, listView, pickColumns, recordView } from '../../lib/output/columns.ts';
import { formatAge, formatTime } from '../../lib/output/format.ts';
import type { View } from '../../lib/output/view.ts';
import { destination, uid } from '../../upload/view.ts';
import { describeEvent } from '../../webhooks/events.ts';
import { type Forward, type Retry, type StoredEvent, stripSecret } from '../../webhooks/inbox.ts';
import type { DeliveryVerdict } from '../../webhooks/verify.ts';

export const list = listView<Webhook>(
  [
    uid,
    destination,
    column.text('secret', 'Secret', 'secret that signs deliveries; masked unless --show-secrets', { drop: 1 }),
  ],
  { empty: 'No webhooks. Register one: sotra webhook register --url <url> --file <file>' },
);

export const validated = recordView<Validation>([
  column.check('success', 'Checks signatures', 'whether it rejects the unsigned request and accepts the signed one'),
  column.text('error', 'Error', 'which request failed'),
]);

/** The webhook that was deleted; the answer is empty. */
export const deleted: View<unknown, { uid: string }, { uid: string }> = {
  layout: 'record',
  rows: (_, input) => [input],
  columns: [uid, column.text('state', 'State', 'deleted', () => 'deleted')],
};

/** `signed 21y ago`. */
export function describeAge(ageSec: number): string {
  const age = formatAge(0, Math.abs(ageSec));
  return ageSec < 0 ? `signed ${age} from now` : `signed ${age} ago`;
}

export const verdict = recordView<DeliveryVerdict>([
  column.check('valid', 'Valid', 'signed with the secret, and within the tolerance'),
  column.text('reason', 'Reason', 'why it is not valid'),
  column.time('timestamp', 'Signed at', 'time in the header, Unix seconds'),
  column.text('ageSec', 'Age', 'how long ago it was signed, in seconds', ({ ageSec }) => ageSec, {
    show: ({ ageSec }) => (typeof ageSec === 'number' ? describeAge(ageSec) : '–'),
  }),
  column.text('eventIds', 'Events', 'ids of the events in the body', (row) => row.eventIds.join(' ')),
  column.text('expected', 'Expected', 'with --explain: the header that each secret gives', ({ expected }) =>
    expected?.join(' '),
  ),
]);

/** What `webhook trigger --json` prints, one for each destination. */
export interface SentEvent {
  eventId: string;
  eventType: string;
  /** The webhook of the sandbox; `null` if it was sent to a URL. */
  uid: string | null;
  destinationUrl: string;
  delivered: boolean;
  status: number | null;
  error: string | null;
}

export const triggered = listView<SentEvent>([
  column.text('eventId', 'Event id', 'id of the event', { drop: 1 }),
  column.text('destinationUrl', 'Destination', 'where it was sent', { cut: true }),
  column.check('delivered', 'Accepted', 'whether the answer was 2xx'),
  column.text('status', 'Status', 'HTTP status of the answer'),
  column.text('error', 'Error', 'what went wrong', { cut: true }),
]);

/** What `webhook exam --json` prints, one for each case. */
export interface ExamRow {
  case: string;
  sent: string;
  /** `null` if there was no answer, and for `--dry-run`. */
  status: number | null;
  ms: number | null;
  error: string | null;
  expected: string;
  verdict: 'pass' | 'warn' | 'fail' | null;
}

export const examined = listView<ExamRow>([
  column.text('case', 'Case', 'name of the case', { tone: 'strong' }),
  column.text('sent', 'Sent', 'what was sent', { cut: true, drop: 1 }),
  column.text('answer', 'Answer', 'status and time of the answer, or why there was none', describeAnswer, {
    cut: true,
  }),
  column.text('expected', 'Expected', 'what the endpoint should answer', { cut: true }),
  column.text('verdict', 'Verdict', 'pass, fail, or warn if another answer is recommended', { show: showVerdict }),
  column.count('status', 'Status', 'HTTP status of the answer', { extra: true }),
]);

export function describeAnswer({ status, ms, error, verdict }: ExamRow): string | null {
  if (verdict === null) return null;
  return error ?? `${status} in ${ms} ms`;
}

function showVerdict({ verdict }: ExamRow) {
  return verdict === null
    ? undefined
    : ({ text: verdict, tone: verdict === 'pass' ? 'gain' : verdict === 'fail' ? 'loss' : 'strong' } as const);
}

export type EventRow = ReturnType<typeof makeEventRow>;

/** On a narrow terminal its start, which the commands accept. */
const showId = ({ eventId }: { eventId: string }) => ({
  text: eventId,
  short: eventId.replace(/^(.{8}).{2,}$/, '$1…'),
});

/** Stored events, newest first. */
export const events = listView<EventRow>(
  [
    column.time('receivedAt', 'Received', 'when it arrived, Unix seconds'),
    column.text('eventType', 'Event', 'kind of the event'),
    column.text('about', 'What happened', 'what happened: trader, action, token', { cut: true }),
    column.text('eventId', 'Event id', 'id; webhook show and replay also accept its start', { show: showId }),
    column.text('status', 'Status', 'forwarded, waiting or failed', { drop: 1 }),
    column.text('path', 'Path', 'path it was sent to', { extra: true }),
    column.text('webhook', 'Webhook', 'path#digits; the digits identify the secret', { extra: true }),
  ],
  {
    empty: 'No matching events. sotra webhook listen receives and stores them.',
  },
);

export type ReplayRow = Pick<SentEvent, 'eventId' | 'eventType' | 'status' | 'error'> & { taken: boolean };

/** Events that were sent once more, oldest first. */
export const replayed = listView<ReplayRow>(
  [
    column.text('eventId', 'Event id', 'the event', { show: showId }),
    column.text('eventType', 'Event', 'its kind', { drop: 1 }),
    column.check('taken', 'Accepted', 'whether the answer was 2xx'),
    column.text('status', 'Status', 'HTTP status of the answer'),
    column.text('error', 'Error', 'what went wrong', { cut: true }),
  ],
  { empty: 'No deliveries to send.' },
);

/** What `webhook show --json` prints. */
export interface ShownEvent extends Omit<EventRow, 'event'> {
  /** Only deliveries with a valid signature are stored; `valid` and `reason` come from the secrets of --secret-file. */
  verification: { signedAt: number | null; secret: string } & Partial<Pick<DeliveryVerdict, 'valid' | 'reason'>>;
  headers: readonly { name: string; value: string }[];
  /** As it came, as text. */
  body: string;
  event: Record<string, unknown>;
  forwards: readonly Forward[];
  /** Of its webhook, while the event waits. */
  retries: readonly Retry[];
}

export const shown = recordView<ShownEvent>(
  [
    ...pickColumns(events.columns, (event: ShownEvent) => event, {
      eventId: { help: 'what webhook replay takes' },
      eventType: {},
      receivedAt: {},
      about: {},
      webhook: { extra: false },
      status: {},
    }),
    column.text('verification', 'Signature', 'whether the signature is valid', ({ verification }) => {
      const { valid, reason, secret, signedAt } = verification;
      const when = signedAt === null ? '' : `, signed at ${formatTime(signedAt)}`;
      return valid === undefined
        ? `valid when received, with the secret ${secret}${when}`
        : valid
          ? `valid${when}`
          : `not valid: ${reason}`;
    }),
  ],
  {
    blocks: ({ forwards, retries, headers, body }) => [
      { title: 'Forwarded', layout: 'table', columns: forwardColumns as never, rows: forwards },
      { title: 'Retries', layout: 'table', columns: retryColumns as never, rows: retries },
      { title: 'Headers', layout: 'record', columns: headerColumns(headers) as never, rows: [headers] },
      {
        layout: 'record',
        columns: [column.text<unknown>('body', 'Body', 'as it came', () => body)] as never,
        rows: [{}],
      },
    ],
  },
);

const forwardColumns = [
  column.text<Forward>('url', 'Target', 'where it was sent to'),
  column.text<Forward>('outcome', 'Outcome', 'forwarded or failed'),
  column.text<Forward>('status', 'Status', 'HTTP status of the last answer'),
  column.count<Forward>('ms', 'ms', 'how long the last answer took'),
  column.count<Forward>('tries', 'Tries', 'how often it was sent'),
];

const retryColumns = [
  column.text<Retry>('url', 'Target', 'target that does not accept it'),
  column.text<Retry>('error', 'Last error', 'of the delivery that holds up its webhook'),
  column.count<Retry>('tries', 'Tries', 'how often that delivery was sent'),
  column.text<Retry>('nextMs', 'Next try', 'when it is sent again', ({ nextMs }) =>
    formatTime(Math.floor(nextMs / 1000)),
  ),
];
type Headers = ShownEvent['headers'];

/** A line for each header, since a table would cut long values. */
const headerColumns = (headers: Headers) =>
  headers.map(({ name, value }) => column.text<Headers>(name, name, 'its value', () => value));

/** As `webhook events` prints it. */
export function makeEventRow({ eventId, eventType, event, delivery, status }: StoredEvent) {
  const about = describeEvent({ eventId, eventType, event });
  const { webhook, atMs } = delivery;
  const receivedAt = Math.floor(atMs / 1000);
  return { eventId, eventType, receivedAt, webhook, path: stripSecret(webhook), about, status, event };
}
