import { userInfo } from 'node:os';
import { join } from 'node:path';
import type { WireNames } from '../../api/endpoint.ts';
import { checkBaseUrl, readOrigin, requireSendableKey } from '../../api/http-address.ts';
import type { TextForm } from '../../api/signed-text.ts';
import { command, shellWord } from '../../client/shell.ts';
import { SotraError, usageError } from '../../errors.ts';
import { type Env, type Io, type Lazy, lazy, platformRules } from '../io.ts';
import type { SettingsStore, StoredContext, StoredSettings } from './settings.ts';

/** The settings, and the service that flags, environment and settings name. */
export interface Config {
  /** With `--dry-run` and `--curl` a change is computed, with its errors, and not written. */
  settings: Lazy<SettingsStore>;
  /** With its key. Errors: those of `resolveService`; `config` for settings and keychains that cannot be read. */
  service: Lazy<Service>;
}

interface ConfigOptions extends Choice {
  preview: boolean;
  timeoutMs: number;
}

export function openConfig(io: Io, options: ConfigOptions): Config {
  const settings = lazy(async () => {
    const { openSettings } = await import('./settings.ts');
    const stored = openSettings(configDirectory(io));
    if (!options.preview) return stored;
    return { ...stored, update: async (_, change) => change(stored.read()) } satisfies SettingsStore;
  });
  return { settings, service: lazy(() => findService(io, options, settings)) };
}

async function findService(io: Io, options: ConfigOptions, settings: Config['settings']): Promise<Service> {
  if (needsNoStore(options, io.env)) return resolveService(options, io.env, { contexts: {} });
  const service = resolveService(options, io.env, (await settings()).read());
  const { keyStore, context: name = '', baseUrl } = service;
  if (keyStore !== 'keychain' || options.preview) return service;
  const { readKeychain } = await import('./keychain.ts');
  return { ...service, apiKey: await readKeychain({ name, baseUrl }, { io, options }) };
}

type Layout = TextForm['layout'];

export type KeyStore = NonNullable<StoredContext['keyStore']>;

export interface Service {
  context: string | undefined;
  kind: 'http' | 'sandbox';
  baseUrl: string;
  baseUrlSource: '--base-url' | 'SOTRA_BASE_URL' | 'context' | 'sandbox';
  apiKey: string | null;
  keySource: 'SOTRA_API_KEY' | 'context' | 'sandbox' | null;
  /** The last four characters of the key, also of one in the keychain. */
  keySuffix: string | null;
  /** A key in the keychain is not in `apiKey` until it is fetched. */
  keyStore: KeyStore | null;
  /** The base URL is not on the context's origin. */
  isElsewhere: boolean;
  /** Why a stored key is not used, as a clause after a semicolon. */
  keyProblem: string | undefined;
  serviceName: string | undefined;
  layout: Layout;
  wire: WireNames;
}

/** The last four characters; nothing of a short key. */
export function lastFour(key: string): string {
  return key.length < 8 ? '' : key.slice(-4);
}

const keyPlaces: Record<KeyStore, string> = {
  keychain: 'in the keychain',
  file: 'in the settings file',
};

/** The key without its value: `...1234 from SOTRA_API_KEY`. */
export function describeKey({ keySource, keySuffix, keyStore, context, kind }: Service): string | undefined {
  if (keySource === null) return undefined;
  if (kind === 'sandbox' && keySource === 'sandbox') return "of the sandbox's own";
  const place = keyStore === null ? keySource : `context ${context}, kept ${keyPlaces[keyStore]}`;
  return `...${keySuffix} from ${place}`;
}

/** Contexts that exist without being stored; a stored one of the same name extends them. */
export const presets: Readonly<Record<string, StoredContext>> = {
  sandbox: { serviceName: 'Sandbox', layout: 'five-line' },
  clicker: { baseUrl: 'https://api.clicker.xyz', serviceName: 'Clicker', layout: 'blank-line' },
};

/** The address of the in-process sandbox; nothing listens there. */
const sandboxBaseUrl = 'http://sandbox.localhost';
/** The default address of `sandbox start`. */
export const servedSandboxUrl = 'http://127.0.0.1:4010';
const sandboxKey = 'sandbox-key-a';

/** An empty variable counts as not set, such as a missing CI secret. */
export function readEnv(env: Env, name: string): string | undefined {
  const value = env[name];
  return value === '' ? undefined : value;
}

/** What names a service on the command line. */
interface Choice {
  context: string | undefined;
  sandbox: boolean;
  baseUrl: string | undefined;
}

/**
 * The service in use: flag over environment over context. The key is `SOTRA_API_KEY`, or the context's own on the origin it was stored
 * for. Errors: `no-service`, `insecure-url`, `usage` for an unknown context or a malformed URL.
 */
export function resolveService(choice: Choice, env: Env, stored: StoredSettings): Service {
  const typedUrl = chooseUrl(choice, env);
  const name = chosenContext(choice, env, stored);
  const context = name === undefined ? {} : findContext(name, stored);
  const common = {
    context: name,
    serviceName: context.serviceName,
    layout: context.layout ?? 'five-line',
    wire: context.wire ?? {},
  };
  if (name === 'sandbox' && typedUrl === undefined && context.baseUrl === undefined) {
    const fromEnv = readEnv(env, 'SOTRA_API_KEY');
    const apiKey = fromEnv?.startsWith('sandbox-key-') ? fromEnv : sandboxKey;
    const key = { ...noKey, apiKey, keySource: 'sandbox', keySuffix: lastFour(apiKey) } as const;
    const address = { baseUrl: sandboxBaseUrl, baseUrlSource: 'sandbox', isElsewhere: false } as const;
    return { ...common, kind: 'sandbox', ...address, ...key };
  }
  const baseUrl = typedUrl ?? context.baseUrl;
  if (baseUrl === undefined) throw noService(name);
  const address = checkBaseUrl(baseUrl);
  const isElsewhere = readOrigin(context.baseUrl ?? '') !== readOrigin(address);
  const baseUrlSource =
    choice.baseUrl !== undefined ? '--base-url' : typedUrl === undefined ? 'context' : 'SOTRA_BASE_URL';
  const key = chooseKey(address, context, env);
  return { ...common, kind: 'http', baseUrl: address, baseUrlSource, isElsewhere, ...key };
}

/** The name of the context in use: flag, environment, the current one. */
export function chosenContext(
  { sandbox, context }: Pick<Choice, 'sandbox' | 'context'>,
  env: Env,
  stored: StoredSettings,
): string | undefined {
  return sandbox ? 'sandbox' : (context ?? readEnv(env, 'SOTRA_CONTEXT') ?? stored.current);
}

function chooseUrl({ sandbox, context, baseUrl }: Choice, env: Env): string | undefined {
  return baseUrl ?? (sandbox || context !== undefined ? undefined : readEnv(env, 'SOTRA_BASE_URL'));
}

/** True when flags and environment alone name service and key. */
function needsNoStore(choice: Choice, env: Env): boolean {
  if (choice.sandbox) return true;
  const hasKey = readEnv(env, 'SOTRA_API_KEY') !== undefined;
  const namesContext = chosenContext(choice, env, { contexts: {} }) !== undefined;
  return hasKey && !namesContext && chooseUrl(choice, env) !== undefined;
}

/** A stored context over the preset of its name. Errors: `usage` for an unknown name. */
export function findContext(name: string, stored: StoredSettings): StoredContext {
  const own = Object.hasOwn(stored.contexts, name) ? stored.contexts[name] : undefined;
  const preset = Object.hasOwn(presets, name) ? presets[name] : undefined;
  if (own === undefined && preset === undefined)
    throw usageError(
      `context ${name} does not exist`,
      `Known contexts: ${contextNames(stored).join(', ')}. Make one with sotra context set ${shellWord(name)} --base-url https://...`,
    );
  return { ...preset, ...own };
}

export function contextNames(stored: StoredSettings): string[] {
  return [...new Set([...Object.keys(presets), ...Object.keys(stored.contexts).sort()])];
}

/** The only origin that a context's stored key may be sent to; `undefined` without a key. */
export function readKeyOrigin(context: StoredContext): string | undefined {
  if (context.apiKey === undefined && context.keyStore !== 'keychain') return undefined;
  return context.keyOrigin ?? readOrigin(context.baseUrl ?? '');
}

type Key = Pick<Service, 'apiKey' | 'keySource' | 'keySuffix' | 'keyStore' | 'keyProblem'>;

const noKey: Key = { apiKey: null, keySource: null, keySuffix: null, keyStore: null, keyProblem: undefined };

function chooseKey(baseUrl: string, context: StoredContext, env: Env): Key {
  const fromEnv = readEnv(env, 'SOTRA_API_KEY');
  if (fromEnv !== undefined)
    return { ...noKey, apiKey: requireSendableKey(fromEnv), keySource: 'SOTRA_API_KEY', keySuffix: lastFour(fromEnv) };
  const origin = readKeyOrigin(context);
  if (origin === undefined) return noKey;
  if (origin !== readOrigin(baseUrl))
    return { ...noKey, keyProblem: `the stored one was saved for ${origin} and is not sent elsewhere` };
  const { keyStore = 'file' } = context;
  const apiKey = keyStore === 'file' ? requireSendableKey(context.apiKey ?? '') : null;
  const keySuffix = apiKey === null ? (context.keySuffix ?? '') : lastFour(apiKey);
  return { ...noKey, apiKey, keySource: 'context', keySuffix, keyStore };
}

function noService(name: string | undefined): SotraError {
  const why = name === undefined ? 'no service is configured' : `context ${name} has no base URL`;
  return new SotraError('no-service', why, {
    hint:
      'Choose one: sotra auth login. ' +
      'Or try the built-in sandbox with --sandbox, or set SOTRA_BASE_URL=https://... and SOTRA_API_KEY=...',
  });
}

/** The error of a call without a key, with the way to store one. */
export function missingKeyError({ baseUrl, context, isElsewhere, keyProblem }: Service, details?: unknown): SotraError {
  const { origin } = new URL(baseUrl);
  const why = keyProblem === undefined ? '' : `; ${keyProblem}`;
  const flags = isElsewhere
    ? command` --context <name> --base-url ${baseUrl}`
    : command` --context ${context ?? '<name>'}`;
  return new SotraError('key-missing', `no API key for ${origin}${why}`, {
    hint: `Set SOTRA_API_KEY, or store one with sotra auth login${flags}.`,
    details,
  });
}

type Machine = Pick<Io, 'env' | 'system'>;

/** `SOTRA_CONFIG_DIR`, or the platform's usual place for settings. Errors: `config` for a relative path. */
export function configDirectory(machine: Machine): string {
  return directory(machine, ['SOTRA_CONFIG_DIR', 'XDG_CONFIG_HOME', 'APPDATA'], ['.config']);
}

/** `SOTRA_DATA_DIR`, or the platform's usual place for data. Errors: `config` for a relative path. */
export function dataDirectory(machine: Machine): string {
  return directory(machine, ['SOTRA_DATA_DIR', 'XDG_DATA_HOME', 'LOCALAPPDATA'], ['.local', 'share']);
}

/** The database of the built-in sandbox. Errors: as `dataDirectory`. */
export function sandboxFile(machine: Machine): string {
  return join(dataDirectory(machine), 'sandbox.db');
}

/** Never a path relative to the current folder, where somebody else may have put files. */
function directory(
  { env, system }: Machine,
  [own, xdg, windows]: readonly [string, string, string],
  underHome: readonly string[],
): string {
  const { paths: path, hasAppData, home: variable } = platformRules(system.platform);
  const hint = `Set ${own} to an absolute path.`;
  const named = readEnv(env, own);
  if (named !== undefined) {
    if (path.isAbsolute(named)) return named;
    throw new SotraError('config', `${own} ${named}: must be an absolute path`, { hint });
  }
  // The XDG Base Directory Specification says to ignore relative paths.
  const base = [readEnv(env, xdg), hasAppData ? readEnv(env, windows) : undefined].find(
    (each) => each && path.isAbsolute(each),
  );
  if (base !== undefined) return path.join(base, 'sotra');
  const home = readEnv(env, variable) ?? homeOfUser();
  if (home !== undefined && path.isAbsolute(home)) return path.join(home, ...underHome, 'sotra');
  const why = home === undefined ? 'is not set, and this user has no home folder' : `is ${home}, not an absolute path`;
  throw new SotraError('config', `${variable} ${why}`, { hint });
}

function homeOfUser(): string | undefined {
  try {
    return userInfo().homedir || undefined;
  } catch {
    return undefined;
  }
}
