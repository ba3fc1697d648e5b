import { local } from '../../api/endpoint.ts';
import { identifierKind, matching } from '../../api/formats.ts';
import { formatted } from '../../api/kind.ts';
import { column, recordView } from '../../lib/output/columns.ts';
import { confirm, showPlan } from '../../lib/output/confirm.ts';
import type { View } from '../../lib/output/view.ts';
import type { Command } from '../command.ts';
import { requireAlias } from '../read-input.ts';

export function setUp(alias: Command): void {
  alias
    .command('set')
    .summary('Save an alias for a trader or a token')
    .description(
      'An alias works wherever a command takes an address or a user: sotra profile get @whale.\n' +
        "In PowerShell, quote the name: '@whale'.\n" +
        'Replacing an alias asks on a terminal; elsewhere it needs --yes.',
    )
    .params({
      name: nameParam,
      identifier: local(identifierKind, 'profile UUID, wallet or token address, or ext:<your user id>', {
        positional: true,
      }),
    })
    .example('alias set @whale 0xb7b6f3cea3f66bf525f5d8f965f6dbf6d9b017b2', 'a wallet')
    .example('alias set @me ext:42', 'a user of your own')
    .changes()
    .prints(aliasView)
    .run(async ({ name: typed, identifier }, context) => {
      const name = withAt(typed);
      const store = await context.config.settings();
      const before = store.read().aliases?.[name.slice(1)];
      if (context.options.dryRun) return showPlan([{ action: 'set', what: `alias ${name}`, detail: identifier }]);
      if (before !== undefined && before !== identifier) await confirm(`replace alias ${name} (${before})`, context);
      await store.update(context.io, (now) => ({
        ...now,
        aliases: { ...now.aliases, [name.slice(1)]: identifier },
      }));
      return { kind: 'answer', answer: { alias: name, identifier } };
    });

  alias
    .command('list')
    .summary('List aliases')
    .example('alias list', 'all aliases')
    .example('alias list --format csv', 'as CSV')
    .prints(listView)
    .run(async (_, context) => {
      const { aliases = {} } = (await context.config.settings()).read();
      const entries = Object.entries(aliases).map(([name, identifier]) => ({ alias: `@${name}`, identifier }));
      return { kind: 'answer', answer: { aliases: entries.sort((a, b) => (a.alias < b.alias ? -1 : 1)) } };
    });

  alias
    .command('remove')
    .summary('Remove an alias')
    .description('Asks on a terminal; elsewhere it needs --yes.')
    .params({ name: nameParam })
    .example('alias remove @whale --yes', 'without asking')
    .changes()
    .run(async ({ name: typed }, context) => {
      const name = withAt(typed);
      const store = await context.config.settings();
      const identifier = requireAlias(name, store.read().aliases);
      if (context.options.dryRun) return showPlan([{ action: 'remove', what: `alias ${name}`, detail: identifier }]);
      await confirm(`remove alias ${name} (${identifier})`, context);
      await store.update(context.io, (now) => {
        const { [name.slice(1)]: _, ...others } = now.aliases ?? {};
        return { ...now, aliases: others };
      });
      context.note(`Removed alias ${name}.`);
      return { kind: 'none' };
    });
}

/** A saved name, with its `@`. */
const aliasPattern = /^@[A-Za-z0-9][\w.-]{0,31}$/;

const nameKind = formatted(
  matching(
    (text) => aliasPattern.test(withAt(text)),
    'must be a name such as @whale: letters, digits, dot, dash and underscore, 32 at most',
  ),
);

const nameParam = local(nameKind, 'name of the alias', { positional: true });

function withAt(name: string): string {
  return name.startsWith('@') ? name : `@${name}`;
}

interface Alias {
  alias: string;
  identifier: string;
}

const columns: View<unknown, Alias>['columns'] = [
  column.text('alias', 'Alias', 'name of the alias, with the @'),
  column.address('identifier', 'Identifier', 'the address or user ID of this alias'),
];

const listView: View<{ aliases: Alias[] }, Alias> = {
  layout: 'table',
  rows: ({ aliases }) => aliases,
  columns,
  empty: 'No aliases. Save one: sotra alias set @whale <identifier>.',
};

const aliasView = recordView<Alias>(columns);
