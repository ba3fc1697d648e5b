import { local } from '../../api/endpoint.ts';
import { httpAddressKind } from '../../api/formats.ts';
import * as endpoints from '../../api/webhook.ts';
import { uploaded } from '../../upload/view.ts';
import type { Command } from '../command.ts';
import { describeEndpoint } from '../endpoint-command.ts';
import { option } from '../params.ts';
import { addressParams, concurrency, showSecrets } from './address-params.ts';

export function addRegister(webhook: Command): void {
  describeEndpoint(
    webhook,
    'register',
    endpoints.register,
    'Checks every line before anything is sent, then sends 1,000 addresses per request. After a failure or a crash, the same command resumes ' +
      'and never registers a second webhook.\n' +
      'Run it on one machine at a time per URL.',
  )
    .params({
      url: local(httpAddressKind, 'destination of the feed items'),
      ...addressParams,
      secretFile: option.text('write the secret to this new file (mode 0600)'),
      showSecrets,
      concurrency,
      another: option.flag('register even if the URL already has a webhook'),
    })
    .requests()
    .changes()
    .prints(uploaded)
    .run(async ({ url, ...input }, context) => {
      const { uploadAddresses } = await import('../../upload/upload-addresses.ts');
      return uploadAddresses({ ...input, task: 'register', destinationUrl: url }, context);
    });
}
