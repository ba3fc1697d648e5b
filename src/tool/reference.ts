import { type Command, defineCommand } from '../cli/command.ts';
import { type CommandEntry, entryOf } from '../cli/help.ts';
import type { View } from '../output/view.ts';

const view: View<{ commands: CommandEntry[] }, CommandEntry> = {
  layout: 'table',
  rows: ({ commands }) => commands,
  columns: [
    { key: 'command', header: 'Command', help: 'the words to type', value: (entry) => entry.command },
    {
      key: 'endpoint',
      header: 'Endpoint',
      help: 'the endpoint it is one to one with',
      value: ({ endpoint }) => (endpoint === null ? null : `${endpoint.method} ${endpoint.path}`),
      cut: 'end',
    },
    { key: 'source', header: 'From', help: 'spec or public', value: ({ endpoint }) => endpoint?.source, extra: true },
    { key: 'summary', header: 'What it does', help: 'summary', value: (entry) => entry.summary, cut: 'end' },
  ],
};

/** `commands`: the tree of all commands, itself among them. */
export const commands: readonly Command[] = [
  defineCommand({
    words: ['commands'],
    summary: 'List every command; with --json the whole tree for machines',
    params: {},
    examples: [{ argv: 'commands --json', says: 'every command with its inputs, ranges and exit codes' }],
    uses: [],
    exitCodes: [],
    view: async () => view,
    run: async (_, { program }) => ({ kind: 'answer', answer: { commands: program.outlines.map(entryOf) }, view }),
  }),
];
