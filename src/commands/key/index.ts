import { chains } from '../../api/chain.ts';
import { local } from '../../api/endpoint.ts';
import { choice, optional, text } from '../../api/kind.ts';
import { column } from '../../lib/output/columns.ts';
import type { View } from '../../lib/output/view.ts';
import type { Command } from '../command.ts';
import { option } from '../params.ts';
import type { ShownKey } from './actions.ts';

/** Where a private key comes from: exactly one of them, never an argument. A terminal asks if none is given. */
const keySourceParams = {
  keyFile: option.text('key file: hex, Solana keypair or V3 keystore'),
  keyEnv: option.text('environment variable with the key', { valueName: 'variable' }),
  keyStdin: option.flag('read the key from stdin'),
};

const passwordFileParam = option.text('file with the password of the key');

/** The sources of a command that signs, which also takes a stored key. */
export const keyParams = {
  ...keySourceParams,
  key: option.text('stored key (see sotra key list)', { valueName: 'name' }),
  passwordFile: passwordFileParam,
};

export function setUp(key: Command): void {
  key
    .command('generate')
    .summary('Generate a private key and store it encrypted')
    .description('There is no other copy: back it up with key export, and keep the password.')
    .params({
      name: nameParam,
      chain: local(optional(choice(chains)), 'solana for a Solana key, another chain for an EVM key (default)'),
      passwordFile: option.text('file with the password to encrypt with (default: ask)'),
    })
    .example('key generate trader', 'an EVM key; asks for the password')
    .example('key generate sol --chain solana --password-file password.txt', 'a Solana key, without questions')
    .changes()
    .prints(keyView)
    .run(async (input, context) => (await import('./actions.ts')).generateKey(input, context));

  key
    .command('import')
    .summary('Import a private key and store it encrypted')
    .description(
      'The key comes from --key-file, --key-env, --key-stdin or a prompt, never from an argument.\n' +
        'A V3 keystore keeps its password, unless --new-password-file names another.',
    )
    .params({
      name: nameParam,
      ...keySourceParams,
      passwordFile: passwordFileParam,
      newPasswordFile: option.text('file with the password to encrypt with (default: --password-file, or ask)'),
      replace: option.flag('replace the key of this name; keeps a backup of the old file'),
    })
    .example('key import trader --key-file key.hex', 'an EVM key; asks for the password')
    .example('key import sol --key-file id.json --password-file password.txt', 'a Solana CLI keypair')
    .changes()
    .prints(keyView)
    .run(async (input, context) => (await import('./actions.ts')).importKey(input, context));

  key
    .command('list')
    .summary('List stored keys and their addresses')
    .example('key list', 'every stored key')
    .example('key list --json', 'as JSON')
    .prints(keyView)
    .run(async (_, context) => {
      const { keyFolder, listKeys } = await import('../../keys/keystore.ts');
      return { kind: 'answer', answer: listKeys(await keyFolder(context), context.warn) };
    });

  key
    .command('remove')
    .summary('Remove a stored key for good')
    .description('Asks on a terminal; elsewhere it needs --yes.')
    .params({ name: nameParam })
    .example('key remove trader', 'after asking')
    .example('key remove trader --yes', 'without asking')
    .changes()
    .run(async ({ name }, context) => (await import('./actions.ts')).removeKey(name, context));

  key
    .command('export')
    .summary('Export a stored key, encrypted or unencrypted')
    .description(
      'An unencrypted key is written to a file of mode 0600, never to the screen.\n' +
        'Replacing a file asks on a terminal; elsewhere it needs --yes.',
    )
    .params({
      name: nameParam,
      out: option.file('file to write (default: stdout)'),
      unencrypted: option.flag('write hex, or a Solana CLI keypair; needs --out', { needs: 'out' }),
      passwordFile: { ...passwordFileParam, needs: 'unencrypted' },
    })
    .example('key export trader --out trader.json', 'the encrypted V3 keystore, for another machine or wallet')
    .example('key export sol --unencrypted --out id.json', 'the keypair itself; asks for its password')
    .changes()
    .run(async (input, context) => (await import('./actions.ts')).exportKey(input, context));
}

const nameParam = local(text(), 'name of the key', { positional: true });

/** A stored key, or a list of them. */
const keyView: View<readonly ShownKey[] | ShownKey, ShownKey> = {
  layout: 'table',
  rows: (answer) => ('name' in answer ? [answer] : answer),
  columns: [
    column.text('name', 'Name', 'name of the key, for --key'),
    column.text('family', 'Kind', 'evm or solana'),
    column.address('address', 'Address', 'address that it signs for', { tone: 'strong' }),
    column.text('file', 'File', 'encrypted file that holds it', { drop: 1, cut: true }),
    column.address('backup', 'Backup', 'file of the key that was replaced', { extra: true }),
  ],
  empty: 'No stored keys. Generate one: sotra key generate <name>.',
};
