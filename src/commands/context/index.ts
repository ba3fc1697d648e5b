import { checkWireNames, type InputOf, local } from '../../api/endpoint.ts';
import { fitting } from '../../api/formats.ts';
import { checkValue, choice, formatted, json, nullable, optional, text } from '../../api/kind.ts';
import { type Command, defineCommand, type Result } from '../../cli/command.ts';
import type { Context } from '../../context.ts';
import { toSotraError, usageError } from '../../errors.ts';
import { readNatsAddress } from '../../inbox/nats/address.ts';
import { checkBaseUrl } from '../../model/http-address.ts';
import { defined, isObject } from '../../model/json.ts';
import { command } from '../../model/shell.ts';
import { column, recordView } from '../../output/columns.ts';
import { confirm, showPlan } from '../../output/confirm.ts';
import type { View } from '../../output/view.ts';
import {
  chosenContext,
  contextNames,
  findContext,
  lastFour,
  layouts,
  presets,
  readEnv,
  readKeyOrigin,
  readOrigin,
  resolveService,
  type StoredContext,
  type StoredSettings,
} from '../../setup/settings.ts';

const nameRule =
  'must begin with a letter or digit and hold only letters, digits, dot, dash and underscore, 64 at most';
const nameKind = formatted(fitting((text) => /^(?!null$)[A-Za-z0-9][\w.-]{0,63}$/.test(text), nameRule));
const name = local(nameKind, 'name of the context', { positional: true });
const presetNames = Object.keys(presets) as [string, ...string[]];

/** Errors: `usage` for a name that no context may have. */
export function checkName(text: string): string {
  if (checkValue(nameKind, text) === undefined) return text;
  throw usageError(`context ${text}: a context's name ${nameRule}`);
}

function showContext(which: string, { options, io }: Context, stored: StoredSettings): Result {
  const answer = describeContext(which, chosenContext(options, io.env, stored), stored);
  return { kind: 'answer', answer, view: showView };
}

const list = defineCommand({
  words: ['context', 'list'],
  summary: 'List the known services, and which one is in use',
  params: {},
  examples: [
    { argv: 'context list', says: 'every context' },
    { argv: 'context list --json', says: 'as JSON; keys are never shown' },
  ],
  uses: ['service'],
  exitCodes: [3],
  view: async () => listView,
  run: async (_, context) => {
    const stored = (await context.store()).read();
    const current = chosenContext(context.options, context.io.env, stored);
    const contexts = contextNames(stored).map((each) => describeContext(each, current, stored));
    return { kind: 'answer', answer: { current: current ?? null, contexts }, view: listView };
  },
});

const show = defineCommand({
  words: ['context', 'show'],
  summary: 'Show one context as it is in force, and where each value comes from',
  description: 'Flags and variables override what is stored. Of the key only the last four characters are shown.',
  params: { name: local(optional(nameKind), 'name of the context; default: the current one', { positional: true }) },
  examples: [
    { argv: 'context show clicker', says: 'the public deployment' },
    { argv: 'context show sandbox --json', says: 'the built-in sandbox, as JSON' },
  ],
  uses: ['service'],
  exitCodes: [3],
  view: async () => showView,
  run: async ({ name: typed }, context) => {
    const answer = describeInForce(typed, context, (await context.store()).read());
    return { kind: 'answer', answer, view: showView };
  },
});

const use = defineCommand({
  words: ['context', 'use'],
  summary: 'Use a context when a command names none',
  params: { name: local(nullable(nameKind), 'name of the context; null for none', { positional: true }) },
  examples: [
    { argv: 'context use sandbox', says: 'the built-in sandbox from now on' },
    { argv: 'context use null', says: 'none: commands must name one' },
  ],
  uses: ['changes'],
  exitCodes: [3],
  view: async () => showView,
  run: async ({ name: which }, context) => {
    const store = await context.store();
    const stored = await store.update(context.io, (now) => useContext(which, now));
    if (context.options.dryRun)
      return showPlan([{ action: 'set', what: 'current context', detail: which === null ? 'none' : which }]);
    const fromEnv = readEnv(context.io.env, 'SOTRA_CONTEXT');
    if (fromEnv !== undefined && fromEnv !== which) context.warn(`SOTRA_CONTEXT=${fromEnv} is set and overrides it`);
    if (which !== null) return showContext(which, context, stored);
    context.note('No context is current.');
    return { kind: 'none' };
  },
});

const wireSchema = { type: 'object', additionalProperties: { type: 'string' } };

function findWireProblem(value: unknown): string | undefined {
  const fits = isObject(value) && Object.values(value).every((each) => typeof each === 'string');
  return fits ? undefined : 'must be a JSON object of names';
}

const textOrNull = optional(nullable(text()));

const setParams = {
  name,
  baseUrl: local(textOrNull, 'address of the service'),
  serviceName: local(
    optional(nullable(formatted(fitting((text) => /^[^\r\n]+$/.test(text), 'must be one line of text')))),
    'first line of the signed text of a comment',
  ),
  layout: local(optional(nullable(choice(layouts))), 'form of the signed text (default five-line)'),
  preset: local(optional(choice(presetNames)), 'use the values of this preset; other flags override them'),
  wire: local(
    optional(nullable(json<Readonly<Record<string, string>>>(wireSchema, findWireProblem))),
    'names this deployment uses for parameters, in place of those stored: {"*.limit":"count"}',
  ),
  inbox: local(textOrNull, 'where webhook commands store deliveries: nats://host:4222/NAME (default: this machine)'),
  inboxCreds: local(textOrNull, 'file with its user: and password:, its token:, or credentials of nsc'),
};

type ContextChange = Omit<InputOf<typeof setParams>, 'name'>;

const set = defineCommand({
  words: ['context', 'set'],
  summary: 'Make a context or change it',
  description:
    'Flags that are not given change nothing; null removes a value. The first context becomes the current one.\n' +
    'A stored key stays bound to the origin it was saved for: after a change of the base URL to another origin it is not sent.',
  params: setParams,
  examples: [
    {
      argv: 'context set staging --base-url https://staging.example.com --service-name Example',
      says: 'a deployment of your own',
    },
    {
      argv: 'context set staging --base-url https://staging.example.com --preset clicker',
      says: 'with the values of a preset',
    },
  ],
  uses: ['changes'],
  exitCodes: [3],
  view: async () => showView,
  run: async ({ name: which, ...change }, context) => {
    let becameCurrent = false;
    const store = await context.store();
    const before = store.read().contexts[which] ?? {};
    if (change.wire) checkWireNames(change.wire, (await import('../../api/endpoints.ts')).endpoints, '--wire');
    const stored = await store.update(context.io, (now) => {
      const next = setContext(which, change, now);
      becameCurrent = now.current === undefined && Object.keys(now.contexts).length === 0;
      return becameCurrent ? useContext(which, next) : next;
    });
    if (context.options.dryRun) return showPlan(listChanges(which, before, stored, becameCurrent));
    if (becameCurrent) context.note(`${which} is now the current context.`);
    warnOfKey(which, stored, context);
    return showContext(which, context, stored);
  },
});

function listChanges(which: string, before: StoredContext, stored: StoredSettings, becomesCurrent: boolean) {
  const after = stored.contexts[which] ?? {};
  const changed = (['baseUrl', 'serviceName', 'layout', 'wire', 'inbox', 'inboxCreds'] as const).filter(
    (key) => JSON.stringify(before[key]) !== JSON.stringify(after[key]),
  );
  const say = (value: unknown) => (typeof value === 'object' ? JSON.stringify(value) : String(value ?? 'none'));
  return [
    ...changed.map((key) => ({ action: 'set', what: `${key} of context ${which}`, detail: say(after[key]) })),
    ...(becomesCurrent ? [{ action: 'set', what: 'current context', detail: which }] : []),
  ];
}

function warnOfKey(which: string, stored: StoredSettings, context: Context): void {
  const { baseUrl, keySuffix } = describeContext(which, undefined, stored);
  const keyOrigin = readKeyOrigin(stored.contexts[which] ?? {});
  const origin = readOrigin(baseUrl ?? '');
  if (keyOrigin === undefined || keyOrigin === origin) return;
  context.warn(
    `the stored key ...${keySuffix} was saved for ${keyOrigin} and is not sent to ${origin}; ` +
      command`store one for it with sotra auth login --context ${which}`,
  );
}

const remove = defineCommand({
  words: ['context', 'remove'],
  summary: 'Remove a context and its key',
  description: 'Asks on a terminal where the context holds a key; elsewhere --yes is needed.',
  params: { name },
  examples: [{ argv: 'context remove staging', says: 'remove staging' }],
  uses: ['changes'],
  exitCodes: [3],
  run: async ({ name: which }, context) => {
    const store = await context.store();
    const before = store.read();
    removeContext(which, before);
    const { keyStore, keyOrigin } = before.contexts[which] ?? {};
    const hasKey = readKeyOrigin(before.contexts[which] ?? {}) !== undefined;
    const what = `context ${which}${hasKey ? ' and its key' : ''}`;
    if (context.options.dryRun) return showPlan([{ action: 'remove', what, detail: store.path }]);
    if (hasKey) await confirm(`remove ${what}`, context);
    if (keyStore === 'keychain' && keyOrigin !== undefined) await removeKey(which, keyOrigin, context);
    const after = await store.update(context.io, (now) => removeContext(which, now));
    context.note(
      `Context ${which} is removed${Object.hasOwn(presets, which) ? '; the preset of that name stays' : ''}.`,
    );
    if (before.current === which && after.current === undefined)
      context.note('No context is current now: choose one with sotra context use <name>.');
    return { kind: 'none' };
  },
});

async function removeKey(which: string, baseUrl: string, { warn, io }: Context): Promise<void> {
  try {
    const { platform } = io.system;
    await (await import('../../setup/keychain.ts')).deleteKeychain({ name: which, baseUrl, platform });
  } catch (error) {
    warn(`its key stays in the keychain: ${toSotraError(error).message}`);
  }
}

export const commands: readonly Command[] = [list, show, use, set, remove];

/**
 * The settings with one context created or changed; a key it holds stays bound to its origin. Errors: `usage` for a context without a
 * base URL and for the built-in sandbox; those of `checkBaseUrl`.
 */
function setContext(name: string, change: ContextChange, stored: StoredSettings): StoredSettings {
  if (name === 'sandbox')
    throw usageError(
      'context sandbox is built in and cannot be changed',
      'For a sandbox that is served, make another: sotra context set local --preset sandbox --base-url http://127.0.0.1:4010.',
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
  return { ...stored, contexts: { ...stored.contexts, [name]: after } };
}

/** The settings without a context. Errors: `usage` where nothing is stored under the name. */
function removeContext(name: string, stored: StoredSettings): StoredSettings {
  if (!Object.hasOwn(stored.contexts, name)) {
    findContext(name, stored);
    throw usageError(`context ${name} is built in and has nothing stored`);
  }
  const { [name]: _, ...others } = stored.contexts;
  const { current, ...rest } = stored;
  return { ...rest, ...(current === undefined || current === name ? {} : { current }), contexts: others };
}

/** The settings with another current context; `null` for none. Errors: `usage` for an unknown name. */
function useContext(name: string | null, stored: StoredSettings): StoredSettings {
  const { current: _, ...rest } = stored;
  if (name === null) return rest;
  findContext(name, stored);
  return { ...rest, current: name };
}

/** A key that was written by hand belongs to the origin that stood beside it then. */
function withKeyOrigin(context: StoredContext): StoredContext {
  if (context.apiKey === undefined || context.keyOrigin !== undefined || context.baseUrl === undefined) return context;
  return { ...context, keyOrigin: new URL(checkBaseUrl(context.baseUrl)).origin };
}

type ContextEntry = ReturnType<typeof describeContext> & { sources?: Readonly<Record<string, string>> };

/** One context as it is stored; without a name one that holds nothing. */
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

/** What flags, variables and the settings name together, and where each value comes from. Errors: those of `resolveService`. */
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

const storedSources = ['current', 'context', 'preset', 'default', 'sandbox'];

/** What overrides the stored context, and that the rest is from it. */
function describeSources({ name, sources }: ContextEntry): string | null {
  if (sources === undefined) return null;
  const overriding = columns.flatMap(({ key, header }) => {
    const source = sources[key] ?? 'default';
    return storedSources.includes(source) ? [] : [`${header}: ${source}`];
  });
  const rest = name === null ? 'defaults' : `context ${name}`;
  return overriding.length === 0 ? rest : `${overriding.join(', ')}, the rest: ${rest}`;
}

function keyText({ keySuffix, store, keyOrigin, baseUrl, name, sources }: ContextEntry): string | null {
  if (sources?.['key'] === 'SOTRA_API_KEY') return `...${keySuffix}`;
  if (store === null) return name === 'sandbox' ? 'built in' : null;
  const elsewhere = keyOrigin === readOrigin(baseUrl ?? '') ? '' : ` for ${keyOrigin} only`;
  return `...${keySuffix ?? ''} (${store})${elsewhere}`;
}

const baseUrlHelp = 'address of the service; none for the sandbox, which runs inside the command';
const serviceNameHelp = 'first line of the signed text of a comment';
const columns: View<unknown, ContextEntry>['columns'] = [
  column.text('name', 'Context', 'its name'),
  column.flag('current', 'Current', 'used when no context is named', { show: ({ current }) => (current ? 'yes' : '') }),
  column.text('baseUrl', 'Base URL', baseUrlHelp),
  column.text('key', 'Key', 'end of its key and where it is kept', keyText, { cut: true }),
  column.text('serviceName', 'Service name', serviceNameHelp, { drop: 2 }),
  column.text('layout', 'Layout', 'form of the signed text', { drop: 3 }),
  column.text('inbox', 'Inbox', 'where webhook commands store deliveries', { drop: 4, cut: true }),
  column.text('wire', 'Wire names', 'parameters that this deployment calls otherwise', wireText, { cut: true }),
  column.text('sources', 'From', 'where each value comes from, of the context in force', describeSources),
];

function wireText({ wire }: ContextEntry): string | null {
  return Object.keys(wire).length === 0 ? null : JSON.stringify(wire);
}

const listView: View<{ contexts: ContextEntry[] }, ContextEntry> = {
  layout: 'table',
  rows: ({ contexts }) => contexts,
  columns: columns.map((column) =>
    column.key === 'wire' || column.key === 'sources' ? { ...column, extra: true } : column,
  ),
};

const showView = recordView<ContextEntry>(columns);
