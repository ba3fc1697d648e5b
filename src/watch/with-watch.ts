import { type Command, intervalParam } from '../cli/command.ts';
import type { RowKey } from './changes.ts';

/** The command with `--watch`: its table drawn again in place with what changed marked, or elsewhere what changed, one object a line. */
export function withWatch(command: Command, key: RowKey): Command {
  return {
    ...command,
    params: {
      ...command.params,
      watch: intervalParam('run it again this often, marking what changed; in a pipe print changes', '10s'),
    },
    run: async (input: { watch?: string }, context) =>
      input.watch === undefined
        ? command.run(input as never, context)
        : (await import('./watch.ts')).watchCommand({ command, key, input, context }),
  };
}
