import { assetPath, isSingleFile } from '../files/asset.ts';
import type { System } from '../io.ts';

/** Which secret: the service is always sotra, the account a context at an origin. */
export interface KeychainEntry {
  service: string;
  account: string;
}

/** A program that reads and writes the keychain. A secret is never among its arguments, which others can read. */
export interface KeychainTool {
  name: string;
  program: string;
  read: (entry: KeychainEntry) => readonly string[];
  /** Arguments, and the text for stdin. */
  write: (entry: KeychainEntry, secret: string) => { argv: readonly string[]; input: string };
  remove: (entry: KeychainEntry) => readonly string[];
  /** Whether it ended because there is no such secret. */
  isAbsent: (exitCode: unknown, stderr: string) => boolean;
}

/** errSecItemNotFound, as a program can end with it. */
export const absentCode = 44;
/** Our own code for a package that is missing or does not load. */
export const notInstalledCode = 45;

/** The package @napi-rs/keyring in a Node process of its own. */
const keyring: Omit<KeychainTool, 'program'> = {
  name: '@napi-rs/keyring',
  read: ({ service, account }) => [assetPath('keyring.cjs'), 'read', service, account],
  write: ({ service, account }, secret) => ({
    argv: [assetPath('keyring.cjs'), 'write', service, account],
    input: secret,
  }),
  remove: ({ service, account }) => [assetPath('keyring.cjs'), 'remove', service, account],
  isAbsent: (code) => code === absentCode,
};

/** Of a line that `security -i` reads: the rest of a longer one would be another command. */
const maxLine = 4000;

const security: KeychainTool = {
  name: 'security',
  program: 'security',
  read: ({ service, account }) => ['find-generic-password', '-s', service, '-a', account, '-w'],
  write: ({ service, account }, secret) => {
    const hex = Buffer.from(secret).toString('hex');
    const line = `add-generic-password -U -s ${service} -a "${account.replaceAll(/["\\]/g, '\\$&')}" -X ${hex}\n`;
    if (line.length > maxLine || /\n./.test(line)) throw new Error('the key is too long for it');
    return { argv: ['-i'], input: line };
  },
  remove: ({ service, account }) => ['delete-generic-password', '-s', service, '-a', account],
  isAbsent: (code) => code === absentCode,
};

/** As the package of the keychain names them. */
const attributes = ({ service, account }: KeychainEntry) => ['service', service, 'username', account];

const secretTool: KeychainTool = {
  name: 'secret-tool',
  program: 'secret-tool',
  read: (entry) => ['lookup', ...attributes(entry)],
  write: (entry, secret) => ({
    argv: ['store', `--label=${entry.service}: ${entry.account}`, ...attributes(entry)],
    input: secret,
  }),
  remove: (entry) => ['clear', ...attributes(entry)],
  isAbsent: (code, stderr) => code === 1 && stderr === '',
};

/** The tools of a system in the order to try them: the package, which a single-file program lacks, then the system's own. */
export function keychainTools({ platform, execPath }: Pick<System, 'platform' | 'execPath'>): readonly KeychainTool[] {
  const own = platform === 'darwin' ? [security] : platform === 'linux' ? [secretTool] : [];
  return isSingleFile ? own : [{ ...keyring, program: execPath }, ...own];
}
