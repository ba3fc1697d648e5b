import type { Io } from '../io.ts';
import { type Lazy, lazy } from '../lazy.ts';
import { configDirectory } from './directories.ts';
import { needsNoStore, resolveService, type Service } from './settings.ts';
import type { SettingsStore } from './store.ts';

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
    const { openSettings } = await import('./store.ts');
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
