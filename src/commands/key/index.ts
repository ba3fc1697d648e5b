import { local } from '../../api/endpoint.ts';
import { choice, optional, text } from '../../api/kind.ts';
import { type Command, defineCommand, option } from '../../cli/command.ts';
import { chains } from '../../model/chain.ts';
import { keySourceParams, passwordFileParam } from './params.ts';

const name = local(text(), 'name of the key', { positional: true });
const keyView = async () => (await import('./run-keys.ts')).keyView;

export const commands: readonly Command[] = [
  defineCommand({
    words: ['key', 'generate'],
    summary: 'Make a new private key and store it, sealed with a password',
    description: 'There is no other copy: export one (key export), and keep the password. The key is never shown.',
    params: {
      name,
      chain: local(optional(choice(chains)), 'chain that it signs for: solana, or any other for an EVM key (default)'),
      passwordFile: option.text('file with the password to seal with (default: ask for it)'),
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
    words: ['key', 'import'],
    summary: 'Store a private key, sealed with a password',
    description:
      'The key comes from --key-file, --key-env, --key-stdin, or a prompt without echo; never from an argument. A keystore is opened first, and keeps its password unless --new-password-file names another.',
    params: {
      name,
      ...keySourceParams,
      passwordFile: passwordFileParam,
      newPasswordFile: option.text(
        'file with the password to seal with (default: that of --password-file, or ask for it)',
      ),
      replace: option.flag('replace a key of this name; the old file stays beside it as a backup'),
    },
    examples: [
      { argv: 'key import trader --key-file key.hex', says: 'store an EVM key; the password is asked for' },
      {
        argv: 'key import sol --key-file id.json --password-file password.txt',
        says: 'store a Solana CLI keypair, without questions',
      },
    ],
    uses: ['changes'],
    exitCodes: [3, 11, 130],
    view: keyView,
    run: async (input, context) => (await import('./run-keys.ts')).importKey(input, context),
  }),
  defineCommand({
    words: ['key', 'list'],
    summary: 'List the stored keys with their addresses',
    params: {},
    examples: [
      { argv: 'key list', says: 'every stored key' },
      { argv: 'key list --json', says: 'the same as JSON' },
    ],
    uses: [],
    exitCodes: [3],
    view: keyView,
    run: async (_, context) => (await import('./run-keys.ts')).showKeys(context),
  }),
  defineCommand({
    words: ['key', 'remove'],
    summary: 'Remove a stored key for good',
    params: { name },
    examples: [
      { argv: 'key remove trader', says: 'after asking' },
      { argv: 'key remove trader --yes', says: 'without asking' },
    ],
    uses: ['changes'],
    exitCodes: [3, 130],
    view: keyView,
    run: async (input, context) => (await import('./run-keys.ts')).removeKey(input.name, context),
  }),
  defineCommand({
    words: ['key', 'export'],
    summary: 'Export a stored key, sealed or unencrypted',
    description: 'An unencrypted key goes to a file that only you may read, never to the screen.',
    params: {
      name,
      out: option.text('file to write; replacing one asks first'),
      unencrypted: option.flag('not sealed: hex, or a Solana CLI keypair; needs --out'),
      passwordFile: passwordFileParam,
    },
    examples: [
      { argv: 'key export trader --out trader.json', says: 'the sealed keystore, for another machine or wallet' },
      { argv: 'key export sol --unencrypted --out id.json', says: 'the keypair itself; its password is asked for' },
    ],
    uses: ['changes'],
    exitCodes: [3, 11, 130],
    run: async (input, context) => (await import('./run-keys.ts')).exportKey(input, context),
  }),
];
