import { checkWireNames, type InputOf, local } from '../../api/endpoint.ts';
import { layouts, matching } from '../../api/formats.ts';
import { checkBaseUrl, readOrigin } from '../../api/http-address.ts';
import { defined, isObject } from '../../api/json.ts';
import { checkValue, choice, formatted, json, nullable, optional, text } from '../../api/kind.ts';
import { command } from '../../client/shell.ts';
import type { Context } from '../../context.ts';
import { toSotraError, usageError } from '../../errors.ts';
import {
  chosenContext,
  contextNames,
  findContext,
  lastFour,
  presets,
  readEnv,
  readKeyOrigin,
  resolveService,
} from '../../lib/config/config.ts';
import type { StoredContext, StoredSettings } from '../../lib/config/settings.ts';
import { column, recordView } from '../../lib/output/columns.ts';
import { confirm, type PlannedChange, showPlan } from '../../lib/output/confirm.ts';
import type { Result, View } from '../../lib/output/view.ts';
import { readNatsAddress } from '../../webhooks/inbox.ts';
import type { Command } from '../command.ts';

const nameRule =
  'must begin with a letter or digit and hold only letters, digits, dot, dash and underscore, 64 at most';

const nameKind = formatted(matching((text) => /^(?!null$)[A-Za-z0-9][\w.-]{0,63}$/.test(text), nameRule));
const nameParam = local(nameKind, 'name of the context', { positional: true });

const textOrNull = optional(nullable(text()));
const lineOrNull = optional(
  nullable(formatted(matching((text) => /^[^\r\n]+$/.test(text), 'must be one line of text'))),
);
const wireKind = json<Readonly<Record<string, string>>>(
  { type: 'object', additionalProperties: { type: 'string' } },
  (value) =>
    isObject(value) && Object.values(value).every((each) => typeof each === 'string')
      ? undefined
      : 'must be a JSON object of names',
);

const setParams = {
  name: nameParam,
  // Typed as the option of the program.
  baseUrl: local(textOrNull, 'address of the service'),
  serviceName: local(lineOrNull, 'first line of the signed text of a comment'),
  layout: local(optional(nullable(choice(layouts))), 'form of the signed text'),
  preset: local(optional(choice(Object.keys(presets))), 'start from the values of this preset'),
  wire: local(optional(nullable(wireKind)), 'parameter names of this service: {"*.limit":"count"}'),
  inbox: local(textOrNull, 'where to store deliveries, such as nats://host:4222/NAME', { valueName: 'url' }),
  inboxCreds: local(textOrNull, 'file with the credentials of the inbox', { valueName: 'file' }),
};

export function setUp(context: Command): void {
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
      const stored = await store.update(given.io, ({ current: _, ...now }) => {
        if (name === null) return now;
        findContext(name, now);
        return { ...now, current: name };
      });
      if (given.options.dryRun)
        return showPlan([{ action: 'set', what: 'current context', detail: name === null ? 'none' : name }]);
      const fromEnv = readEnv(given.io.env, 'SOTRA_CONTEXT');
      if (fromEnv !== undefined && fromEnv !== name) given.warn(`SOTRA_CONTEXT=${fromEnv} is set and overrides it`);
      if (name !== null) return showContext(name, given, stored);
      given.note('There is no current context now.');
      return { kind: 'none' };
    });

  context
    .command('set')
    .summary('Create or change a context')
    .description(
      'A new context needs --base-url, the address of its service. Omitted values stay unchanged; null removes a ' +
        'value. The first context becomes the current one.\n' +
        'A stored API key is sent only to the origin that it was stored for.',
    )
    .params(setParams)
    .example('context set staging --base-url https://staging.example.com --service-name Example', 'a new context')
    .example('context set staging --base-url https://staging.example.com --preset clicker', 'from a preset')
    .changes()
    .prints(showView)
    .run(({ name, ...change }, given) => changeContext(name, change, given));

  context
    .command('remove')
    .summary('Remove a context and its API key')
    .description('Asks on a terminal; elsewhere it needs --yes.')
    .params({ name: nameParam })
    .example('context remove staging --yes', 'without asking')
    .changes()
    .run(({ name }, given) => removeContext(name, given));
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
  const { removeFromKeychain } = await import('../../lib/config/keychain.ts');
  await removeFromKeychain(name, own, context).catch((error: unknown) =>
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

type ContextChange = Omit<InputOf<typeof setParams>, 'name'>;

async function changeContext(name: string, change: ContextChange, context: Context) {
  const store = await context.config.settings();
  const before = store.read();
  if (change.wire) checkWireNames(change.wire, (await import('../../api/endpoints.ts')).endpoints, '--wire');
  const stored = await store.update(context.io, (now) => setContext(name, change, now));
  const becameCurrent = before.current === undefined && stored.current === name;
  if (context.options.dryRun) {
    const current = becameCurrent ? [{ action: 'set', what: 'current context', detail: name }] : [];
    return showPlan([...listChanges(name, before, stored), ...current]);
  }
  if (becameCurrent) context.note(`${name} is now the current context.`);
  warnOfKey(name, stored, context);
  return showContext(name, context, stored);
}

/**
 * The settings with a context created or changed; the first one becomes the current one. A stored key stays bound to its origin. Errors:
 * `usage` for a context without a base URL and for the built-in sandbox; those of `checkBaseUrl`.
 */
function setContext(name: string, change: ContextChange, stored: StoredSettings): StoredSettings {
  if (name === 'sandbox')
    throw usageError(
      'context sandbox is built in and cannot be changed',
      'For a served sandbox: sotra context set local --preset sandbox --base-url http://127.0.0.1:4010.',
    );
  if (typeof change.inbox === 'string') readNatsAddress(change.inbox);
  const { preset = '', ...values } = change;
  const after: Record<string, unknown> = { ...withKeyOrigin(stored.contexts[name] ?? {}), ...presets[preset] };
  for (const [key, value] of Object.entries(values)) {
    if (value === null) delete after[key];
    else if (value !== undefined) after[key] = key === 'baseUrl' ? checkBaseUrl(String(value)) : value;
  }
  if (after['baseUrl'] === undefined && presets[name]?.baseUrl === undefined)
    throw usageError(
      `context ${name} needs a base URL`,
      command`sotra context set ${name} --base-url https://api.example.com`,
    );
  const isFirst = stored.current === undefined && Object.keys(stored.contexts).length === 0;
  return { ...stored, ...(isFirst && { current: name }), contexts: { ...stored.contexts, [name]: after } };
}

/** A key that was written by hand belongs to the origin beside it. */
function withKeyOrigin(context: StoredContext): StoredContext {
  if (context.apiKey === undefined || context.keyOrigin !== undefined || context.baseUrl === undefined) return context;
  return { ...context, keyOrigin: new URL(checkBaseUrl(context.baseUrl)).origin };
}

const changeable = ['baseUrl', 'serviceName', 'layout', 'wire', 'inbox', 'inboxCreds'] as const;

function listChanges(name: string, before: StoredSettings, stored: StoredSettings): PlannedChange[] {
  const [old, next] = [before.contexts[name] ?? {}, stored.contexts[name] ?? {}];
  const format = (value: unknown) => (typeof value === 'object' ? JSON.stringify(value) : String(value ?? 'none'));
  const changed = changeable.filter((key) => JSON.stringify(old[key]) !== JSON.stringify(next[key]));
  return changed.map((key) => ({ action: 'set', what: `${key} of context ${name}`, detail: format(next[key]) }));
}

function warnOfKey(name: string, stored: StoredSettings, context: Context): void {
  const { baseUrl, keySuffix } = describeContext(name, undefined, stored);
  const keyOrigin = readKeyOrigin(stored.contexts[name] ?? {});
  const origin = readOrigin(baseUrl ?? '');
  if (keyOrigin === undefined || keyOrigin === origin) return;
  context.warn(
    `the stored key ...${keySuffix} was saved for ${keyOrigin} and is not sent to ${origin}; ` +
      command`store one for it with sotra auth login --context ${name}`,
  );
}

/** Errors: `usage` for a name that no context may have. */
export function checkName(text: string): string {
  if (checkValue(nameKind, text) === undefined) return text;
  throw usageError(`context ${text}: the name of a context ${nameRule}`);
}

type ContextEntry = ReturnType<typeof describeContext> & { sources?: Readonly<Record<string, string>> };

/** A context as it is stored; an empty one without a name. Errors: `usage` for an unknown name. */
function describeContext(name: string | undefined, current: string | undefined, stored: StoredSettings) {
  const context = name === undefined ? {} : findContext(name, stored);
  const keyOrigin = readKeyOrigin(context) ?? null;
  const keyStore = keyOrigin === null ? null : (context.keyStore ?? 'file');
  return {
    name: name ?? null,
    current: name !== undefined && name === current,
    builtIn: name !== undefined && Object.hasOwn(presets, name),
    baseUrl: context.baseUrl ?? null,
    serviceName: context.serviceName ?? null,
    layout: context.layout ?? 'five-line',
    wire: context.wire ?? {},
    ...(context.inbox && { inbox: context.inbox }),
    ...(context.inboxCreds && { inboxCreds: context.inboxCreds }),
    keySuffix: keyStore === 'file' ? lastFour(context.apiKey ?? '') : (context.keySuffix ?? null),
    store: keyStore,
    keyOrigin,
  };
}

/** The result of a command that changed a context. */
function showContext(name: string, { options, io }: Context, stored: StoredSettings): Result {
  return { kind: 'answer', answer: describeContext(name, chosenContext(options, io.env, stored), stored) };
}

const columns: View<unknown, ContextEntry>['columns'] = [
  column.text('name', 'Context', 'name of the context'),
  column.flag('current', 'Current', 'used if no context is named', { show: ({ current }) => (current ? 'yes' : '') }),
  column.text('baseUrl', 'Base URL', 'address of the service; empty for the built-in sandbox'),
  column.text('key', 'Key', 'end of its API key and where it is kept', formatKey, { cut: true }),
  column.text('serviceName', 'Service name', 'first line of the signed text of a comment', { drop: 2 }),
  column.text('layout', 'Layout', 'form of the signed text', { drop: 3 }),
  column.text('inbox', 'Inbox', 'where webhook commands store deliveries', { drop: 4, cut: true }),
  column.text('wire', 'Parameter names', 'parameters that have another name here', formatWireNames, { cut: true }),
  column.text('sources', 'From', 'where each value comes from', formatSources),
];

function formatKey({ keySuffix, store, keyOrigin, baseUrl, name, sources }: ContextEntry): string | null {
  if (sources?.['key'] === 'SOTRA_API_KEY') return `...${keySuffix}`;
  if (store === null) return name === 'sandbox' ? 'built in' : null;
  const elsewhere = keyOrigin === readOrigin(baseUrl ?? '') ? '' : ` for ${keyOrigin} only`;
  return `...${keySuffix ?? ''} (${store})${elsewhere}`;
}

function formatWireNames({ wire }: ContextEntry): string | null {
  return Object.keys(wire).length === 0 ? null : JSON.stringify(wire);
}

function formatSources({ sources }: ContextEntry): string | null {
  if (sources === undefined) return null;
  return Object.entries(sources)
    .map(([key, source]) => `${key}: ${source}`)
    .join(', ');
}

const listView: View<{ contexts: ContextEntry[] }, ContextEntry> = {
  layout: 'table',
  rows: ({ contexts }) => contexts,
  columns: columns.map((column) =>
    column.key === 'wire' || column.key === 'sources' ? { ...column, extra: true } : column,
  ),
};

const showView = recordView<ContextEntry>(columns);
