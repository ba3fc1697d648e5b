// A program of its own: a keychain that never answers blocks the thread that asks it.
import { text } from 'node:stream/consumers';
import { absentCode, notInstalledCode } from './lib/config/keychain.ts';

/** The part of @napi-rs/keyring in use; the package is optional, so its types may be absent. */
interface Keyring {
  Entry: new (
    service: string,
    account: string,
    options: { linux: { store: 'secret-service' } },
  ) => {
    getPassword: () => string | null;
    setPassword: (secret: string) => void;
    deletePassword: () => void;
  };
}

// Not a literal, so that compilers and bundlers leave the optional package alone.
const keyringPackage: string = '@napi-rs/keyring';

async function main([action = '', service = '', account = '']: readonly string[]): Promise<number> {
  const loaded = await import(keyringPackage).catch(() => undefined);
  if (loaded === undefined) return notInstalledCode;
  const { Entry } = loaded as Keyring;
  // Without it, Linux falls back to the keys of the kernel, which the next start of the machine forgets.
  const entry = new Entry(service, account, { linux: { store: 'secret-service' } });
  if (action === 'write') entry.setPassword(await text(process.stdin));
  const kept = entry.getPassword();
  if (action === 'remove' && kept !== null) entry.deletePassword();
  if (action === 'read' && kept !== null) process.stdout.write(kept);
  return kept === null ? absentCode : 0;
}

main(process.argv.slice(2)).then(
  (code) => {
    process.exitCode = code;
  },
  (error) => {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
    process.exitCode = 1;
  },
);
