import { local } from '../../api/endpoint.ts';
import { httpAddressKind } from '../../api/formats.ts';
import { optional } from '../../api/kind.ts';
import { addAddresses } from '../../api/webhook.ts';
import { synced } from '../../upload/view.ts';
import type { Command } from '../command.ts';
import { option } from '../params.ts';
import { addressParams, concurrency, showSecrets } from './address-params.ts';

const { uid } = addAddresses.params;

export function addSync(webhook: Command): void {
  webhook
    .command('sync')
    .summary('Keep the addresses of a webhook in sync with a file')
    .description(
      'Registers a webhook if the URL has none, then sends the addresses that this machine has not sent yet: keep its data directory between ' +
        'runs. The same command resumes an interrupted run.\n' +
        'The service cannot remove addresses: those that left the file are listed in a file of their own. --replace registers a new webhook ' +
        'without them and deletes the old one. If the service allows one webhook per URL, it deletes the old one first and reports the gap.',
    )
    .params({
      uid: { ...uid, kind: optional(uid.kind) },
      url: local(optional(httpAddressKind), 'destination of the webhook, instead of its uid'),
      ...addressParams,
      secretFile: option.text('add the secret to this file (mode 0600)'),
      showSecrets,
      concurrency,
      check: option.flag('send nothing; exit 10 if addresses are missing, 2 for bad lines'),
      exact: option.flag('with --check: exit 10 also if addresses left the file'),
      replace: option.flag('replace the webhook if addresses left the file (asks, or --yes)'),
    })
    .example(
      'webhook sync --url http://127.0.0.1:4242/hook --file users.csv --secret-file hook.secret',
      'register, or send what is new',
    )
    .example('webhook sync --url http://127.0.0.1:4242/hook --file users.csv --check --json', 'what would be sent')
    .requests()
    .changes()
    .prints(synced)
    .run(async ({ url, ...input }, context) => {
      const { uploadAddresses } = await import('../../upload/upload-addresses.ts');
      return uploadAddresses({ ...input, task: 'sync', destinationUrl: url }, context);
    });
}
