import { type ExecFileException, execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { readOrigin } from '../../api/http-address.ts';
import { command } from '../../client/shell.ts';
import { readMessage, SotraError } from '../../errors.ts';
import { assetPath, isSingleFile } from '../files/asset.ts';
import { childEnv, type Io, type System } from '../io.ts';
import type { StoredContext } from './settings.ts';

/** Of which context, for the origin of which address. */
export interface KeychainAccount {
  name: string;
  baseUrl: string;
}

export interface KeychainAsker {
  io: Pick<Io, 'env' | 'signal' | 'system'>;
  options: { timeoutMs: number };
}

/** The key of a context, stored for the origin of its base URL. Errors: `config` if the keychain cannot be used or has none; `interrupted`. */
export async function readKeychain(account: KeychainAccount, asker: KeychainAsker): Promise<string> {
  const key = await withTool('read', account, asker, (tool, entry) => askTool(tool, tool.read(entry), asker));
  if (key !== undefined && key !== '') return key;
  throw new SotraError('config', `the keychain holds no key for context ${account.name}`, {
    hint: command`Store it again with sotra auth login --context ${account.name}, or set SOTRA_API_KEY.`,
  });
}

/** Why the keychain cannot be used; `undefined` if it can. Errors: `config` if it does not answer; `interrupted`. */
export async function keychainProblem(account: KeychainAccount, asker: KeychainAsker): Promise<string | undefined> {
  try {
    await withTool('read', account, asker, (tool, entry) => askTool(tool, tool.read(entry), asker));
    return undefined;
  } catch (error) {
    if (error instanceof SotraError && error.cause === undefined) throw error;
    return readMessage(error);
  }
}

/** Stores a key and reads it back: some keychains accept a key and do not keep it. Errors: as `readKeychain`. */
export async function writeKeychain(account: KeychainAccount, key: string, asker: KeychainAsker): Promise<void> {
  await withTool('write', account, asker, async (tool, entry) => {
    const { argv, input } = tool.write(entry, key);
    await askTool(tool, argv, asker, input);
    if ((await askTool(tool, tool.read(entry), asker)) !== key) throw new Error('it does not return what was written');
  });
}

/** Removes the key of a context from the keychain, unless the context is changed to one that still uses it. Errors: as `readKeychain`. */
export async function removeFromKeychain(
  name: string,
  { keyStore, keyOrigin, keySuffix = '' }: StoredContext,
  asker: KeychainAsker & { note: (text: string) => void },
  changed: StoredContext = {},
): Promise<void> {
  if (keyStore !== 'keychain' || keyOrigin === undefined) return;
  if (changed.keyStore === 'keychain' && changed.keyOrigin === keyOrigin) return;
  const account = { name, baseUrl: keyOrigin };
  await withTool('delete', account, asker, (tool, entry) => askTool(tool, tool.remove(entry), asker));
  asker.note(`Removed the key ...${keySuffix} for ${keyOrigin} from the keychain.`);
}

/** The result of `act` with the first tool that is installed. */
async function withTool<T>(
  what: 'read' | 'write' | 'delete',
  { name, baseUrl }: KeychainAccount,
  { io }: KeychainAsker,
  act: (tool: KeychainTool, entry: KeychainEntry) => Promise<T>,
): Promise<T> {
  const tools = keychainTools(io.system);
  const entry = { service: 'sotra', account: `${name}@${readOrigin(baseUrl) ?? baseUrl}` };
  try {
    for (const tool of tools) {
      try {
        return await act(tool, entry);
      } catch (error) {
        if (!(error instanceof NotInstalled)) throw error;
      }
    }
    const names = tools.map((tool) => tool.name).join(' or ') || 'a package';
    throw new NotInstalled(`it needs ${names}, which is not installed`);
  } catch (cause) {
    if (cause instanceof SotraError) throw cause;
    const why = readMessage(cause).replace(/^.*\bD-?Bus\b.*$/is, 'no desktop session (D-Bus) is running');
    throw new SotraError('config', `cannot ${what} the key in the keychain: ${why}`, {
      hint: 'Unlock the keychain, keep the key in a file with sotra auth login --store file, or set SOTRA_API_KEY.',
      cause,
    });
  }
}

class NotInstalled extends Error {}

const maxWaitMs = 5000;
const execute = promisify(execFile);

/** The output of a tool; `undefined` if there is no such secret. Errors: its message; `config` if it does not answer; `interrupted`. */
async function askTool(
  tool: KeychainTool,
  argv: readonly string[],
  { io, options }: KeychainAsker,
  input = '',
): Promise<string | undefined> {
  const timeout = Math.min(options.timeoutMs, maxWaitMs);
  const running = execute(tool.program, argv, {
    env: childEnv(io.env),
    signal: io.signal,
    timeout,
    killSignal: 'SIGKILL',
  });
  // A tool that reads nothing closes the pipe.
  running.child.stdin?.on('error', () => undefined);
  running.child.stdin?.end(input);
  try {
    return (await running).stdout.replace(/\n$/, '');
  } catch (cause) {
    const { code, killed, stderr = '' } = cause as ExecFileException;
    if (io.signal.aborted) throw new SotraError('interrupted', 'interrupted while waiting for the keychain');
    if (killed) throw noAnswer(timeout);
    if (tool.isAbsent(code, stderr)) return undefined;
    if (code === 'ENOENT' || code === notInstalledCode) throw new NotInstalled();
    throw new Error(stderr.trim().split('\n').at(-1) || `${tool.name} ended with ${code ?? 'a signal'}`);
  }
}

function noAnswer(waitedMs: number): SotraError {
  return new SotraError('config', `the keychain did not answer within ${waitedMs / 1000} s`, {
    hint: 'Unlock it, set SOTRA_API_KEY, or keep the key in a file with sotra auth login --store file.',
  });
}

/** Which secret: the service is always sotra, the account a context at an origin. */
interface KeychainEntry {
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
