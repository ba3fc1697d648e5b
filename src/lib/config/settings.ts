import { chmodSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { layouts } from '../../api/formats.ts';
import { byName, isObject, parseJson } from '../../api/json.ts';
import { readMessage, SotraError } from '../../errors.ts';
import { type LockIo, withLock } from '../files/database.ts';
import { makeFolder, readStateBytes, removeOldDrafts, syncFolder } from '../files/durable-file.ts';
import { decodeText } from '../files/source.ts';

/** The layout of the file; default: this one. */
const version = 1;

export interface SettingsStore {
  path: string;
  read: () => StoredSettings;
  /** Changes the settings while no other process can, and returns them; `change` may throw. */
  update: (io: LockIo, change: (settings: StoredSettings) => StoredSettings) => Promise<StoredSettings>;
}

/**
 * The stored settings: one JSON file, mode 0600, replaced atomically, changed by one process at a time. Errors: `config` naming a file
 * that cannot be read or written, `locked`; a damaged file stays as it is.
 */
export function openSettings(directory: string): SettingsStore {
  const path = join(directory, 'config.json');
  const read = (): StoredSettings => {
    try {
      return checkStored(parseJson(decodeText(readStateBytes(path), path)));
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return checkStored({});
      throw failure('read', path, cause);
    }
  };
  return {
    path,
    read,
    update: async (io, change) => {
      try {
        makeFolder(directory);
        return await withLock(join(directory, 'config.lock'), io, async () => {
          const { default: Conf } = await import('conf');
          const settings = change(read());
          const file = new Conf<Record<string, unknown>>({
            cwd: directory,
            configName: 'config',
            configFileMode: 0o600,
            clearInvalidConfig: false,
            deserialize: (text) => JSON.parse(text.replace(/^\uFEFF/, '')),
          });
          file.store = { ...settings, version };
          chmodSync(path, 0o600);
          syncFolder(directory);
          removeOldDrafts(directory, statSync(path).mtimeMs);
          return settings;
        });
      } catch (cause) {
        if (cause instanceof SotraError || io.signal.aborted) throw cause;
        throw failure('write', path, cause);
      }
    },
  };
}

/** The settings of a service. */
const contextSchema = z.object({
  baseUrl: z.string().optional(),
  apiKey: z.string().optional(),
  /** Default: `file`, if there is a key. */
  keyStore: z.enum(['keychain', 'file']).optional(),
  /** The origin the key was stored for; default: the origin of `baseUrl`. */
  keyOrigin: z.string().optional(),
  /** The last four characters of a key that is not in `apiKey`. */
  keySuffix: z.string().optional(),
  serviceName: z.string().optional(),
  layout: z.enum(layouts).optional(),
  wire: z.record(z.string(), z.string()).optional(),
  /** Where deliveries are stored, if not locally. */
  inbox: z.string().optional(),
  /** The file with the credentials for it. */
  inboxCreds: z.string().optional(),
});

export type StoredContext = z.output<typeof contextSchema>;

/** The stored settings; other versions may have stored more. */
const settingsSchema = z.object({
  current: z.string().optional(),
  contexts: z.record(z.string(), contextSchema),
  aliases: z.record(z.string(), z.string()).optional(),
});

export type StoredSettings = z.output<typeof settingsSchema>;

/** The settings as they are stored, with fields that this version does not know. Throws an error without values, which may be keys. */
function checkStored(stored: unknown): StoredSettings {
  if (!isObject(stored)) throw new Error('it is not an object');
  const { contexts = {}, aliases, version: layout = version } = stored;
  if (typeof layout !== 'number') throw new Error('version is not a number');
  if (layout > version) throw new Error(`it was written by a newer sotra (layout ${layout})`);
  const [issue] = settingsSchema.safeParse({ ...stored, contexts }).error?.issues ?? [];
  if (issue !== undefined)
    throw new Error(`${issue.path.join('.')}: ${'expected' in issue ? `expected ${issue.expected}` : issue.message}`);
  return {
    ...stored,
    contexts: byName(Object.entries(contexts as StoredSettings['contexts'])),
    ...(aliases !== undefined && { aliases: byName(Object.entries(aliases as Record<string, string>)) }),
  };
}

function failure(what: 'read' | 'write', path: string, cause: unknown): SotraError {
  // The parser's message would quote the file, perhaps a key.
  const why = cause instanceof SyntaxError ? 'it is not JSON' : readMessage(cause);
  return new SotraError('config', `cannot ${what} the settings in ${path}: ${why}`, {
    hint: 'Correct the file or move it away, or choose another folder with SOTRA_CONFIG_DIR.',
    cause,
  });
}
