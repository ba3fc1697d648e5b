import { type Command, option } from '../cli/command.ts';

const outParam = option.checked(
  'also write it as one HTML file, for a ticket',
  (file) => /.\.html?$/i.test(file),
  'must end in .html: it is one HTML file',
);

/** The command with `--out`: what it shows is also written as one HTML file. */
export function withReport(command: Command): Command {
  return {
    ...command,
    params: { ...command.params, out: outParam },
    exitCodes: [...new Set([3, ...command.exitCodes])],
    run: async ({ out, ...input }: { out?: string }, context) =>
      out === undefined
        ? command.run(input as never, context)
        : (await import('./run-report.ts')).runReport({ command, input, out, context }),
  };
}
