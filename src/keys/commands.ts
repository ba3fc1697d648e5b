import { z } from 'zod';
import { type Command, defineCommand } from '../cli/command.ts';
import { local } from '../contract/endpoint.ts';
import { chainSchema } from '../model/chain.ts';
import { keyParams } from '../resources/comment/params.ts';

const checkArgv = async (argv: readonly string[]) =>
  (await import('./secret-arguments.ts')).refuseSecretArguments(argv);
const name = local(z.string().min(1), 'name of the key', { positional: true });
const { key: _, ...sources } = keyParams;
const keyView = async () => (await import('./view.ts')).keyView;

/** `key generate`, `key import`, `key list`, `key remove`, `key export`: the private keys that sotra keeps, each sealed with a password. */
export const commands: readonly Command[] = [
  defineCommand({
    checkArgv,
    words: ['key', 'generate'],
    summary: 'Make a new private key, sealed with a password and kept under a name',
    description: 'Nobody else has it: export a copy (key export), and keep the password. It is shown nowhere.',
    params: {
      name,
      chain: local(chainSchema.optional(), 'chain that it signs for: solana, or any other for an EVM key (default)'),
      passwordFile: local(
        z.string().min(1).optional(),
        'file with the password to seal with; left out, it is asked for',
      ),
    },
    examples: [
      { argv: 'key generate trader', says: 'an EVM key; the password is asked for' },
      { argv: 'key generate sol --chain solana --password-file password.txt', says: 'a Solana key, without questions' },
    ],
    uses: ['changes'],
    exitCodes: [3, 11, 130],
    view: keyView,
    run: async (input, context) => (await import('./run-keys.ts')).generateKey(input, context),
  }),
  defineCommand({
    checkArgv,
    words: ['key', 'import'],
    summary: 'Seal a private key with a password and keep it under a name',
    description:
      'The key comes from --key-file, --key-env, --key-stdin, or a question without echo; never from an argument. A keystore is opened first, and keeps its password unless --new-password-file names another.',
    params: {
      name,
      ...sources,
      newPasswordFile: local(
        z.string().min(1).optional(),
        'file with the password to seal with; left out, that of --password-file, or asked for',
      ),
      replace: local(z.boolean().optional(), 'replace a key of this name; the old file stays beside it as a backup'),
    },
    examples: [
      { argv: 'key import trader --key-file key.hex', says: 'keep an EVM key; the password is asked for' },
      {
        argv: 'key import sol --key-file id.json --password-file password.txt',
        says: 'keep a Solana CLI keypair, without questions',
      },
    ],
    uses: ['changes'],
    exitCodes: [3, 11, 130],
    view: keyView,
    run: async (input, context) => (await import('./run-keys.ts')).importKey(input, context),
  }),
  defineCommand({
    checkArgv,
    words: ['key', 'list'],
    summary: 'The keys that are kept, with their addresses',
    params: {},
    examples: [
      { argv: 'key list', says: 'every kept key' },
      { argv: 'key list --json', says: 'the same as JSON' },
    ],
    uses: [],
    exitCodes: [3],
    view: keyView,
    run: async (_, context) => (await import('./run-keys.ts')).showKeys(context),
  }),
  defineCommand({
    checkArgv,
    words: ['key', 'remove'],
    summary: 'Remove a kept key for good',
    params: { name },
    examples: [
      { argv: 'key remove trader', says: 'after a question' },
      { argv: 'key remove trader --yes', says: 'without one' },
    ],
    uses: ['changes'],
    exitCodes: [3, 130],
    view: keyView,
    run: async (input, context) => (await import('./run-keys.ts')).dropKey(input.name, context),
  }),
  defineCommand({
    checkArgv,
    words: ['key', 'export'],
    summary: 'Export a stored key: sealed, or with --unencrypted as it is',
    description: 'A key as it is goes into a new file that only you may read, never to the screen.',
    params: {
      name,
      out: local(z.string().min(1).optional(), 'file to write; replacing one needs a yes'),
      unencrypted: local(z.boolean().optional(), 'not sealed: hex, or a Solana CLI keypair; needs --out'),
      passwordFile: keyParams.passwordFile,
    },
    examples: [
      { argv: 'key export trader --out trader.json', says: 'the sealed keystore, for another machine or wallet' },
      { argv: 'key export sol --unencrypted --out id.json', says: 'the keypair itself, after its password' },
    ],
    uses: ['changes'],
    exitCodes: [3, 11, 130],
    run: async (input, context) => (await import('./run-keys.ts')).exportKey(input, context),
  }),
];
