import { local } from '../../api/endpoint.ts';
import { nullable } from '../../api/kind.ts';
import { chosenContext, contextNames, findContext, readEnv, type StoredSettings } from '../../lib/config/settings.ts';
import { showPlan } from '../../lib/output/confirm.ts';
import type { Command } from '../command.ts';
import { describeContext, listView, nameKind, showContext, showView } from './entry.ts';
import { addRemove } from './remove.ts';
import { addSet } from './set.ts';
import { addShow } from './show.ts';

export function addContext(context: Command): void {
  addList(context);
  addShow(context);
  addUse(context);
  addSet(context);
  addRemove(context);
}

function addList(context: Command): void {
  context
    .command('list')
    .summary('List contexts, and which one is current')
    .example('context list', 'every context')
    .example('context list --json', 'as JSON; keys are never shown')
    .prints(listView)
    .run(async (_, { config, options, io }) => {
      const stored = (await config.settings()).read();
      const current = chosenContext(options, io.env, stored);
      const contexts = contextNames(stored).map((each) => describeContext(each, current, stored));
      return { kind: 'answer', answer: { current: current ?? null, contexts }, view: listView };
    });
}

function addUse(context: Command): void {
  context
    .command('use')
    .summary('Set the current context')
    .params({ name: local(nullable(nameKind), 'name of the context; null for none', { positional: true }) })
    .example('context use sandbox', 'the built-in sandbox from now on')
    .example('context use null', 'no current context')
    .changes()
    .prints(showView)
    .run(async ({ name }, given) => {
      const store = await given.config.settings();
      const stored = await store.update(given.io, (now) => withCurrent(name, now));
      if (given.options.dryRun)
        return showPlan([{ action: 'set', what: 'current context', detail: name === null ? 'none' : name }]);
      const fromEnv = readEnv(given.io.env, 'SOTRA_CONTEXT');
      if (fromEnv !== undefined && fromEnv !== name) given.warn(`SOTRA_CONTEXT=${fromEnv} is set and overrides it`);
      if (name !== null) return showContext(name, given, stored);
      given.note('There is no current context now.');
      return { kind: 'none' };
    });
}

/** Errors: `usage` for an unknown name. */
function withCurrent(name: string | null, stored: StoredSettings): StoredSettings {
  const { current: _, ...rest } = stored;
  if (name === null) return rest;
  findContext(name, stored);
  return { ...rest, current: name };
}
