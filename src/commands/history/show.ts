import type { Command } from '../command.ts';
import { option } from '../params.ts';
import { callParam } from './params.ts';

export function addShow(history: Command): void {
  history
    .command('show')
    .summary('Show a call: request, response, headers and bodies')
    .params({ call: callParam, har: option.flag('print an HTTP archive (HAR), which browsers can open') })
    .prints()
    .example('history show', 'the newest call')
    .example('history show 1 --har', 'as an HTTP archive')
    .run(async ({ call: typed = '1', har }, context) => {
      const { findCall } = await import('../../calls/calls.ts');
      const { io, options } = context;
      const call = await findCall(typed, context);
      if (har) {
        const { wrapInHar } = await import('../../calls/entry.ts');
        return { kind: 'answer', answer: wrapInHar([call], io.version) };
      }
      const { showCall, formatCall } = await import('./format-call.ts');
      const isText = options.jq === undefined && (options.format ?? 'table') === 'table';
      return isText ? { kind: 'text', text: formatCall(call) } : { kind: 'answer', answer: showCall(call) };
    });
}
