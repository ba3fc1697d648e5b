import * as endpoints from '../../api/webhook.ts';
import { maskSecrets } from '../../client/secrets.ts';
import { readMessage } from '../../errors.ts';
import type { Command } from '../command.ts';
import { describeEndpoint } from '../endpoint-command.ts';
import { option } from '../params.ts';
import { list as view } from './view.ts';

export function addList(webhook: Command): void {
  describeEndpoint(
    webhook,
    'list',
    endpoints.list,
    'Lists unfinished uploads from this machine on stderr, with the command that resumes each.',
  )
    .params({ showSecrets: option.flag('show secrets instead of masking them') })
    .requests()
    .prints(view)
    .run(async ({ showSecrets }, context) => {
      if (context.options.preview)
        return { kind: 'request', request: await context.client.previewCall(endpoints.list, {}) };
      const { describeUnfinished, listUploads } = await import('../../upload/state.ts');
      const uploads = await listUploads(context).catch((thrown: unknown) => {
        context.warn(readMessage(thrown));
        return [];
      });
      const { data, text } = await context.client.call(endpoints.list, {});
      const isListed = (uid: string) => !Array.isArray(data) || data.some((webhook) => webhook.uid === uid);
      const shown = { view, notes: describeUnfinished(uploads, isListed) };
      return showSecrets
        ? { kind: 'answer', answer: data, text, ...shown }
        : { kind: 'answer', answer: maskSecrets(data), ...shown };
    });
}
