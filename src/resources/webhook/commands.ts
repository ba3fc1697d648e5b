import { z } from 'zod';
import { local } from '../../api/endpoint.ts';
import { type Command, defineCommand } from '../../cli/command.ts';
import { endpointCommand, serviceExitCodes } from '../../cli/endpoint-command.ts';
import type { Context } from '../../context.ts';
import { usageError } from '../../errors.ts';
import * as endpoints from './endpoints.ts';
import { receiveCommands } from './receive-commands.ts';

const uploadView = async () => (await import('./view.ts')).uploaded;
const uploadCodes = [3, 10, ...serviceExitCodes] as const;

const addressParams = {
  addressesFile: local(
    z.string().min(1).optional(),
    'addresses: one a line, CSV with a header, NDJSON or a JSON array, gzip too; - for stdin',
  ),
  walletAddresses: local(z.array(z.string()).optional(), 'addresses typed here instead'),
  column: local(z.string().min(1).optional(), 'the CSV column that holds the addresses'),
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
  description: `${fileHelp}\nThe webhook is made exactly once: where the answer is lost, the list of webhooks settles how it went.`,
  params: {
    url: local(z.string().refine(isHttpUrl, 'must be an http or https address'), 'where feed items are sent'),
    ...addressParams,
    secretFile: local(z.string().min(1).optional(), 'write the secret here (mode 0600) before anything else is sent'),
    concurrency,
    another: local(z.boolean().optional(), 'make a webhook also where the destination has one'),
  },
  endpoint: endpointOf({ ...endpoints.register, method: 'POST', source: 'spec' }),
  examples: endpoints.register.examples.map((example) => ({ ...example, argv: `--sandbox ${example.argv}` })),
  exitCodes: uploadCodes,
  view: uploadView,
  run: async ({ url, ...input }, context) =>
    (await import('./run-upload.ts')).uploadAddresses({ ...input, task: 'register', destinationUrl: url }, context),
});

const addAddresses = defineCommand({
  words: ['webhook', 'add-addresses'],
  summary: endpoints.addAddresses.summary,
  description: fileHelp,
  params: { uid: uidParam, ...addressParams, concurrency, again },
  endpoint: endpointOf({ ...endpoints.addAddresses, method: 'PUT', source: 'spec' }),
  examples: endpoints.addAddresses.examples.map((example) => ({ ...example, argv: `--sandbox ${example.argv}` })),
  exitCodes: uploadCodes,
  view: uploadView,
  run: async (input, context) =>
    (await import('./run-upload.ts')).uploadAddresses({ ...input, task: 'add-addresses' }, context),
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
    { argv: 'webhook sync 2f1d3c5e-7a90-4b8c-9d6e-0f1a2b3c4d5e --addresses-file users.csv', says: 'send what is new' },
    {
      argv: 'webhook sync 2f1d3c5e-7a90-4b8c-9d6e-0f1a2b3c4d5e --addresses-file users.csv --check --json',
      says: 'what would be sent, for CI',
    },
  ],
  exitCodes: uploadCodes,
  view: async () => (await import('./sync-view.ts')).synced,
  run: async (input, context) => (await import('./run-sync.ts')).syncAddresses(input, context),
});

const resume = defineCommand({
  words: ['webhook', 'resume'],
  summary: 'Go on with an interrupted upload',
  params: {
    job: local(z.string().min(1), 'name of the upload, or its start; webhook jobs lists them', { positional: true }),
    concurrency,
  },
  examples: [{ argv: 'webhook resume 3f9a', says: 'the upload whose name begins so' }],
  exitCodes: uploadCodes,
  view: uploadView,
  run: async (input, context) => (await import('./run-upload.ts')).resumeUpload(input, context),
});

const jobs = defineCommand({
  words: ['webhook', 'jobs'],
  summary: 'The uploads of this machine, finished and not',
  params: {},
  examples: [{ argv: 'webhook jobs', says: 'every upload with what is confirmed' }],
  exitCodes: [3],
  view: async () => (await import('./sync-view.ts')).jobs,
  run: async (_, context) => (await import('./run-sync.ts')).showJobs(context),
});

const list = defineCommand({
  words: ['webhook', 'list'],
  summary: endpoints.list.summary,
  params: { showSecrets: local(z.boolean().optional(), 'show the secrets instead of masking them') },
  endpoint: { method: 'GET', path: endpoints.list.path, source: 'spec' },
  examples: endpoints.list.examples.map((example) => ({ ...example, argv: `--sandbox ${example.argv}` })),
  exitCodes: serviceExitCodes,
  view: async () => (await import('./view.ts')).list,
  run: async ({ showSecrets }, context) =>
    (await import('./run-secret.ts')).listWebhooks(showSecrets === true, context),
});

const secret = defineCommand({
  words: ['webhook', 'secret'],
  summary: "Write a webhook's secret to a file, from this machine's uploads or the service's list",
  params: { uid: uidParam, out: local(z.string().min(1), 'file to write (mode 0600); must not exist') },
  examples: [
    {
      argv: 'webhook secret 2f1d3c5e-7a90-4b8c-9d6e-0f1a2b3c4d5e --out hook.secret',
      says: 'for webhook listen and verify',
    },
  ],
  exitCodes: [3, ...serviceExitCodes],
  view: async () => (await import('./sync-view.ts')).secretWritten,
  run: async ({ uid, out }, context) => (await import('./run-secret.ts')).writeWebhookSecret(uid, out, context),
});

const remove = endpointCommand(endpoints.remove, async () => (await import('./view.ts')).deleted, {
  description: 'Asks on a terminal; elsewhere --yes is needed.',
  prepare: async (typed, context) => {
    await confirm(`Delete webhook ${typed.uid}? Its addresses and its secret are gone then. [y/N] `, context);
    return typed;
  },
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

/** A question before something that cannot be taken back. Errors: `usage` where nobody can be asked or the answer is no. */
async function confirm(question: string, { world, options }: Context): Promise<void> {
  if (options.yes || options.dryRun || options.curl) return;
  if (options.noInput || world.io.in.isTTY !== true)
    throw usageError('this deletes a webhook, and nobody is there to be asked', 'Say --yes to do it without asking.');
  const answer = await world.io.ask(question, { hidden: false });
  if (!/^y(es)?$/i.test(answer.trim())) throw usageError('not confirmed: nothing was deleted');
}

function isHttpUrl(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}

/** The commands about webhooks. */
export const webhookCommands: readonly Command[] = [
  register,
  list,
  addAddresses,
  sync,
  resume,
  jobs,
  secret,
  remove,
  validate,
  ...receiveCommands,
];
