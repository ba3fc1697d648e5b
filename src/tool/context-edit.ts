import { checkWireNames } from '../contract/wire.ts';
import { usageError } from '../errors.ts';
import { endpoints } from '../resources/index.ts';
import {
  checkBaseUrl,
  findContext,
  type Layout,
  presets,
  type StoredContext,
  type StoredSettings,
} from '../settings/settings.ts';

/** What `context set` was told: a value sets, `null` unsets, absent leaves as it is. */
export interface ContextChange {
  baseUrl?: string | null | undefined;
  serviceName?: string | null | undefined;
  layout?: Layout | null | undefined;
  preset?: string | undefined;
  wire?: Readonly<Record<string, string>> | null | undefined;
}

/**
 * The settings with one context made or changed. A key it holds stays, bound to the origin it was saved for. Errors: `usage` for a context
 * that would have no base URL, for the built-in sandbox, and for wire names that no endpoint has; those of `checkBaseUrl`.
 */
export function setContext(name: string, change: ContextChange, stored: StoredSettings): StoredSettings {
  if (name === 'sandbox')
    throw usageError(
      'context sandbox is built in and cannot be changed',
      'For a sandbox that is served, make another: sotra context set local --preset sandbox --base-url http://127.0.0.1:4010.',
    );
  if (change.wire) checkWireNames(change.wire, endpoints, '--wire');
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

/** The settings without a context; it is no longer the current one either. Errors: `usage` where nothing is stored under the name. */
export function removeContext(name: string, stored: StoredSettings): StoredSettings {
  if (!Object.hasOwn(stored.contexts, name)) {
    findContext(name, stored);
    throw usageError(`context ${name} is built in and has nothing stored`);
  }
  const { [name]: _, ...others } = stored.contexts;
  const { current, ...rest } = stored;
  return { ...rest, ...(current === undefined || current === name ? {} : { current }), contexts: others };
}

/** The settings in which a context is the one used when none is named; `null` for none. Errors: `usage` for an unknown name. */
export function useContext(name: string | null, stored: StoredSettings): StoredSettings {
  const { current: _, ...rest } = stored;
  if (name === null) return rest;
  findContext(name, stored);
  return { ...rest, current: name };
}

/** A key that was written by hand belongs to the origin that stood beside it then, not to the one that comes now. */
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
