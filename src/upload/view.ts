import { hideUrlSecrets } from '../client/secrets.ts';
import { column, recordView } from '../lib/output/columns.ts';
import { counted, formatCount } from '../lib/output/format.ts';
import type { Column } from '../lib/output/view.ts';

export const uid: Column<{ uid?: string | undefined }> = column.text('uid', 'Webhook', 'uid, for later commands');
export const destination: Column<{ destinationUrl?: string | null | undefined }> = column.text(
  'destinationUrl',
  'Destination',
  'URL that feed items are sent to, without secrets',
  { cut: true, show: (row) => hideUrlSecrets(row.destinationUrl ?? '') },
);

/** What an upload prints; section "Results of the commands that are more than one call" of the command-line names. */
export interface UploadResult {
  uid: string;
  destinationUrl: string | null;
  addresses: number;
  chunks: number;
  duplicates: number;
  rejected: number;
  secret?: string;
  secretFile?: string;
}

/** What an upload did. The secret is in a file, and shown only with --show-secrets. */
export const uploaded = recordView<UploadResult>(
  [
    uid,
    destination,
    column.count('addresses', 'Addresses', 'distinct addresses, all of them confirmed'),
    column.count('chunks', 'Chunks', 'requests of up to 1,000 addresses'),
    column.count('duplicates', 'Duplicates', 'addresses given more than once'),
    column.count('rejected', 'Bad lines', 'lines that are not addresses, skipped'),
    column.text('secretFile', 'Secret file', 'the file with the secret'),
  ],
  { notes: secretNotes },
);

function secretNotes({ secret }: { secret?: string | undefined }): string[] {
  return secret === undefined ? [] : [`The secret is ${secret}`];
}

/** What a sync found and did, or with `checked` would do. */
export interface SyncResult {
  uid: string | null;
  wanted: number;
  confirmed: number;
  missing: number;
  sent: number;
  /** Lines that are not addresses, skipped. */
  rejected: number;
  /** Confirmed addresses that the file does not have. */
  notRemovable: number;
  destinationUrl: string | null;
  registered: boolean;
  /** The webhook that this one replaces. */
  replaced: string | null;
  /** How long the destination had no webhook, if the old one was deleted first. */
  gapMs: number | null;
  checked: boolean;
  secret?: string;
  secretFile?: string;
}

export const synced = recordView<SyncResult>(
  [
    column.text('uid', 'Webhook', 'uid'),
    column.count('wanted', 'Listed', 'distinct addresses of the list'),
    column.count('missing', 'Missing', 'addresses of the list that were not confirmed before'),
    column.count('sent', 'Sent', 'addresses sent and confirmed now'),
    column.count('notRemovable', 'Not removable', 'confirmed addresses that are not in the list any more'),
  ],
  { notes: (result) => [describeSync(result), ...secretNotes(result)] },
);

/** What a sync did, or with `--check` would do, then the addresses that it could not remove. */
function describeSync(result: SyncResult): string {
  const { notRemovable, replaced, rejected, gapMs } = result;
  const bad = rejected === 0 ? '' : ` Skipped ${counted(rejected, 'bad line')}.`;
  const gap =
    gapMs === null ? '' : ` The old one was deleted first: for ${(gapMs / 1000).toFixed(1)} s there was no webhook.`;
  const [are, them] = notRemovable === 1 ? ['is', 'it'] : ['are', 'them'];
  const stays =
    notRemovable === 0 || replaced !== null
      ? ''
      : ` ${counted(notRemovable, 'address')} of this webhook ${are} not in the list; the service cannot remove ${them}: see --replace.`;
  return `${describeChange(result)}${bad}${gap}${stays}`;
}

/** `webhook 12ab has all 3 addresses`. */
export function describeComplete(uid: string | null, count: number): string {
  return `webhook ${uid} has ${count === 1 ? 'this address' : `all ${counted(count, 'address')}`}`;
}

function describeChange({ uid, wanted, missing, sent, registered, replaced, checked }: SyncResult): string {
  const all = counted(wanted, 'address');
  if (checked) {
    if (replaced !== null) return `Would replace webhook ${replaced} by one with ${all}.`;
    if (uid === null) return `Would register a webhook with ${all}.`;
    if (missing > 0) return `Would send ${formatCount(missing)} of ${all} to webhook ${uid}.`;
    return `Nothing would be sent: ${describeComplete(uid, wanted)}.`;
  }
  if (replaced !== null) return `Replaced webhook ${replaced} by ${uid} with ${all}.`;
  if (registered) return `Registered webhook ${uid} with ${all}.`;
  if (sent > 0) return `Sent ${formatCount(sent)} of ${all} to webhook ${uid}, which has all of them now.`;
  return `Nothing was sent: ${describeComplete(uid, wanted)}.`;
}
