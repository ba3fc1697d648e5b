import type { Command } from '../command.ts';
import { listenParams } from './params.ts';

export function addListen(webhook: Command): void {
  webhook
    .command('listen')
    .summary('Receive deliveries: verify, store, print and forward their events')
    .description(
      'Answers 2xx once an event is stored on disk, 401 if the signature does not match, 503 if it cannot be stored. An event that comes again ' +
        'is stored and printed once. --keep never deletes events that wait to be forwarded.\n' +
        'Forwards the original bytes and headers, in order per webhook, and retries for a day, also after a restart. A delivery that ' +
        'is not accepted by then, or is answered 3xx or 4xx ten times, is set aside (webhook events --status failed) and the next one is sent. ' +
        'Results are printed on stderr.\n' +
        'A NATS stream that does not exist is created; an existing one is not changed.',
    )
    .params(listenParams)
    .example(
      'webhook listen --port 4242 --secret-file hook.secret --forward-to http://127.0.0.1:3000/hook',
      'verify, and forward to your own server',
    )
    .shares('retries')
    .run(async (input, context) => (await import('./run-listen.ts')).listenForEvents(input, context));
}
