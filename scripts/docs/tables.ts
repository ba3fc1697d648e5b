import type { Command } from '../../src/commands/command.ts';
import { errorTexts } from '../../src/commands/help/index.ts';
import { type ErrorCode, exitMeanings, findErrorCodes } from '../../src/errors.ts';
import { describeCommands } from '../commands.ts';

/** Markdown: each command with its endpoint, then the columns of each command that prints rows. */
export function commandTables(program: Command): string {
  const facts = describeCommands(program);
  const commands = facts.map(({ words, endpoint, summary }) => [
    words.join(' '),
    endpoint === undefined ? '–' : `${endpoint.method} ${endpoint.path}`,
    escapeMarkdown(summary),
  ]);
  const columns = facts
    .filter((command) => command.columns.length > 0)
    .flatMap((command) => [
      `### ${command.words.join(' ')}`,
      table(
        ['Column', 'Meaning'],
        command.columns.map(({ key, help, extra }) => [
          key,
          escapeMarkdown(extra ? `${help} (only when named in --columns)` : help),
        ]),
      ),
    ]);
  return `${[table(['Command', 'Endpoint', 'What it does'], commands), '## Columns', ...columns].join('\n\n')}\n`;
}

/** Markdown: each exit code with its errors, then each error with its meaning and what helps. */
export function errorTables(): string {
  const codes = Object.keys(errorTexts) as ErrorCode[];
  const exits = Object.entries(exitMeanings).map(([exit, means]): readonly string[] => {
    const own = findErrorCodes(Number(exit));
    return [exit, means, own.map((code) => `[${code}](#${code})`).join(', ') || '–'];
  });
  const errors = codes.flatMap((code) => {
    const [means, fix] = errorTexts[code];
    const sentence = `${means.charAt(0).toUpperCase()}${means.slice(1)}.`;
    return [`### ${code}`, `Exit code ${listExits(code)}. ${escapeMarkdown(`${sentence} ${fix}`)}`];
  });
  return `${[table(['Exit code', 'Meaning', 'Errors'], exits), '## Errors', ...errors].join('\n\n')}\n`;
}

/** Several for an error that has one by signal. */
function listExits(code: ErrorCode): string {
  const exits = Object.keys(exitMeanings).filter((exit) => findErrorCodes(Number(exit)).includes(code));
  return exits.join(', ');
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

/** Text as Markdown shows it, with flags as code. */
function escapeMarkdown(text: string): string {
  const plain = text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll(/[[\]*_`{}]/g, '\\$&');
  return plain.replaceAll('\n', ' ').replaceAll(/(?<![\w-])--[a-z][\w-]*/g, '`$&`');
}
