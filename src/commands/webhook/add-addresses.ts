import * as endpoints from '../../api/webhook.ts';
import { uploaded } from '../../upload/view.ts';
import type { Command } from '../command.ts';
import { describeEndpoint } from '../endpoint-command.ts';
import { option } from '../params.ts';
import { addressParams, concurrency } from './address-params.ts';

export function addAddAddresses(webhook: Command): void {
  describeEndpoint(
    webhook,
    'add-addresses',
    endpoints.addAddresses,
    'Checks every line before anything is sent, then sends 1,000 addresses per request. After a failure or a crash, the same command resumes.',
  )
    .params({
      uid: endpoints.addAddresses.params.uid,
      ...addressParams,
      concurrency,
      again: option.flag('send a list again that is already confirmed'),
    })
    .requests()
    .changes()
    .prints(uploaded)
    .run(async (input, context) => {
      const { uploadAddresses } = await import('../../upload/upload-addresses.ts');
      return uploadAddresses({ ...input, task: 'add-addresses' }, context);
    });
}
