import { local } from '../../api/endpoint.ts';
import { choice, optional } from '../../api/kind.ts';
import type { Context } from '../../context.ts';
import { orUndefined, usageError } from '../../errors.ts';
import { type KeyStore, missingKeyError } from '../../lib/config/config.ts';
import { column, recordView } from '../../lib/output/columns.ts';
import type { Result } from '../../lib/output/view.ts';
import type { Command } from '../command.ts';
import { option } from '../params.ts';
import { type AuthStatus, checkRequest, describeStatus, logIn, logOut } from './login.ts';

export function setUp(auth: Command): void {
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
    .run(logIn);

  auth
    .command('logout')
    .summary('Remove the stored API key of a context')
    .description('Asks on a terminal; elsewhere it needs --yes.')
    .example('auth logout --yes', 'of the current context, without asking')
    .example('auth logout --context staging --yes', 'of another context')
    .changes()
    .run((_, context) => logOut(context));

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

const statusView = recordView<AuthStatus>([
  column.text('context', 'Context', 'context in use'),
  column.text('baseUrl', 'Base URL', 'address of the service'),
  column.text('keySuffix', 'Key', 'last four characters of the key', {
    show: ({ keySuffix }) => `...${keySuffix ?? ''}`,
  }),
  column.text('keySource', 'From', 'SOTRA_API_KEY, context or sandbox'),
  column.text('store', 'Stored in', 'keychain or file, for a stored key', {
    show: ({ store }) => (store === 'file' ? 'the settings file, unencrypted (mode 0600)' : undefined),
  }),
  column.flag('valid', 'Valid', 'whether the service accepts the key (with --check)', {
    show: ({ valid }) => (valid === undefined ? 'not checked' : valid ? 'yes' : 'no, the service rejects it'),
  }),
]);

/** Errors: `no-service`; `key-missing` with the status as details; with `check` those of a call. */
async function showStatus(check: boolean, context: Context): Promise<Result> {
  const { preview, curl } = context.options;
  if (preview && !check)
    throw usageError(`${curl ? '--curl' : '--dry-run'} needs --check: without it nothing is sent`, 'Add --check.');
  if (preview) return { kind: 'request', request: await context.client.previewRequest(checkRequest) };
  const service = await context.config.service();
  const status = describeStatus(service);
  if (service.apiKey === null) throw missingKeyError(service, status);
  const notes = service.keyStore === 'file' ? [`The settings are in ${(await context.config.settings()).path}.`] : [];
  if (!check) return { kind: 'answer', answer: status, notes };
  const accepted = await orUndefined(context.client.request(checkRequest), 'key-refused', 'forbidden');
  const valid = accepted !== undefined;
  return { kind: 'answer', answer: { ...status, valid }, notes, exitCode: valid ? 0 : 4 };
}
