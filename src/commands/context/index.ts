import { local } from '../../api/endpoint.ts';
import { defined } from '../../api/json.ts';
import { nullable, optional } from '../../api/kind.ts';
import type { Context } from '../../context.ts';
import { toSotraError, usageError } from '../../errors.ts';
import {
  chosenContext,
  contextNames,
  findContext,
  presets,
  readEnv,
  readKeyOrigin,
  resolveService,
  type StoredContext,
  type StoredSettings,
} from '../../lib/config/settings.ts';
import { confirm, showPlan } from '../../lib/output/confirm.ts';
import type { Result } from '../../lib/output/result.ts';
import type { Command } from '../command.ts';
import { type ContextEntry, describeContext, listView, nameKind, nameParam, showContext, showView } from './entry.ts';
import { addSet } from './set.ts';

export function addContext(context: Command): void {
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
      return { kind: 'answer', answer: { current: current ?? null, contexts } };
    });

  context
    .command('show')
    .summary('Show a context, and where each value comes from')
    .description(
      'Options and environment variables override stored values. Of the API key, only the last four characters are shown.',
    )
    .params({ name: local(optional(nameKind), 'name of the context; default: the current one', { positional: true }) })
    .example('context show clicker', 'the public deployment')
    .example('context show sandbox --json', 'the built-in sandbox, as JSON')
    .prints(showView)
    .run(async ({ name }, given) => {
      const answer = describeInForce(name, given, (await given.config.settings()).read());
      return { kind: 'answer', answer };
    });

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

  addSet(context);

  context
    .command('remove')
    .summary('Remove a context and its API key')
    .description('Asks on a terminal; elsewhere it needs --yes.')
    .params({ name: nameParam })
    .example('context remove staging --yes', 'without asking')
    .changes()
    .run(({ name }, given) => removeContext(name, given));
}

/** Errors: `usage` for an unknown name. */
function withCurrent(name: string | null, stored: StoredSettings): StoredSettings {
  const { current: _, ...rest } = stored;
  if (name === null) return rest;
  findContext(name, stored);
  return { ...rest, current: name };
}

/** The values that commands would use, and the source of each. Errors: those of `resolveService`. */
function describeInForce(typed: string | undefined, { options, io }: Context, stored: StoredSettings): ContextEntry {
  const choice = typed === undefined ? options : { ...options, sandbox: false, context: typed };
  const service = resolveService(choice, io.env, stored);
  const { context: name, kind, keySource, keySuffix, baseUrl, baseUrlSource } = service;
  const entry = describeContext(name, chosenContext(options, io.env, stored), stored);
  const storedIn = (key: keyof StoredContext) =>
    stored.contexts[name ?? '']?.[key] !== undefined ? 'context' : presets[name ?? '']?.[key] && 'preset';
  const fromEnv = readEnv(io.env, 'SOTRA_CONTEXT') === undefined ? 'current' : 'SOTRA_CONTEXT';
  const namedBy = choice.sandbox ? '--sandbox' : choice.context === undefined ? fromEnv : '--context';
  const sources = defined({
    name: name && (typed === undefined ? namedBy : 'argument'),
    baseUrl: baseUrlSource === 'context' ? storedIn('baseUrl') : baseUrlSource,
    key: keySource ?? undefined,
    serviceName: storedIn('serviceName'),
    layout: storedIn('layout') ?? 'default',
    wire: storedIn('wire'),
    inbox: storedIn('inbox'),
  });
  const key = keySource === 'SOTRA_API_KEY' && { keySuffix, store: null, keyOrigin: null };
  return { ...entry, ...(kind === 'http' && { baseUrl }), ...key, sources };
}

async function removeContext(name: string, context: Context): Promise<Result> {
  const store = await context.config.settings();
  const before = store.read();
  const after = withoutContext(name, before);
  const own = before.contexts[name] ?? {};
  const what = `context ${name}${readKeyOrigin(own) === undefined ? '' : ' and its key'}`;
  if (context.options.dryRun) return showPlan([{ action: 'remove', what, detail: store.path }]);
  await confirm(`remove ${what}`, context);
  const { removeFromKeychain } = await import('../auth/logout.ts');
  await removeFromKeychain(name, own, {}, context).catch((error: unknown) =>
    context.warn(`its key is still in the keychain: ${toSotraError(error).message}`),
  );
  await store.update(context.io, (now) => withoutContext(name, now));
  context.note(`Removed ${what}${Object.hasOwn(presets, name) ? '; the preset of this name stays' : ''}.`);
  if (before.current === name && after.current === undefined)
    context.note('There is no current context now. Choose one: sotra context use <name>.');
  return { kind: 'none' };
}

/** Errors: `usage` if nothing is stored under the name. */
function withoutContext(name: string, stored: StoredSettings): StoredSettings {
  if (!Object.hasOwn(stored.contexts, name)) {
    findContext(name, stored);
    throw usageError(`context ${name} is built in and has nothing stored`);
  }
  const { [name]: _, ...others } = stored.contexts;
  const { current, ...rest } = stored;
  return { ...rest, ...(current === undefined || current === name ? {} : { current }), contexts: others };
}
