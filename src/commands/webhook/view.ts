import type { Validation, Webhook } from '../../api/webhook-answers.ts';
import type { DeliveryVerdict } from '../../inbox/verify.ts';
import { column, listView, recordView } from '../../output/columns.ts';
import { formatAge } from '../../output/format.ts';
import type { View } from '../../output/view.ts';
import { destination, uid } from '../../upload/view.ts';

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

/** `signed 21y ago`. */
export function describeAge(ageSec: number): string {
  const age = formatAge(0, Math.abs(ageSec));
  return ageSec < 0 ? `signed ${age} from now` : `signed ${age} ago`;
}

export const verdict = recordView<DeliveryVerdict>([
  column.check('valid', 'Valid', 'signed by the secret, and within the tolerance'),
  column.text('reason', 'Why not', 'the most exact reason there is'),
  column.time('timestamp', 'Signed at', 'time in the header, Unix seconds'),
  column.text('ageSec', 'Age', 'how long ago that was, in seconds', ({ ageSec }) => ageSec, {
    show: ({ ageSec }) => (typeof ageSec === 'number' ? describeAge(ageSec) : '–'),
  }),
  column.text('eventIds', 'Events', 'ids of the events in the body', (row) => row.eventIds.join(' ')),
  column.text('expected', 'Right signature', 'with --explain: the header that each secret makes', ({ expected }) =>
    expected?.join(' '),
  ),
]);
