import { local } from '../../api/endpoint.ts';
import { httpAddressKind } from '../../api/formats.ts';
import { listOf, optional, text } from '../../api/kind.ts';
import * as endpoints from '../../api/webhook.ts';
import { maskSecrets } from '../../client/secrets.ts';
import { errorExitCodes, readMessage } from '../../errors.ts';
import { synced, uploaded } from '../../upload/view.ts';
import type { Command } from '../command.ts';
import { addEndpointCommand, describeEndpoint } from '../endpoint-command.ts';
import { option } from '../params.ts';
import { addReceiving } from './receiving.ts';
import { deleted, validated, list as view } from './view.ts';

export function addWebhook(webhook: Command): void {
  addRegister(webhook);
  addList(webhook);
  addAddAddresses(webhook);
  addEndpointCommand(webhook, 'delete', endpoints.remove, {
    view: deleted,
    description: 'Its addresses and its secret are lost. Asks on a terminal; elsewhere it needs --yes.',
    confirms: ({ uid }) => `delete webhook ${uid} with its addresses and its secret`,
  });
  addValidate(webhook);
  addSync(webhook);
  addReceiving(webhook);
}

const addressParams = {
  file: option.text('file of addresses, - for stdin (formats: sotra help bulk)'),
  walletAddresses: local(optional(listOf(text({ minLength: 0 }))), 'addresses, instead of a file', {
    takesAddress: 'wallet',
  }),
  column: option.text('column or JSON field that holds the addresses', { valueName: 'name' }),
  allowBadChecksum: option.flag('accept a wrong EIP-55 checksum'),
  skipInvalid: option.flag('skip bad lines instead of failing'),
  rejects: option.file('write bad lines to this file, as NDJSON'),
};

const { uid } = endpoints.addAddresses.params;
const concurrency = option.count(1, 32, 'requests at once (default: 4)');
const showSecrets = option.flag('print the secret too');

function addRegister(webhook: Command): void {
  describeEndpoint(
    webhook,
    'register',
    endpoints.register,
    'Checks every line before anything is sent, then sends 1,000 addresses per request. After a failure or a crash, the same command resumes ' +
      'and never registers a second webhook.\n' +
      'Run it on one machine at a time per URL.',
  )
    .params({
      url: local(httpAddressKind, 'destination of the feed items'),
      ...addressParams,
      secretFile: option.text('write the secret to this new file (mode 0600)'),
      showSecrets,
      concurrency,
      another: option.flag('register even if the URL already has a webhook'),
    })
    .requests()
    .changes()
    .prints(uploaded)
    .run(async ({ url, ...input }, context) => {
      const { uploadAddresses } = await import('../../upload/upload-addresses.ts');
      return uploadAddresses({ ...input, task: 'register', destinationUrl: url }, context);
    });
}

function addList(webhook: Command): void {
  describeEndpoint(
    webhook,
    'list',
    endpoints.list,
    'Lists unfinished uploads from this machine on stderr, with the command that resumes each.',
  )
    .params({ showSecrets: option.flag('show secrets instead of masking them') })
    .requests()
    .prints(view)
    .run(async ({ showSecrets }, context) => {
      if (context.options.preview)
        return { kind: 'request', request: await context.client.previewCall(endpoints.list, {}) };
      const { describeUnfinished, listUploads } = await import('../../upload/state.ts');
      const uploads = await listUploads(context).catch((thrown: unknown) => {
        context.warn(readMessage(thrown));
        return [];
      });
      const { data, text } = await context.client.call(endpoints.list, {});
      const isListed = (uid: string) => !Array.isArray(data) || data.some((webhook) => webhook.uid === uid);
      const shown = { view, notes: describeUnfinished(uploads, isListed) };
      return showSecrets
        ? { kind: 'answer', answer: data, text, ...shown }
        : { kind: 'answer', answer: maskSecrets(data), ...shown };
    });
}

function addAddAddresses(webhook: Command): void {
  describeEndpoint(
    webhook,
    'add-addresses',
    endpoints.addAddresses,
    'Checks every line before anything is sent, then sends 1,000 addresses per request. After a failure or a crash, the same command resumes.',
  )
    .params({
      uid,
      ...addressParams,
      concurrency,
      again: option.flag('resend a list that is already confirmed'),
    })
    .requests()
    .changes()
    .prints(uploaded)
    .run(async (input, context) => {
      const { uploadAddresses } = await import('../../upload/upload-addresses.ts');
      return uploadAddresses({ ...input, task: 'add-addresses' }, context);
    });
}

function addValidate(webhook: Command): void {
  describeEndpoint(webhook, 'validate', endpoints.validate)
    .params(endpoints.validate.params)
    .requests()
    .prints(validated)
    .run(async (input, context) => {
      if (context.options.preview)
        return { kind: 'request', request: await context.client.previewCall(endpoints.validate, input) };
      const { data, text } = await context.client.call(endpoints.validate, input);
      const exitCode = data?.success === false ? errorExitCodes.verification : 0;
      return { kind: 'answer', answer: data, text, view: validated, exitCode };
    });
}

function addSync(webhook: Command): void {
  webhook
    .command('sync')
    .summary('Keep the addresses of a webhook in sync with a file')
    .description(
      'Registers a webhook if the URL has none, then sends the addresses that this machine has not sent yet: keep its data directory between ' +
        'runs. The same command resumes an interrupted run.\n' +
        'The service cannot remove addresses: those that left the file are listed in a file of their own. --replace registers a new webhook ' +
        'without them and deletes the old one. If the service allows one webhook per URL, it deletes the old one first and reports the gap.',
    )
    .params({
      uid: { ...uid, kind: optional(uid.kind) },
      url: local(optional(httpAddressKind), 'destination of the webhook, instead of its uid'),
      ...addressParams,
      secretFile: option.text('add the secret to this file (mode 0600)'),
      showSecrets,
      concurrency,
      check: option.flag('send nothing; exit 10 if addresses are missing, 2 for bad lines'),
      exact: option.flag('with --check: exit 10 also if addresses left the file'),
      replace: option.flag('replace the webhook if addresses left the file (asks, or --yes)'),
    })
    .example(
      'webhook sync --url http://127.0.0.1:4242/hook --file users.csv --secret-file hook.secret',
      'register, or send what is new',
    )
    .example('webhook sync --url http://127.0.0.1:4242/hook --file users.csv --check --json', 'what would be sent')
    .requests()
    .changes()
    .prints(synced)
    .run(async ({ url, ...input }, context) => {
      const { uploadAddresses } = await import('../../upload/upload-addresses.ts');
      return uploadAddresses({ ...input, task: 'sync', destinationUrl: url }, context);
    });
}
