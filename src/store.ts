import { chmodSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
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
  write: (settings: StoredSettings) => Promise<void>;
}

/**
 * The stored settings: one JSON file, mode 0600, replaced atomically. Errors: `config` (exit 3) naming the file when it cannot be
 * read or written; a damaged file is left as it is.
 */
export function openStore(directory: string): Store {
  const path = join(directory, 'config.json');
  return {
    path,
    read: () => {
      try {
        return checkStored(JSON.parse(readFileSync(path, 'utf8')));
      } catch (cause) {
        if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return { contexts: {} };
        throw failure('read', path, cause);
      }
    },
    write: async (settings) => {
      try {
        const { default: Conf } = await import('conf');
        const file = new Conf<Record<string, unknown>>({
          cwd: directory,
          configName: 'config',
          configFileMode: 0o600,
          clearInvalidConfig: false,
        });
        file.store = { ...settings };
        chmodSync(path, 0o600);
      } catch (cause) {
        throw failure('write', path, cause);
      }
    },
  };
}

function checkStored(stored: unknown): StoredSettings {
  if (!isObject(stored)) throw new Error('it is not an object');
  const { contexts = {} } = stored as { contexts?: unknown };
  if (!isObject(contexts)) throw new Error('contexts is not an object');
  return { ...stored, contexts: contexts as StoredSettings['contexts'] };
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function failure(what: 'read' | 'write', path: string, cause: unknown): SotraError {
  const why = cause instanceof Error ? cause.message : String(cause);
  return new SotraError('config', `cannot ${what} the settings in ${path}: ${why}`, {
    hint: 'Correct the file or move it away, or choose another folder with SOTRA_CONFIG_DIR.',
    cause,
  });
}
