import type { Command } from '../command.ts';
import { callParam } from './params.ts';

export function addRun(history: Command): void {
  history
    .command('run')
    .summary('Send a call again and compare the responses')
    .description(
      'It goes to the same service, with the key of its context or SOTRA_API_KEY. ' +
        'Anything but GET asks on a terminal; elsewhere it needs --yes.',
    )
    .params({ call: callParam })
    .requests()
    .prints()
    .example('history run', 'the newest call')
    .example('history run 1 --curl', 'print it as a curl line')
    .run(async ({ call = '1' }, context) => {
      const [{ findCall }, { sendAgain }] = await Promise.all([
        import('../../calls/calls.ts'),
        import('./send-again.ts'),
      ]);
      return sendAgain(await findCall(call, context), context);
    });
}
