import { usageError } from '../errors.ts';
import { checkBaseUrl } from '../model/http-address.ts';
import { column } from '../output/columns.ts';
import type { View } from '../output/view.ts';
import {
  findContext,
  type KeyStore,
  keyOriginOf,
  type Layout,
  lastFour,
  originOf,
  presets,
  type StoredContext,
  type StoredSettings,
} from '../settings/settings.ts';

/** A value sets, `null` removes, absent leaves as it is. */
export interface ContextChange {
  baseUrl?: string | null | undefined;
  serviceName?: string | null | undefined;
  layout?: Layout | null | undefined;
  preset?: string | undefined;
  wire?: Readonly<Record<string, string>> | null | undefined;
}

/**
 * The settings with one context created or changed; a key it holds stays bound to its origin. Errors: `usage` for a context without a
 * base URL and for the built-in sandbox; those of `checkBaseUrl`.
 */
export function setContext(name: string, change: ContextChange, stored: StoredSettings): StoredSettings {
  if (name === 'sandbox')
    throw usageError(
      'context sandbox is built in and cannot be changed',
      'For a sandbox that is served, make another: sotra context set local --preset sandbox --base-url http://127.0.0.1:4010.',
    );
  const before: StoredContext = stored.contexts[name] ?? {};
  const preset = change.preset === undefined ? {} : (presets[change.preset] ?? {});
  const given = {
    baseUrl: typeof change.baseUrl === 'string' ? checkBaseUrl(change.baseUrl) : change.baseUrl,
    serviceName: change.serviceName,
    layout: change.layout,
    wire: change.wire,
  };
  const after = dropNulls({ ...withKeyOrigin(before), ...preset, ...dropUndefined(given) });
  if (after.baseUrl === undefined && presets[name]?.baseUrl === undefined)
    throw usageError(
      `context ${name} needs a base URL`,
      `sotra context set ${name} --base-url https://api.example.com`,
    );
  return { ...stored, contexts: { ...stored.contexts, [name]: after } };
}

/** The settings without a context. Errors: `usage` where nothing is stored under the name. */
export function removeContext(name: string, stored: StoredSettings): StoredSettings {
  if (!Object.hasOwn(stored.contexts, name)) {
    findContext(name, stored);
    throw usageError(`context ${name} is built in and has nothing stored`);
  }
  const { [name]: _, ...others } = stored.contexts;
  const { current, ...rest } = stored;
  return { ...rest, ...(current === undefined || current === name ? {} : { current }), contexts: others };
}

/** The settings with another current context; `null` for none. Errors: `usage` for an unknown name. */
export function useContext(name: string | null, stored: StoredSettings): StoredSettings {
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

function dropUndefined(values: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}

function dropNulls(values: Readonly<Record<string, unknown>>): StoredContext {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null));
}

/** A context without its key. */
export interface ContextEntry {
  name: string;
  current: boolean;
  builtIn: boolean;
  baseUrl: string | null;
  serviceName: string | null;
  layout: string;
  wire: Readonly<Record<string, string>>;
  keySuffix: string | null;
  store: KeyStore | null;
  /** The only origin the key is sent to. */
  keyOrigin: string | null;
}

/** Errors: `usage` for an unknown name. */
export function contextEntry(name: string, current: string | undefined, stored: StoredSettings): ContextEntry {
  const context = findContext(name, stored);
  const keyOrigin = keyOriginOf(context) ?? null;
  const store = keyOrigin === null ? null : (context.keyStore ?? 'file');
  return {
    name,
    current: name === current,
    builtIn: Object.hasOwn(presets, name),
    baseUrl: context.baseUrl ?? null,
    serviceName: context.serviceName ?? null,
    layout: context.layout ?? 'five-line',
    wire: context.wire ?? {},
    keySuffix: store === 'file' ? lastFour(context.apiKey ?? '') : (context.keySuffix ?? null),
    store,
    keyOrigin,
  };
}

function keyText({ keySuffix, store, keyOrigin, baseUrl, name }: ContextEntry): string | null {
  if (store === null) return name === 'sandbox' ? 'built in' : null;
  const elsewhere = keyOrigin === originOf(baseUrl ?? '') ? '' : ` for ${keyOrigin} only`;
  return `...${keySuffix ?? ''} (${store})${elsewhere}`;
}

const baseUrlHelp = 'address of the service; none for the sandbox, which runs inside the command';
const serviceNameHelp = 'first line of the signed text of a comment';
const columns: View<unknown, ContextEntry>['columns'] = [
  column.text('name', 'Context', 'its name'),
  column.flag('current', 'Current', 'used when no context is named', {
    show: ({ current }) => (current ? 'yes' : ''),
  }),
  column.text('baseUrl', 'Base URL', baseUrlHelp),
  column.text('key', 'Key', 'end of its key and where it is kept', keyText, { cut: 'end' }),
  column.text('serviceName', 'Service name', serviceNameHelp, { drop: 2 }),
  column.text('layout', 'Layout', 'form of the signed text', { drop: 3 }),
  column.text('wire', 'Wire names', 'parameters that this deployment calls otherwise', wireText, { cut: 'end' }),
];

function wireText({ wire }: ContextEntry): string | null {
  return Object.keys(wire).length === 0 ? null : JSON.stringify(wire);
}

export const listView: View<{ contexts: ContextEntry[] }, ContextEntry> = {
  layout: 'table',
  rows: ({ contexts }) => contexts,
  columns: columns.map((column) => (column.key === 'wire' ? { ...column, extra: true } : column)),
};

export const showView: View<ContextEntry, ContextEntry> = { layout: 'record', rows: (entry) => [entry], columns };
