import { local } from '../../api/endpoint.ts';
import { httpAddressKind } from '../../api/formats.ts';
import { listOf, optional, text } from '../../api/kind.ts';
import * as endpoints from '../../api/webhook.ts';
import { type Command, defineCommand, option } from '../../cli/command.ts';
import { deriveCommands, endpointCommand, serviceExitCodes } from '../../cli/endpoint-command.ts';
import type { Context } from '../../context.ts';
import { receiveCommands } from './receive.ts';
import { views } from './views.ts';

const uploadCodes = [3, 10, ...serviceExitCodes] as const;

const addressParams = {
  file: option.text('addresses: one a line, CSV or TSV with a header, NDJSON or a JSON array, gzip too; - for stdin'),
  walletAddresses: local(optional(listOf(text({ minLength: 0 }))), 'addresses typed here instead', {
    takesAddress: 'wallet',
  }),
  column: option.text('the column, or field of JSON, that holds the addresses'),
  allowBadChecksum: option.flag('accept EVM addresses with a wrong EIP-55 checksum'),
  skipInvalid: option.flag('skip bad lines instead of stopping before anything is sent'),
  rejects: option.text('write bad lines here, one JSON object a line'),
};
const concurrency = option.count(1, 32, 'requests at once (default 4)');
const showSecrets = option.flag('print the secret too, not only the file that holds it');
const uid = endpoints.addAddresses.params.uid;

const fileHelp =
  'Every line is checked first; a bad one stops the command before anything is sent (--skip-invalid skips it). Then 1,000 addresses\n' +
  'go in a request. What is confirmed is on disk at once: after a crash the same command continues. A million addresses take some 150 MB\n' +
  'of memory. Progress is a bar on a terminal; elsewhere a line every 10 s or 10 %.';

const register = defineCommand({
  ...endpointCommand(endpoints.register, views.register),
  oneOf: [],
  description:
    `${fileHelp}\nThe webhook is made exactly once: if the answer is lost, the list of webhooks shows whether it was made.\n` +
    'One machine at a time registers a destination: the list does not say whose webhook is whose.',
  params: {
    url: local(httpAddressKind, 'where feed items are sent'),
    ...addressParams,
    secretFile: option.text('write the secret here (mode 0600) before anything else is sent'),
    showSecrets,
    concurrency,
    another: option.flag('register even if the destination has a webhook already'),
  },
  uses: ['requests', 'changes'],
  exitCodes: uploadCodes,
  run: async ({ url, ...input }, context) =>
    (await import('../../upload/upload-addresses.ts')).uploadAddresses(
      { ...input, task: 'register', destinationUrl: url },
      context,
    ),
});

const addAddresses = defineCommand({
  ...endpointCommand(endpoints.addAddresses, views.addAddresses),
  oneOf: [],
  description: fileHelp,
  params: {
    uid,
    ...addressParams,
    concurrency,
    again: option.flag('send the list once more although it is confirmed'),
  },
  uses: ['requests', 'changes'],
  exitCodes: uploadCodes,
  run: async (input, context) =>
    (await import('../../upload/upload-addresses.ts')).uploadAddresses({ ...input, task: 'add-addresses' }, context),
});

const sync = defineCommand({
  words: ['webhook', 'sync'],
  summary:
    'Make a webhook have the addresses of a file: register it, send what is missing, continue what was interrupted',
  description:
    'For a job that runs every hour. Registers a webhook if your key has none for the URL, then sends only the missing addresses, as far as\n' +
    'this machine knows: keep its data directory between runs. Two machines that register one URL at once end with one webhook. The service\n' +
    'cannot remove addresses: those that left the file are counted and listed in a file. --replace removes them: it registers a second webhook\n' +
    'with the new list, adds its secret to the secret file and deletes the old webhook. If the service does not allow two, the old one is\n' +
    'deleted first and the gap is reported. It needs confirmation or --yes. The next sync of the URL finishes an interrupted replacement.',
  params: {
    uid: { ...uid, kind: optional(uid.kind) },
    url: local(optional(httpAddressKind), 'the webhook by its destination; registered if there is none'),
    ...addressParams,
    secretFile: option.text('write the secret here (mode 0600); other secrets in the file stay'),
    showSecrets,
    concurrency,
    check: option.flag('send nothing: exit 2 for bad lines or a few of another chain, 10 if any would be sent'),
    exact: option.flag('with --check: exit 10 also where the webhook has addresses that are not in the file'),
    replace: option.flag('where addresses left the file: make a new webhook without them, then delete the old one'),
  },
  examples: [
    {
      argv: 'webhook sync --url http://127.0.0.1:4242/hook --file users.csv --secret-file hook.secret',
      says: 'for CI: registers, or sends what is new',
    },
    {
      argv: 'webhook sync --url http://127.0.0.1:4242/hook --file users.csv --check --json',
      says: 'what would be sent',
    },
  ],
  uses: ['requests', 'changes'],
  exitCodes: uploadCodes,
  view: async () => (await import('../../upload/view.ts')).synced,
  run: async ({ url, ...input }, context) =>
    (await import('../../upload/upload-addresses.ts')).uploadAddresses(
      { ...input, task: 'sync', destinationUrl: url },
      context,
    ),
});

const list = defineCommand({
  ...endpointCommand(endpoints.list, views.list),
  oneOf: [],
  description: 'Unfinished uploads of this machine are listed on stderr, each with the line that continues it.',
  params: { showSecrets: option.flag('show the secrets instead of masking them') },
  run: async ({ showSecrets }, context) => (await import('./list.ts')).listWebhooks(showSecrets === true, context),
});

const remove = endpointCommand(endpoints.remove, views.remove, {
  confirms: (input) => `delete webhook ${input.uid} with its addresses and its secret`,
});

const validate: Command = {
  ...endpointCommand(endpoints.validate, views.validate),
  exitCodes: [...serviceExitCodes, 12].sort((a, b) => a - b),
  run: async (input: { uid: string }, context: Context) => {
    if (context.options.preview)
      return { kind: 'request', request: await context.previewCall(endpoints.validate, input) };
    const { data, text } = await context.call(endpoints.validate, input);
    const exitCode = data?.success === false ? 12 : 0;
    return { kind: 'answer', answer: data, text, view: await views.validate(), exitCode };
  },
};

export const commands = deriveCommands(endpoints, views, [
  ...[register, list, addAddresses, sync],
  ...[remove, validate],
  ...receiveCommands,
]);
