import { z } from 'zod';
import { type Command, defineCommand } from '../../cli/command.ts';
import { endpointCommand, serviceExitCodes } from '../../cli/endpoint-command.ts';
import type { Context } from '../../context.ts';
import { local } from '../../contract/endpoint.ts';
import { isHttpAddress } from '../../model/http-address.ts';
import * as endpoints from './endpoints.ts';
import { receiveCommands } from './receive/commands.ts';

const uploadView = async () => (await import('./view.ts')).uploaded;
const uploadCodes = [3, 10, ...serviceExitCodes] as const;

const addressParams = {
  file: local(
    z.string().min(1).optional(),
    'addresses: one a line, CSV or TSV with a header, NDJSON or a JSON array, gzip too; - for stdin',
    { oldFlags: ['addresses-file'] },
  ),
  walletAddresses: local(z.array(z.string()).optional(), 'addresses typed here instead', { takesAddress: 'wallet' }),
  column: local(z.string().min(1).optional(), 'the column, or field of JSON, that holds the addresses'),
  allowBadChecksum: local(z.boolean().optional(), 'take EVM addresses whose letters do not fit EIP-55'),
  skipInvalid: local(z.boolean().optional(), 'leave out bad lines instead of stopping before anything is sent'),
  rejects: local(z.string().min(1).optional(), 'write bad lines here, one JSON object a line'),
};
const concurrency = local(z.int().min(1).max(32).optional(), 'requests at once (default 4)');
const again = local(z.boolean().optional(), 'send a list that is confirmed already once more');
const uidParam = endpoints.addAddresses.params.uid;

const fileHelp =
  'Every line is checked first; a bad one stops the command before anything is sent (--skip-invalid leaves it out). Then 1,000 addresses\n' +
  'go in a request. What is confirmed is on disk at once: after a crash the same command, or webhook resume, goes on.';

function endpointOf({ method, path, source }: { method: 'POST' | 'PUT'; path: string; source: 'spec' }) {
  return { method, path, source };
}

const register = defineCommand({
  words: ['webhook', 'register'],
  summary: endpoints.register.summary,
  description:
    `${fileHelp}\nThe webhook is made exactly once: where the answer is lost, the list of webhooks settles how it went.\n` +
    'One machine at a time registers a destination: the list does not tell whose webhook is whose.',
  params: {
    url: local(z.string().refine(isHttpAddress, 'must be an http or https address'), 'where feed items are sent'),
    ...addressParams,
    secretFile: local(z.string().min(1).optional(), 'write the secret here (mode 0600) before anything else is sent'),
    concurrency,
    another: local(z.boolean().optional(), 'make a webhook also where the destination has one'),
  },
  endpoint: endpointOf({ ...endpoints.register, method: 'POST', source: 'spec' }),
  examples: endpoints.register.examples.map((example) => ({ ...example, argv: `--sandbox ${example.argv}` })),
  uses: ['requests', 'changes'],
  exitCodes: uploadCodes,
  view: uploadView,
  run: async ({ url, ...input }, context) =>
    (await import('./upload/run-upload.ts')).uploadAddresses(
      { ...input, task: 'register', destinationUrl: url },
      context,
    ),
});

const addAddresses = defineCommand({
  words: ['webhook', 'add-addresses'],
  summary: endpoints.addAddresses.summary,
  description: fileHelp,
  params: { uid: uidParam, ...addressParams, concurrency, again },
  endpoint: endpointOf({ ...endpoints.addAddresses, method: 'PUT', source: 'spec' }),
  examples: endpoints.addAddresses.examples.map((example) => ({ ...example, argv: `--sandbox ${example.argv}` })),
  uses: ['requests', 'changes'],
  exitCodes: uploadCodes,
  view: uploadView,
  run: async (input, context) =>
    (await import('./upload/run-upload.ts')).uploadAddresses({ ...input, task: 'add-addresses' }, context),
});

const sync = defineCommand({
  words: ['webhook', 'sync'],
  summary: 'Send only the addresses of a file that this machine has not sent to a webhook yet',
  description:
    'The service does not tell which addresses a webhook has, so this compares with what was confirmed from this machine. Addresses that\n' +
    'are no longer in the file are named: the service has no way to remove them. --check sends nothing and exits 10 where file and\n' +
    'webhook differ.',
  params: {
    uid: uidParam,
    ...addressParams,
    concurrency,
    check: local(z.boolean().optional(), 'send nothing; exit 10 where something is missing or beyond the file'),
  },
  examples: [
    { argv: 'webhook sync 2f1d3c5e-7a90-4b8c-9d6e-0f1a2b3c4d5e --file users.csv', says: 'send what is new' },
    {
      argv: 'webhook sync 2f1d3c5e-7a90-4b8c-9d6e-0f1a2b3c4d5e --file users.csv --check --json',
      says: 'what would be sent, for CI',
    },
  ],
  uses: ['requests', 'changes'],
  exitCodes: uploadCodes,
  view: async () => (await import('./view.ts')).synced,
  run: async (input, context) => (await import('./upload/run-sync.ts')).syncAddresses(input, context),
});

const resume = defineCommand({
  words: ['webhook', 'resume'],
  summary: 'Go on with an interrupted upload',
  params: {
    job: local(z.string().min(1), 'name of the upload, or its start; webhook jobs lists them', { positional: true }),
    concurrency,
  },
  examples: [{ argv: 'webhook resume 3f9a', says: 'the upload whose name begins so' }],
  uses: ['requests', 'changes'],
  exitCodes: uploadCodes,
  view: uploadView,
  run: async (input, context) => (await import('./upload/run-upload.ts')).resumeUpload(input, context),
});

const jobs = defineCommand({
  words: ['webhook', 'jobs'],
  summary: 'The uploads of this machine, finished and not',
  params: {},
  examples: [{ argv: 'webhook jobs', says: 'every upload with what is confirmed' }],
  uses: [],
  exitCodes: [3],
  view: async () => (await import('./view.ts')).jobs,
  run: async (_, context) => (await import('./upload/run-sync.ts')).showJobs(context),
});

const removeJob = defineCommand({
  words: ['webhook', 'jobs', 'remove'],
  summary: 'Remove what this machine keeps of an upload',
  description: 'The webhook and its addresses stay at the service. Asks on a terminal; elsewhere --yes is needed.',
  params: {
    job: local(z.string().min(1), 'name of the upload, or its start; webhook jobs lists them', { positional: true }),
  },
  examples: [{ argv: 'webhook jobs remove 3f9a --yes', says: 'the upload whose name begins so' }],
  uses: ['changes'],
  exitCodes: [3, 5],
  view: async () => (await import('./view.ts')).removedJob,
  run: async ({ job }, context) => (await import('./upload/remove-job.ts')).removeJob(job, context),
});

const list = defineCommand({
  words: ['webhook', 'list'],
  summary: endpoints.list.summary,
  params: { showSecrets: local(z.boolean().optional(), 'show the secrets instead of masking them') },
  endpoint: { method: 'GET', path: endpoints.list.path, source: 'spec' },
  examples: endpoints.list.examples.map((example) => ({ ...example, argv: `--sandbox ${example.argv}` })),
  uses: ['requests'],
  exitCodes: serviceExitCodes,
  view: async () => (await import('./view.ts')).list,
  run: async ({ showSecrets }, context) =>
    (await import('./run-secret.ts')).listWebhooks(showSecrets === true, context),
});

const secret = defineCommand({
  words: ['webhook', 'secret'],
  summary: "Write a webhook's secret to a file, from this machine's uploads or the service's list",
  params: { uid: uidParam, out: local(z.string().min(1), 'file to write (mode 0600); replacing one needs a yes') },
  examples: [
    {
      argv: 'webhook secret 2f1d3c5e-7a90-4b8c-9d6e-0f1a2b3c4d5e --out hook.secret',
      says: 'for webhook listen and verify',
    },
  ],
  uses: ['requests', 'changes'],
  exitCodes: [3, ...serviceExitCodes],
  view: async () => (await import('./view.ts')).secretWritten,
  run: async ({ uid, out }, context) => (await import('./run-secret.ts')).writeWebhookSecret(uid, out, context),
});

const remove = endpointCommand(endpoints.remove, async () => (await import('./view.ts')).deleted, {
  confirms: ({ uid }) => `delete webhook ${uid} with its addresses and its secret`,
});

const validate: Command = {
  ...endpointCommand(endpoints.validate, async () => (await import('./view.ts')).validated),
  exitCodes: [...serviceExitCodes.filter((code) => code < 12), 12, ...serviceExitCodes.filter((code) => code > 12)],
  run: async (input: { uid: string }, context: Context) => {
    const { data, text } = await context.call(endpoints.validate, input);
    const view = (await import('./view.ts')).validated;
    return { kind: 'answer', answer: data, text, view, exitCode: data?.success === false ? 12 : 0 };
  },
};

/** The commands about webhooks. */
export const webhookCommands: readonly Command[] = [
  register,
  list,
  addAddresses,
  sync,
  resume,
  jobs,
  removeJob,
  secret,
  remove,
  validate,
  ...receiveCommands,
];
