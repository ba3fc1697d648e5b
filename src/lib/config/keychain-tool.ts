import { type SpawnSyncReturns, spawnSync } from 'node:child_process';

/** One secret in the keychain of the system; `null` where there is none. */
export interface KeychainEntry {
  getPassword: () => string | null;
  setPassword: (secret: string) => void;
  deletePassword: () => void;
}

/** The program of a system that reads and writes its keychain. A secret is never among its arguments, which others can read. */
interface KeychainTool {
  name: string;
  read: (place: Place) => readonly string[];
  /** Arguments, and what is written to the program. */
  write: (place: Place, secret: string) => readonly [argv: readonly string[], input: string];
  remove: (place: Place) => readonly string[];
  /** Whether it ended because there is no such secret. */
  isAbsent: (ran: SpawnSyncReturns<string>) => boolean;
}

interface Place {
  service: string;
  account: string;
}

/** Of a line that `security -i` reads: the rest of a longer one would be another command. */
const maxLine = 4000;

const tools: Readonly<Record<string, KeychainTool>> = {
  darwin: {
    name: 'security',
    read: ({ service, account }) => ['find-generic-password', '-s', service, '-a', account, '-w'],
    write: ({ service, account }, secret) => {
      const hex = Buffer.from(secret).toString('hex');
      const line = `add-generic-password -U -s ${service} -a "${account.replaceAll(/["\\]/g, '\\$&')}" -X ${hex}\n`;
      if (line.length > maxLine || /\n./.test(line)) throw new Error('the key is too long for it');
      return [['-i'], line];
    },
    remove: ({ service, account }) => ['delete-generic-password', '-s', service, '-a', account],
    // errSecItemNotFound, as a program can end with it.
    isAbsent: ({ status }) => status === 44,
  },
  linux: {
    name: 'secret-tool',
    read: (place) => ['lookup', ...attributes(place)],
    write: (place, secret) => [['store', `--label=${place.service}: ${place.account}`, ...attributes(place)], secret],
    remove: (place) => ['clear', ...attributes(place)],
    isAbsent: ({ status, stderr }) => status === 1 && stderr === '',
  },
};

/** As the package of the keychain names them. */
const attributes = ({ service, account }: Place) => ['service', service, 'username', account];

/** The tool of a system; Windows has none that gives a secret back. */
export function keychainToolName(platform: string): string | undefined {
  return tools[platform]?.name;
}

/** The keychain by the tool of the system; `undefined` where it is not installed. Errors of the methods: what the tool said. */
export function findKeychainTool(platform: string, service: string): ((account: string) => KeychainEntry) | undefined {
  const tool = tools[platform];
  if (tool === undefined || spawnSync(tool.name, [], { input: '' }).error !== undefined) return undefined;
  const run = (argv: readonly string[], input = ''): string | null => {
    const ran = spawnSync(tool.name, argv, { input, encoding: 'utf8' });
    if (ran.status === 0) return ran.stdout.replace(/\n$/, '');
    if (tool.isAbsent(ran)) return null;
    throw new Error(ran.stderr.trim().split('\n').at(-1) || `${tool.name} ended with ${ran.status ?? ran.signal}`);
  };
  return (account) => ({
    getPassword: () => run(tool.read({ service, account })),
    setPassword: (secret) => void run(...tool.write({ service, account }, secret)),
    deletePassword: () => void run(tool.remove({ service, account })),
  });
}
