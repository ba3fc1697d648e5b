import { local } from '../../api/endpoint.ts';
import { fitting, identifierKind } from '../../api/formats.ts';
import { formatted } from '../../api/kind.ts';
import { type Command, defineCommand } from '../../cli/command.ts';
import { usageError } from '../../errors.ts';
import { byName } from '../../model/json.ts';
import { nearest } from '../../model/nearest.ts';
import { column, recordView } from '../../output/columns.ts';
import { showPlan } from '../../output/confirm.ts';
import type { View } from '../../output/view.ts';
import { aliasPattern } from '../read-input.ts';

interface AliasEntry {
  alias: string;
  identifier: string;
}

const nameKind = formatted(
  fitting(
    (text) => aliasPattern.test(withAt(text)),
    'must be a name such as @whale: letters, digits, dot, dash and underscore, 32 at most',
  ),
);

function withAt(name: string): string {
  return name.startsWith('@') ? name : `@${name}`;
}

const columns: View<unknown, AliasEntry>['columns'] = [
  column.text('alias', 'Alias', 'the name, as it is typed'),
  column.address('identifier', 'Identifier', 'what it stands for'),
];

const listView: View<{ aliases: AliasEntry[] }, AliasEntry> = {
  layout: 'table',
  rows: ({ aliases }) => aliases,
  columns,
  empty: 'No alias is saved. Save one: sotra alias set @whale <identifier>.',
};

const oneView = recordView<AliasEntry>(columns);

const set = defineCommand({
  words: ['alias', 'set'],
  summary: 'Save a name for an identifier',
  description:
    'The name, with its @, works wherever a command takes an address or a profile: sotra profile get @whale. A name that is saved\n' +
    "already is replaced. PowerShell reads a bare @ itself: write '@whale' there. For a trader the name of a stored\n" +
    "key works too, and in commands that read a row ('#3') or a name of the last board.",
  params: {
    name: local(nameKind, 'the name, such as @whale', { positional: true }),
    identifier: local(identifierKind, 'profile UUID, wallet or token address, or ext:<your user id>', {
      positional: true,
    }),
  },
  examples: [
    { argv: 'alias set @whale 0xb7b6f3cea3f66bf525f5d8f965f6dbf6d9b017b2', says: 'save a wallet' },
    { argv: 'alias set @me ext:42', says: 'save a user of your own' },
  ],
  uses: ['service', 'changes'],
  exitCodes: [3],
  view: async () => oneView,
  run: async ({ name: typed, identifier }, context) => {
    const name = withAt(typed);
    let before: string | undefined;
    await (await context.store()).update(context.io, (now) => {
      before = now.aliases?.[name.slice(1)];
      return { ...now, aliases: { ...now.aliases, [name.slice(1)]: identifier } };
    });
    if (context.options.dryRun) return showPlan([{ action: 'set', what: `alias ${name}`, detail: identifier }]);
    if (before !== undefined && before !== identifier) context.note(`${name} stood for ${before} before.`);
    return { kind: 'answer', answer: { alias: name, identifier }, view: oneView };
  },
});

const list = defineCommand({
  words: ['alias', 'list'],
  summary: 'List the saved names and what they stand for',
  params: {},
  examples: [
    { argv: 'alias list', says: 'every alias' },
    { argv: 'alias list --format csv', says: 'as CSV' },
  ],
  uses: [],
  exitCodes: [3],
  view: async () => listView,
  run: async (_, context) => {
    const { aliases = {} } = (await context.store()).read();
    const entries = Object.entries(aliases).map(([name, identifier]) => ({ alias: `@${name}`, identifier }));
    return {
      kind: 'answer',
      answer: { aliases: entries.sort((a, b) => (a.alias < b.alias ? -1 : 1)) },
      view: listView,
    };
  },
});

const remove = defineCommand({
  words: ['alias', 'remove'],
  summary: 'Remove a saved name',
  params: { name: local(nameKind, 'the name, such as @whale', { positional: true }) },
  examples: [{ argv: 'alias remove @whale', says: 'remove it' }],
  uses: ['changes'],
  exitCodes: [3],
  run: async ({ name: typed }, context) => {
    const name = withAt(typed);
    let before: string | undefined;
    await (await context.store()).update(context.io, (now) => {
      const { [name.slice(1)]: found, ...others } = now.aliases ?? byName<string>([]);
      if (found === undefined) throw notSaved(name, Object.keys(now.aliases ?? {}));
      before = found;
      return { ...now, aliases: others };
    });
    if (context.options.dryRun) return showPlan([{ action: 'remove', what: `alias ${name}`, detail: before ?? null }]);
    context.note(`${name} is removed.`);
    return { kind: 'none' };
  },
});

function notSaved(name: string, known: readonly string[]) {
  const near = nearest(name.slice(1), known);
  return usageError(
    `alias ${name} is not saved`,
    near === undefined ? 'See sotra alias list.' : `Did you mean @${near}?`,
  );
}

export const commands: readonly Command[] = [set, list, remove];
