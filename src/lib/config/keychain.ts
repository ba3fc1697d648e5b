import { command } from '../../client/shell.ts';
import { readMessage, SotraError } from '../../errors.ts';
import { findKeychainTool, type KeychainEntry, keychainToolName } from './keychain-tool.ts';
import { readOrigin } from './settings.ts';

/** The part of @napi-rs/keyring in use; the package is optional, so its types may be absent. */
interface Keyring {
  Entry: new (service: string, account: string, options: { linux: { store: 'secret-service' } }) => KeychainEntry;
}

const keychainService = 'sotra';
// Not a literal, so that compilers and bundlers leave the optional package alone.
const keyringPackage: string = '@napi-rs/keyring';

/** Of which context, for the origin of which address, and on which system. */
interface KeychainPlace {
  name: string;
  baseUrl: string;
  platform: string;
}

/** The key of a context, stored for the origin of its base URL. Errors: `config` when the keychain cannot be used or has none. */
export async function readKeychain(place: KeychainPlace): Promise<string> {
  const key = await withEntry('read', place, (entry) => entry.getPassword());
  if (typeof key === 'string' && key !== '') return key;
  throw new SotraError('config', `the keychain holds no key for context ${place.name}`, {
    hint: command`Store it again with sotra auth login --context ${place.name}, or set SOTRA_API_KEY.`,
  });
}

/** Why the keychain of this machine cannot be used; `undefined` where it can. */
export async function keychainProblem(place: KeychainPlace): Promise<string | undefined> {
  return withEntry('read', place, (entry) => entry.getPassword()).then(() => undefined, readMessage);
}

/** Stores a key and reads it back: some keychains accept what they do not keep. Errors: `config`. */
export async function writeKeychain(place: KeychainPlace, key: string): Promise<void> {
  await withEntry('write', place, (entry) => {
    entry.setPassword(key);
    if (entry.getPassword() !== key) throw new Error('it does not give back what was written');
  });
}

export async function deleteKeychain(place: KeychainPlace): Promise<void> {
  await withEntry('delete', place, (entry) => {
    try {
      entry.deletePassword();
    } catch (error) {
      if (entry.getPassword() !== null) throw error;
    }
  });
}

async function withEntry<T>(
  what: 'read' | 'write' | 'delete',
  { name, baseUrl, platform }: KeychainPlace,
  act: (entry: KeychainEntry) => T,
): Promise<T> {
  const open = await loadKeychain(platform);
  try {
    return act(open(`${name}@${readOrigin(baseUrl) ?? baseUrl}`));
  } catch (cause) {
    throw new SotraError('config', `cannot ${what} the key in the keychain: ${readMessage(cause)}`, {
      hint: 'Unlock the keychain, keep the key in a file with sotra auth login --store file, or set SOTRA_API_KEY.',
      cause,
    });
  }
}

/** The keychain by the package, or, where that is not installed or cannot be (in a single file), by the tool of the system. */
async function loadKeychain(platform: string): Promise<(account: string) => KeychainEntry> {
  try {
    const { Entry } = (await import(keyringPackage)) as Keyring;
    // Without it, Linux falls back to the keys of the kernel, which the next start of the machine forgets.
    return (account) => new Entry(keychainService, account, { linux: { store: 'secret-service' } });
  } catch (cause) {
    const open = findKeychainTool(platform, keychainService);
    if (open !== undefined) return open;
    const tool = keychainToolName(platform);
    const either = tool === undefined ? '' : `${tool} or `;
    throw new SotraError(
      'config',
      `the keychain needs ${either}the package ${keyringPackage}, which does not load here`,
      {
        hint: `Install ${tool ?? 'it beside sotra, as npm installs it'}, or keep the key in a file with --store file.`,
        cause,
      },
    );
  }
}
