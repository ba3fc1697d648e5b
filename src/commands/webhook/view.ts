import type { Validation, Webhook } from '../../api/webhook-answers.ts';
import { column, listView, recordView } from '../../lib/output/columns.ts';
import { formatAge } from '../../lib/output/format.ts';
import type { View } from '../../lib/output/view.ts';
import { destination, uid } from '../../upload/view.ts';
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
