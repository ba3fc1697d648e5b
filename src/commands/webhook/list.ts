import * as endpoints from '../../api/webhook.ts';
import { maskSecrets } from '../../client/mask-secrets.ts';
import type { Command } from '../command.ts';
import { describeEndpoint } from '../endpoint-command.ts';
import { option } from '../params.ts';
import { list as view } from './view.ts';

export function addList(webhook: Command): void {
  describeEndpoint(
    webhook,
    'list',
    endpoints.list,
    'Unfinished uploads of this machine are listed on stderr, with the command that resumes each.',
  )
    .params({ showSecrets: option.flag('show secrets instead of masking them') })
    .requests()
    .prints(view)
    .run(async ({ showSecrets }, context) => {
      if (context.options.preview) return { kind: 'request', request: await context.previewCall(endpoints.list, {}) };
      const { describeUnfinished, findUnfinished, removeGone } = await import('../../upload/jobs.ts');
      // Read before the list is: a webhook that another process registers meanwhile is not taken for deleted.
      const unfinished = await findUnfinished(context);
      const { data, text } = await context.call(endpoints.list, {});
      const left = Array.isArray(data) ? await removeGone(unfinished, data, context) : unfinished;
      const shown = { view, notes: describeUnfinished(left) };
      return showSecrets
        ? { kind: 'answer', answer: data, text, ...shown }
        : { kind: 'answer', answer: maskSecrets(data), ...shown };
    });
}
