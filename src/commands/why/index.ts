import type { Command } from '../command.ts';
import { callParam } from '../history/index.ts';

export function setUp(why: Command): void {
  why
    .description(
      'Explains what failed or warned last, or a call of sotra history: where the answer does not match the interface, which parameters had no effect ' +
        'and which names were meant. It makes no requests.',
    )
    .params({ call: callParam })
    .prints()
    .example('why', 'the last failure')
    .example('why 1 --json', 'the newest call, as JSON')
    .run(async ({ call }, context) => (await import('../../calls/why.ts')).showWhy(call, context));
}
