import type { Command, HelpConfiguration, Option } from 'commander';
import type { Example } from '../api/endpoint.ts';
import { wrapWords } from '../lib/output/messages.ts';
import { programOptions, type SharedOption, sharedOption } from './options.ts';

const maxWidth = 100;

/** How commander lays out help, at the width of the terminal. */
export function createHelpConfiguration(width: number): HelpConfiguration {
  return {
    helpWidth: Math.min(width, maxWidth),
    minWidthToWrap: 20,
    commandUsage: (command: Command) => `${nameLine(command)} ${command.usage()}`,
    commandDescription: (command: Command) =>
      [command.parent === null || command.summary() === '' ? '' : `${command.summary()}.`, command.description()]
        .filter((text) => text !== '')
        .join('\n\n'),
    subcommandTerm: (command: Command) => command.name(),
  };
}

/** The words of a command, without the aliases that commander would show. */
export function nameLine(command: Command): string {
  return command.parent === null ? command.name() : `${nameLine(command.parent)} ${command.name()}`;
}

interface Details {
  examples: readonly Example[];
  /** The names that `--columns` takes. */
  columns: readonly string[];
  shared: readonly SharedOption[];
}

/** What follows commander's help of a command: the options that commands share, examples, columns. */
export function formatDetails({ examples, columns, shared }: Details, width: number): string {
  if (examples.length === 0) return '';
  const room = Math.min(width, maxWidth);
  const lines = [
    ...(shared.length === 0
      ? []
      : wrap(`Shared options (sotra help options): ${listFlags(shared.map(sharedOption))}`, room)),
    ...wrap(`Global options (sotra --help): ${listFlags(programOptions())}`, room),
    '',
    'Examples:',
    ...examples.flatMap(({ argv, says }) => [`  # ${says}`, `  sotra ${argv}`]),
    ...(columns.length === 0 ? [] : ['', ...wrap(`Columns: ${columns.join(', ')}`, room)]),
  ];
  return `\n${lines.join('\n')}`;
}

/** Further lines are indented. */
function wrap(line: string, width: number): string[] {
  return wrapWords(line, width - 2).map((each, index) => (index === 0 ? each : `  ${each}`));
}

function listFlags(options: readonly Option[]): string {
  return options.map(({ long }) => long).join(', ');
}
