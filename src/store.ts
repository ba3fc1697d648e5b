import { chmodSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import Conf from 'conf';
import { SotraError } from './errors.ts';
import { type Env, readEnv, type StoredSettings } from './settings.ts';

/** Where settings and the sandbox's state live: `SOTRA_CONFIG_DIR`, `SOTRA_DATA_DIR`, or the platform's usual places. Never throws. */
export function directories(env: Env): { config: string; data: string } {
  const home = readEnv(env, 'HOME') ?? readEnv(env, 'USERPROFILE') ?? '.';
  const windows = readEnv(env, 'APPDATA');
  const config = readEnv(env, 'XDG_CONFIG_HOME') ?? windows ?? join(home, '.config');
  const data = readEnv(env, 'XDG_DATA_HOME') ?? readEnv(env, 'LOCALAPPDATA') ?? join(home, '.local', 'share');
  return {
    config: readEnv(env, 'SOTRA_CONFIG_DIR') ?? join(config, 'sotra'),
    data: readEnv(env, 'SOTRA_DATA_DIR') ?? join(data, 'sotra'),
  };
}

export interface Store {
  path: string;
  read: () => StoredSettings;
  write: (settings: StoredSettings) => void;
}

/**
 * The stored settings: one JSON file, mode 0600, replaced atomically. Errors: `config` (exit 3) naming the file when it cannot be
 * read or written; a damaged file is left as it is.
 */
export function openStore(directory: string): Store {
  const path = join(directory, 'config.json');
  const attempt = <T>(what: string, act: () => T): T => {
    try {
      return act();
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause);
      throw new SotraError('config', `cannot ${what} the settings in ${path}: ${why}`, {
        hint: 'Check the file and its folder, or choose another with SOTRA_CONFIG_DIR.',
        cause,
      });
    }
  };
  const open = () =>
    new Conf<{ current?: string; contexts: StoredSettings['contexts'] }>({
      cwd: directory,
      configName: 'config',
      configFileMode: 0o600,
      accessPropertiesByDotNotation: false,
      clearInvalidConfig: false,
      defaults: { contexts: {} },
    });
  return {
    path,
    read: () => {
      if (!existsSync(path)) return { contexts: {} };
      const stored = attempt('read', () => open().store);
      return checkStored(path, stored);
    },
    write: (settings) =>
      attempt('write', () => {
        open().store = { ...settings };
        chmodSync(path, 0o600);
      }),
  };
}

function checkStored(path: string, stored: unknown): StoredSettings {
  const contexts = (stored as { contexts?: unknown } | null)?.contexts;
  if (typeof contexts === 'object' && contexts !== null && !Array.isArray(contexts)) return stored as StoredSettings;
  throw new SotraError('config', `the settings in ${path} are damaged: contexts is not an object`, {
    hint: 'Correct the file, or move it away and set the contexts again.',
  });
}
