import type { WebhookList } from '../api/webhook-answers.ts';
import { hideUrlSecrets } from '../client/secrets.ts';
import { serviceFlags, shellLine, writeFlags } from '../client/shell.ts';
import type { Context } from '../context.ts';
import type { AddressInput, AddressList } from './read-addresses.ts';
import type { UploadDisplay } from './show-upload.ts';
import type { Destination, Upload } from './state.ts';

export interface UploadInput extends AddressInput, Destination {
  task: 'register' | 'add-addresses' | 'sync';
  secretFile?: string | undefined;
  showSecrets?: boolean | undefined;
  concurrency?: number | undefined;
  another?: boolean | undefined;
  again?: boolean | undefined;
  check?: boolean | undefined;
  exact?: boolean | undefined;
  replace?: boolean | undefined;
}

/** A command line, its list, and what this machine knows of the destination. */
export interface UploadRun {
  input: UploadInput;
  list: AddressList;
  upload: Upload;
  /** The webhooks of the destination, if the service was asked for them. */
  listed: WebhookList;
  /** How many addresses this run has sent and the webhook has confirmed. */
  sent: number;
  show: UploadDisplay;
  context: Context;
}

export const continuing = 'The same command continues; sotra webhook list shows it.';

/** The command line that continues an upload; typed addresses are left to the reader. */
export function formatLine(input: UploadInput, { options }: Context): string {
  const { task, uid, destinationUrl, walletAddresses } = input;
  const flags = writeFlags({
    '--url': destinationUrl && hideUrlSecrets(destinationUrl),
    '--file': input.file,
    '--column': input.column,
    '--secret-file': input.secretFile,
    '--allow-bad-checksum': input.allowBadChecksum,
    '--skip-invalid': input.skipInvalid,
    '--another': input.another,
  });
  const words = ['sotra', ...serviceFlags(options), 'webhook', task, ...(uid ? [uid] : []), ...flags];
  return shellLine(words) + (walletAddresses === undefined ? '' : ' --wallet-addresses <the same>');
}
