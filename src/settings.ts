import type { WireNames } from './api/endpoint.ts';
import { SotraError, usageError } from './errors.ts';

/** The form of the signed text of a comment. */
export const layouts = ['five-line', 'blank-line'] as const;
export type Layout = (typeof layouts)[number];

/** What a context stores. */
export interface StoredContext {
  baseUrl?: string;
  apiKey?: string;
  serviceName?: string;
  layout?: Layout;
  wire?: WireNames;
}

export interface StoredSettings {
  current?: string;
  contexts: Readonly<Record<string, StoredContext>>;
}

/** The service a command speaks to, with where each part came from. */
export interface Service {
  context: string | undefined;
  kind: 'http' | 'sandbox';
  baseUrl: string;
  apiKey: string | null;
  keySource: 'SOTRA_API_KEY' | 'context' | 'sandbox' | null;
  serviceName: string | undefined;
  layout: Layout;
  wire: WireNames;
}

/** Contexts that exist without being stored; a stored one of the same name extends them. */
export const presets: Readonly<Record<string, StoredContext>> = {
  sandbox: { serviceName: 'Sandbox', layout: 'five-line' },
  clicker: { baseUrl: 'https://api.clicker.xyz', serviceName: 'Clicker', layout: 'blank-line' },
};

/** The address that stands for the in-process sandbox; nothing listens there. */
export const sandboxBaseUrl = 'http://sandbox.localhost';
const sandboxKey = 'sandbox-key-a';

export type Env = Readonly<Record<string, string | undefined>>;

/** A variable's value; an empty one counts as not set, as it does for a CI secret that is missing. Never throws. */
export function readEnv(env: Env, name: string): string | undefined {
  const value = env[name];
  return value === '' ? undefined : value;
}

interface Choice {
  context: string | undefined;
  sandbox: boolean;
  baseUrl: string | undefined;
}

/**
 * The service that flags, environment and stored contexts name: flag over environment over context. The key is
 * `SOTRA_API_KEY`, or the context's own where the base URL is on the origin it was saved for. Errors: `no-service` when nothing names a
 * service, `insecure-url`, `usage` for an unknown context or a malformed URL.
 */
export function resolveService(choice: Choice, env: Env, stored: StoredSettings): Service {
  const typedUrl =
    choice.baseUrl ?? (choice.sandbox || choice.context !== undefined ? undefined : readEnv(env, 'SOTRA_BASE_URL'));
  const name = choice.sandbox ? 'sandbox' : (choice.context ?? readEnv(env, 'SOTRA_CONTEXT') ?? stored.current);
  const context = name === undefined ? {} : readContext(name, stored);
  const common = {
    context: name,
    serviceName: context.serviceName,
    layout: context.layout ?? 'five-line',
    wire: context.wire ?? {},
  };
  if (name === 'sandbox' && typedUrl === undefined && context.baseUrl === undefined) {
    const fromEnv = readEnv(env, 'SOTRA_API_KEY');
    const apiKey = fromEnv?.startsWith('sandbox-key-') ? fromEnv : sandboxKey;
    return { ...common, kind: 'sandbox', baseUrl: sandboxBaseUrl, apiKey, keySource: 'sandbox' };
  }
  const baseUrl = typedUrl ?? context.baseUrl;
  if (baseUrl === undefined) throw noService(name);
  const address = checkBaseUrl(baseUrl);
  return { ...common, kind: 'http', baseUrl: address, ...keyFor(address, context, env) };
}

/** True when flags and environment alone name service and key, so that stored settings need not be read. Never throws. */
export function needsNoStore(choice: Choice, env: Env): boolean {
  if (choice.sandbox) return true;
  const url = choice.baseUrl ?? (choice.context === undefined ? readEnv(env, 'SOTRA_BASE_URL') : undefined);
  return (
    url !== undefined &&
    readEnv(env, 'SOTRA_API_KEY') !== undefined &&
    choice.context === undefined &&
    !readEnv(env, 'SOTRA_CONTEXT')
  );
}

function readContext(name: string, stored: StoredSettings): StoredContext {
  const own = Object.hasOwn(stored.contexts, name) ? stored.contexts[name] : undefined;
  const preset = Object.hasOwn(presets, name) ? presets[name] : undefined;
  if (own === undefined && preset === undefined) {
    const known = [...new Set([...Object.keys(presets), ...Object.keys(stored.contexts)])].join(', ');
    throw usageError(
      `context ${name} does not exist`,
      `Known contexts: ${known}. Make one with sotra context set ${name}.`,
    );
  }
  return { ...preset, ...own };
}

function keyFor(baseUrl: string, context: StoredContext, env: Env): Pick<Service, 'apiKey' | 'keySource'> {
  const fromEnv = readEnv(env, 'SOTRA_API_KEY');
  if (fromEnv !== undefined) return { apiKey: checkKey(fromEnv), keySource: 'SOTRA_API_KEY' };
  const sameOrigin = context.baseUrl !== undefined && new URL(context.baseUrl).origin === new URL(baseUrl).origin;
  if (context.apiKey !== undefined && sameOrigin) return { apiKey: checkKey(context.apiKey), keySource: 'context' };
  return { apiKey: null, keySource: null };
}

function checkKey(key: string): string {
  if (/^[\x21-\x7e]+$/.test(key)) return key;
  throw new SotraError('config', 'the API key holds spaces, line ends or characters outside ASCII', {
    hint: 'Set it again without the surrounding text, e.g. SOTRA_API_KEY="$(cat key.txt)".',
  });
}

function noService(name: string | undefined): SotraError {
  const why = name === undefined ? 'no service is configured' : `context ${name} has no base URL`;
  return new SotraError('no-service', why, {
    hint:
      'Try the built-in sandbox with --sandbox, or name the service: ' +
      'SOTRA_BASE_URL=https://... and SOTRA_API_KEY=... (or sotra context set <name> --base-url https://...).',
  });
}

/**
 * The base URL without a slash at its end. Errors: `usage` where it is not an http(s) URL or carries a user, query or fragment;
 * `insecure-url` for plain http off this machine.
 */
export function checkBaseUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !['http:', 'https:'].includes(url.protocol))
    throw usageError(`base URL ${text}: must be an address such as https://api.example.com`);
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '')
    throw usageError(`base URL ${url.origin}${url.pathname}: must not carry a user, a query or a fragment`);
  if (url.protocol === 'http:' && !isLoopback(url.hostname))
    throw new SotraError('insecure-url', `base URL ${text}: plain http would send the API key in the clear`, {
      hint: `Use https://${url.host}; http is allowed to this machine only (localhost, 127.0.0.1, [::1]).`,
    });
  return url.href.replace(/\/+$/, '');
}

/** True for a host name that cannot leave this machine. Never throws. */
export function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname);
}
