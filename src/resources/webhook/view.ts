import { formatCount } from '../../output/format.ts';
import type { Column, View } from '../../output/view.ts';
import type { Validation, Webhook, WebhookList } from './endpoints.ts';
import type { UploadResult } from './upload/run-upload.ts';

const url: Column<{ destinationUrl?: string | null | undefined }> = {
  key: 'destinationUrl',
  header: 'Destination',
  help: 'where feed items are sent',
  value: (webhook) => webhook.destinationUrl,
  cut: 'middle',
};
const uid: Column<{ uid?: string | undefined }> = {
  key: 'uid',
  header: 'Webhook',
  help: 'uid: what later commands take',
  value: (webhook) => webhook.uid,
};

/** The webhooks of a key; secrets come masked unless they were asked for. */
export const list: View<WebhookList, Webhook> = {
  layout: 'table',
  rows: (webhooks) => webhooks,
  columns: [
    uid,
    url,
    {
      key: 'secret',
      header: 'Secret',
      help: 'what deliveries are signed with; masked unless --show-secrets',
      value: (webhook) => webhook.secret,
      drop: 1,
    },
  ],
  empty: 'No webhooks. sotra webhook register --url <address> --file <file> makes one.',
};

function count(key: keyof UploadResult & string, header: string, help: string): Column<UploadResult> {
  const value = (result: UploadResult) => result[key] as number;
  return { key, header, help, value, show: (result) => formatCount(value(result)) };
}

/** What an upload did. The secret is not shown to people: it is in a file. */
export const uploaded: View<UploadResult, UploadResult> = {
  layout: 'record',
  rows: (result) => [result],
  columns: [
    uid,
    url,
    { key: 'job', header: 'Upload', help: 'its name, for webhook resume', value: (result) => result.job },
    count('addresses', 'Addresses', 'distinct addresses, all confirmed'),
    count('chunks', 'Chunks', 'requests of up to 1,000 addresses'),
    count('duplicates', 'Repeated', 'addresses that stood in the input more than once'),
    count('rejected', 'Bad lines', 'lines that are no address and were skipped'),
    count(
      'resentChunks',
      'Sent twice',
      'chunks sent more than once, over all runs; harmless, since addresses are a set',
    ),
    {
      key: 'secretFile',
      header: 'Secret',
      help: 'the file with the secret; without --secret-file, how to get it',
      value: (result) => result.secretFile,
      show: (result) =>
        result.secretFile ?? (result.secret === undefined ? '–' : `kept; sotra webhook secret ${result.uid}`),
    },
  ],
  notes: ({ secret, uid: id }) =>
    secret === undefined
      ? []
      : [`The secret is kept on this machine: sotra webhook secret ${id} --out <file> writes it to a file.`],
};

/** Whether a destination checks signatures. */
export const validated: View<Validation, Validation> = {
  layout: 'record',
  rows: (answer) => [answer],
  columns: [
    {
      key: 'success',
      header: 'Checks signatures',
      help: 'refuses the unsigned probe and takes the signed one',
      value: (answer) => answer.success,
      show: ({ success }) => ({ text: success ? 'yes' : 'no', tone: success ? 'gain' : 'loss' }),
    },
    { key: 'error', header: 'Why not', help: 'which probe went wrong', value: (answer) => answer.error },
  ],
};

/** The webhook that was deleted; the service's answer says nothing. */
export const deleted: View<unknown, { uid: string }, { uid: string }> = {
  layout: 'record',
  rows: (_, input) => [input],
  columns: [uid, { key: 'state', header: 'State', help: 'deleted', value: () => 'deleted' }],
};
