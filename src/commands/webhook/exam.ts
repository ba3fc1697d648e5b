import type { Command } from '../command.ts';
import { examParams } from './params.ts';
import { examined } from './view.ts';

export function addExam(webhook: Command): void {
  webhook
    .command('exam')
    .summary('Check that an endpoint accepts valid deliveries and rejects forged ones')
    .description(
      'Sends ten deliveries: valid, repeated, out of order, wrong signature, unsigned, an hour old, unknown type, empty, 5 MB, slow. A case fails ' +
        'if the endpoint accepts a forged delivery, rejects a valid one, or does not answer within --timeout (default: 10s). An unmet ' +
        'recommendation is only a warning. Each event names the wallet 0x0000000000000000000000000000000000000001 only.\n' +
        'Asks before it sends to another machine. Exit 12 if a case fails, 9 if nothing listens.',
    )
    .params(examParams)
    .example('webhook exam http://127.0.0.1:4242/hook --secret-file hook.secret', 'ten cases, one per line')
    .example(
      'webhook exam http://127.0.0.1:4242/hook --secret-file hook.secret --junit exam.xml',
      'for CI: with a report',
    )
    .shares('timeout')
    .changes()
    .prints(examined)
    .run(async (input, context) => (await import('./run-exam.ts')).examineEndpoint(input, context));
}
