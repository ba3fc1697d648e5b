import { userInfo } from 'node:os';
import { join } from 'node:path';
import { SotraError } from '../../errors.ts';
import { type Io, type Lazy, lazy, platformRules } from '../io.ts';
import { needsNoStore, readEnv, resolveService, type Service } from './service.ts';
import type { SettingsStore } from './settings.ts';

/** The settings, and the service that flags, environment and settings name. */
export interface Config {
  /** With `--dry-run` and `--curl` a change is computed, with its errors, and not written. */
  settings: Lazy<SettingsStore>;
  /** With its key. Errors: those of `resolveService`; `config` for settings and keychains that cannot be read. */
  service: Lazy<Service>;
}

interface ConfigOptions {
  context: string | undefined;
  sandbox: boolean;
  baseUrl: string | undefined;
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
