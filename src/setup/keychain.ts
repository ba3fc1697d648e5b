import { readMessage, SotraError } from '../errors.ts';
import { isSingleFile } from '../files/asset.ts';
import { command } from '../model/shell.ts';
import { readOrigin } from './settings.ts';

/** The part of @napi-rs/keyring in use; the package is optional, so its types may be absent. */
interface Keyring {
  Entry: new (
    service: string,
    account: string,
    options: { linux: { store: 'secret-service' } },
  ) => { getPassword: () => string | null; setPassword: (key: string) => void; deletePassword: () => boolean };
}

const keychainService = 'sotra';
// Not a literal, so that compilers and bundlers leave the optional package alone.
const keyringPackage: string = '@napi-rs/keyring';

/** Of which context, and for the origin of which address. */
interface KeychainPlace {
  name: string;
  baseUrl: string;
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
  { name, baseUrl }: KeychainPlace,
  act: (entry: InstanceType<Keyring['Entry']>) => T,
): Promise<T> {
  const { Entry } = await loadKeyring();
  try {
    // Without it, Linux falls back to the keys of the kernel, which the next start of the machine forgets.
    const durable = { linux: { store: 'secret-service' } } as const;
    return act(new Entry(keychainService, `${name}@${readOrigin(baseUrl) ?? baseUrl}`, durable));
  } catch (cause) {
    throw new SotraError('config', `cannot ${what} the key in the keychain: ${readMessage(cause)}`, {
      hint: 'Unlock the keychain, keep the key in a file with sotra auth login --store file, or set SOTRA_API_KEY.',
      cause,
    });
  }
}

async function loadKeyring(): Promise<Keyring> {
  try {
    return (await import(keyringPackage)) as Keyring;
  } catch (cause) {
    throw new SotraError(
      'config',
      `the keychain needs the package ${keyringPackage}, which is not installed or does not load here`,
      {
        hint: isSingleFile
          ? 'It is for sotra as installed by npm. Keep the key in a file with sotra auth login --store file.'
          : `Install it beside sotra (npm install --global ${keyringPackage}), or keep the key in a file with --store file.`,
        cause,
      },
    );
  }
}
