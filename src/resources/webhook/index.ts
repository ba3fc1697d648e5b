import { z } from 'zod';
import { type Command, defineCommand } from '../../cli/command.ts';
import { deriveCommands, endpointCommand, serviceExitCodes } from '../../cli/endpoint-command.ts';
import { httpAddress, option, withWatch } from '../../cli/params.ts';
import type { Context } from '../../context.ts';
import { local } from '../../contract/endpoint.ts';
import { receiveCommands } from '../../inbox/commands.ts';
import * as endpoints from './endpoints.ts';

const view = () => import('./view.ts');

export const views = {
  register: async () => (await view()).uploaded,
  list: async () => (await view()).list,
  addAddresses: async () => (await view()).uploaded,
  remove: async () => (await view()).deleted,
  validate: async () => (await view()).validated,
};

const uploadCodes = [3, 10, ...serviceExitCodes] as const;

const addressParams = {
  file: option.text('addresses: one a line, CSV or TSV with a header, NDJSON or a JSON array, gzip too; - for stdin', {
    otherFlags: ['addresses-file'],
  }),
  walletAddresses: local(z.array(z.string()).optional(), 'addresses typed here instead', { takesAddress: 'wallet' }),
  column: option.text('the column, or field of JSON, that holds the addresses'),
  allowBadChecksum: option.flag('accept EVM addresses with a wrong EIP-55 checksum'),
  skipInvalid: option.flag('skip bad lines instead of stopping before anything is sent'),
  rejects: option.text('write bad lines here, one JSON object a line'),
};
const concurrency = option.count(1, 32, 'requests at once (default 4)');
const report = option.text('write what became of each address here, one JSON object a line with its request id');
const uid = endpoints.addAddresses.params.uid;
const job = local(z.string().min(1), 'name of the upload, or its start; webhook jobs lists them', { positional: true });

const fileHelp =
  'Every line is checked first; a bad one stops the command before anything is sent (--skip-invalid skips it). Then 1,000 addresses\n' +
  'go in a request. What is confirmed is on disk at once: after a crash the same command, or webhook resume, continues.';

const register = defineCommand({
  ...endpointCommand(endpoints.register, views.register),
  oneOf: [],
  description:
    `${fileHelp}\nThe webhook is made exactly once: if the answer is lost, the list of webhooks shows whether it was made.\n` +
    'One machine at a time registers a destination: the list does not say whose webhook is whose.',
  params: {
    url: local(httpAddress, 'where feed items are sent'),
    ...addressParams,
    secretFile: option.text('write the secret here (mode 0600) before anything else is sent'),
    concurrency,
    report,
    another: option.flag('register even if the destination has a webhook already'),
  },
  uses: ['requests', 'changes'],
  exitCodes: uploadCodes,
  run: async ({ url, ...input }, context) =>
    (await import('../../upload/run-upload.ts')).uploadAddresses(
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
    report,
    again: option.flag('send the list once more although it is confirmed'),
  },
  uses: ['requests', 'changes'],
  exitCodes: uploadCodes,
  run: async (input, context) =>
    (await import('../../upload/run-upload.ts')).uploadAddresses({ ...input, task: 'add-addresses' }, context),
});

const sync = defineCommand({
  words: ['webhook', 'sync'],
  summary: 'Send only the addresses of a file that this machine has not sent to a webhook yet',
  description:
    'The service does not say which addresses a webhook has, so this compares with what was confirmed from this machine. Addresses that\n' +
    'are no longer in the file are named: the service has no way to remove them. --check sends nothing and exits 10 where file and\n' +
    'webhook differ.',
  params: {
    uid,
    ...addressParams,
    concurrency,
    check: option.flag('send nothing; exit 10 where an address is missing in the webhook or in the file'),
  },
  examples: [
    { argv: `webhook sync ${endpoints.exampleUid} --file users.csv`, says: 'send what is new' },
    {
      argv: `webhook sync ${endpoints.exampleUid} --file users.csv --check --json`,
      says: 'what would be sent, for CI',
    },
  ],
  uses: ['requests', 'changes'],
  exitCodes: uploadCodes,
  view: async () => (await view()).synced,
  run: async (input, context) => (await import('../../upload/run-sync.ts')).syncAddresses(input, context),
});

const resume = defineCommand({
  words: ['webhook', 'resume'],
  summary: 'Continue an interrupted upload',
  params: { job, concurrency, report },
  examples: [{ argv: 'webhook resume 3f9a', says: 'the upload whose name starts with 3f9a' }],
  uses: ['requests', 'changes'],
  exitCodes: uploadCodes,
  view: views.register,
  run: async (input, context) => (await import('../../upload/run-upload.ts')).resumeUpload(input, context),
});

const jobs = defineCommand({
  words: ['webhook', 'jobs'],
  summary: 'The uploads of this machine, finished and not',
  params: {},
  examples: [{ argv: 'webhook jobs', says: 'every upload with what is confirmed' }],
  uses: [],
  exitCodes: [3],
  view: async () => (await view()).jobs,
  run: async (_, context) => (await import('../../upload/jobs.ts')).showJobs(context),
});

const removeJob = defineCommand({
  words: ['webhook', 'jobs', 'remove'],
  summary: 'Remove what this machine keeps of an upload',
  description: 'The webhook and its addresses stay at the service. Asks on a terminal; elsewhere --yes is needed.',
  params: { job },
  examples: [{ argv: 'webhook jobs remove 3f9a --yes', says: 'the upload whose name starts with 3f9a' }],
  uses: ['changes'],
  exitCodes: [3, 5],
  view: async () => (await view()).removedJob,
  run: async (input, context) => (await import('../../upload/jobs.ts')).removeJob(input.job, context),
});

const list = defineCommand({
  ...endpointCommand(endpoints.list, views.list),
  oneOf: [],
  params: { showSecrets: option.flag('show the secrets instead of masking them') },
  run: async ({ showSecrets }, context) => (await import('./secrets.ts')).listWebhooks(showSecrets === true, context),
});

const secret = defineCommand({
  words: ['webhook', 'secret'],
  summary: "Write a webhook's secret to a file, from this machine's uploads or the service's list",
  params: { uid, out: local(z.string().min(1), 'file to write (mode 0600); replacing one needs a yes') },
  examples: [
    { argv: `webhook secret ${endpoints.exampleUid} --out hook.secret`, says: 'for webhook listen and verify' },
  ],
  uses: ['requests', 'changes'],
  exitCodes: [3, ...serviceExitCodes],
  view: async () => (await view()).secretWritten,
  run: async (input, context) => (await import('./secrets.ts')).writeWebhookSecret(input.uid, input.out, context),
});

const remove = endpointCommand(endpoints.remove, views.remove, {
  confirms: (input) => `delete webhook ${input.uid} with its addresses and its secret`,
});

const validate: Command = {
  ...endpointCommand(endpoints.validate, views.validate),
  exitCodes: [...serviceExitCodes, 12].sort((a, b) => a - b),
  run: async (input: { uid: string }, context: Context) => {
    const { data, text } = await context.call(endpoints.validate, input);
    const exitCode = data?.success === false ? 12 : 0;
    return { kind: 'answer', answer: data, text, view: await views.validate(), exitCode };
  },
};

export const commands = deriveCommands(endpoints, views, [
  ...[register, withWatch(list, { id: 'uid' }), addAddresses, sync, resume, withWatch(jobs, { id: 'job' }), removeJob],
  ...[secret, remove, validate],
  ...receiveCommands,
]);
