import * as endpoints from '../../api/webhook.ts';
import { errorExitCodes } from '../../errors.ts';
import type { Command } from '../command.ts';
import { describeEndpoint } from '../endpoint-command.ts';
import { validated } from './view.ts';

export function addValidate(webhook: Command): void {
  describeEndpoint(webhook, 'validate', endpoints.validate)
    .params(endpoints.validate.params)
    .requests()
    .prints(validated)
    .run(async (input, context) => {
      if (context.options.preview)
        return { kind: 'request', request: await context.client.previewCall(endpoints.validate, input) };
      const { data, text } = await context.client.call(endpoints.validate, input);
      const exitCode = data?.success === false ? errorExitCodes.verification : 0;
      return { kind: 'answer', answer: data, text, view: validated, exitCode };
    });
}
