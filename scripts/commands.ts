import type { Option } from 'commander';
import { flagName } from '../src/api/endpoint.ts';
import type { Command } from '../src/commands/command.ts';
import { identifies, labelOf } from '../src/commands/params.ts';

/** What is written about a command: in completions, docs and tests. */
export type CommandFacts = ReturnType<typeof describeCommand>;

/** The commands of a program that do something, in the order of help. */
export function describeCommands(command: Command): CommandFacts[] {
  return command.commands.length === 0 ? [describeCommand(command)] : command.commands.flatMap(describeCommands);
}

function describeCommand(command: Command) {
  const { words, parameters, examples, endpoint, view, sharedOptions } = command;
  const shared: Option[] = command.options.filter(({ long }) => sharedFlags(sharedOptions).includes(long ?? ''));
  const fields = Object.entries(parameters).map(([key, param]) => ({
    ...param,
    key,
    label: labelOf(key, param),
    flag: flagName(key, param),
    identifier: identifies(param),
  }));
  const sendsRequests = sharedOptions.includes('strict');
  const columns = view?.columns ?? [];
  return { words, summary: command.summary(), examples, endpoint, columns, shared, sendsRequests, fields };
}

function sharedFlags(names: readonly string[]): string[] {
  return names.map((name) => `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`);
}
