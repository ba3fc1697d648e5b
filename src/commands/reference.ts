import { type Command, defineCommand } from '../cli/command.ts';
import type { Outline } from '../cli/outline.ts';
import type { View } from '../output/view.ts';

/** One command as `commands --json` lists it, for machines and agents. */
interface CommandEntry {
  command: string;
  summary: string;
  /** The endpoint it is one to one with, and where that is known from; `null` for commands of the tool. */
  endpoint: { method: string; path: string; source: string; deprecated: string | null } | null;
  inputs: InputEntry[];
  exitCodes: number[];
  examples: { argv: string; says: string }[];
}

interface InputEntry {
  /** `--limit` or `<address>`. */
  label: string;
  help: string;
  type: string;
  list: boolean;
  required: boolean;
  nullable: boolean;
  choices: readonly string[];
  min: number | null;
  max: number | null;
  /** Where its name is known from: spec, public or assumed. */
  source: string;
}

function entryOf({ words, summary, endpoint, fields, exitCodes, examples }: Outline): CommandEntry {
  return {
    command: words.join(' '),
    summary,
    endpoint: endpoint === undefined ? null : { ...endpoint, deprecated: endpoint.deprecated ?? null },
    inputs: fields.map(({ label, kind, help, source }) => ({
      label,
      help,
      type: kind.type,
      list: kind.list,
      required: !kind.optional,
      nullable: kind.nullable,
      choices: kind.choices,
      min: kind.min ?? null,
      max: kind.max ?? null,
      source,
    })),
    exitCodes: [0, 1, 2, ...exitCodes],
    examples: [...examples],
  };
}

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
    exitCodes: [],
    view: async () => view,
    run: async (_, { program }) => ({ kind: 'answer', answer: { commands: program.outlines.map(entryOf) }, view }),
  }),
];
