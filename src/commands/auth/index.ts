import { local } from '../../api/endpoint.ts';
import { choice, optional } from '../../api/kind.ts';
import type { KeyStore } from '../../lib/config/settings.ts';
import type { Command } from '../command.ts';
import { option } from '../params.ts';
import { showStatus, statusView } from './status.ts';

export function addAuth(auth: Command): void {
  auth
    .command('login')
    .summary('Log in to a service, or choose the sandbox')
    .description(
      'Asks on a terminal for what is missing: the service, its address and the API key. Checks the key with one request ' +
        'and stores it for the origin of the address. --base-url is the address of a new context.\n' +
        'Without --store, the key goes where it was before, else to the keychain, else to the settings file ' +
        '(mode 0600, unencrypted).',
    )
    .params({
      withKey: option.flag('read the key from stdin: --with-key < key.txt'),
      offline: option.flag('store the key without checking it', { conflicts: ['curl'] }),
      store: local(optional(choice<KeyStore>(['keychain', 'file'])), 'where to store the key'),
    })
    .example('auth login --sandbox', 'use the built-in sandbox, which needs no key')
    .example('auth login --context clicker', 'asks for the key of the public deployment')
    .example(
      'auth login --context staging --base-url https://staging.example.com --with-key --offline --store file < key.txt',
      'a new context with a key from a file',
    )
    .requests()
    .changes()
    .prints(statusView)
    .run(async (input, context) => (await import('./login.ts')).logIn(input, context));

  auth
    .command('logout')
    .summary('Remove the stored API key of a context')
    .description('Asks on a terminal; elsewhere it needs --yes.')
    .example('auth logout --yes', 'of the current context, without asking')
    .example('auth logout --context staging --yes', 'of another context')
    .changes()
    .run(async (_, context) => (await import('./logout.ts')).logOut(context));

  auth
    .command('status')
    .summary('Show which API key is used and where it is stored')
    .description(
      'Exits with 2 if no service is chosen, and with 4 if there is no key or, with --check, the service rejects it.',
    )
    .params({ check: option.flag('check the key with one request') })
    .example('--sandbox auth status', 'the key of the sandbox')
    .example('--sandbox auth status --check --json', 'as JSON, with the result of the check')
    .requests()
    .prints(statusView)
    .run(({ check }, context) => showStatus(check === true, context));
}
