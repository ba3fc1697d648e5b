import { z } from 'zod';
import { type Command, defineCommand } from '../../cli/command.ts';
import { commandsOf, endpointCommand, serviceExitCodes } from '../../cli/endpoint-command.ts';
import type { Context } from '../../context.ts';
import { local } from '../../contract/endpoint.ts';
import { parseDuration, parseSize, parseTime } from '../../model/duration.ts';
import { isHttpAddress } from '../../model/http-address.ts';
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

const text = z.string().min(1).optional();
const yes = z.boolean().optional();
const httpAddress = z.string().refine(isHttpAddress, 'must be an http or https address');
const addressParams = {
  file: local(text, 'addresses: one a line, CSV or TSV with a header, NDJSON or a JSON array, gzip too; - for stdin', {
    oldFlags: ['addresses-file'],
  }),
  walletAddresses: local(z.array(z.string()).optional(), 'addresses typed here instead', { takesAddress: 'wallet' }),
  column: local(text, 'the column, or field of JSON, that holds the addresses'),
  allowBadChecksum: local(yes, 'accept EVM addresses with a wrong EIP-55 checksum'),
  skipInvalid: local(yes, 'skip bad lines instead of stopping before anything is sent'),
  rejects: local(text, 'write bad lines here, one JSON object a line'),
};
const concurrency = local(z.int().min(1).max(32).optional(), 'requests at once (default 4)');
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
    secretFile: local(text, 'write the secret here (mode 0600) before anything else is sent'),
    concurrency,
    another: local(yes, 'register even if the destination has a webhook already'),
  },
  uses: ['requests', 'changes'],
  exitCodes: uploadCodes,
  run: async ({ url, ...input }, context) =>
    (await import('./upload/run-upload.ts')).uploadAddresses(
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
    again: local(yes, 'send the list once more although it is confirmed'),
  },
  uses: ['requests', 'changes'],
  exitCodes: uploadCodes,
  run: async (input, context) =>
    (await import('./upload/run-upload.ts')).uploadAddresses({ ...input, task: 'add-addresses' }, context),
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
    check: local(yes, 'send nothing; exit 10 where an address is missing in the webhook or in the file'),
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
  run: async (input, context) => (await import('./upload/run-sync.ts')).syncAddresses(input, context),
});

const resume = defineCommand({
  words: ['webhook', 'resume'],
  summary: 'Continue an interrupted upload',
  params: { job, concurrency },
  examples: [{ argv: 'webhook resume 3f9a', says: 'the upload whose name starts with 3f9a' }],
  uses: ['requests', 'changes'],
  exitCodes: uploadCodes,
  view: views.register,
  run: async (input, context) => (await import('./upload/run-upload.ts')).resumeUpload(input, context),
});

const jobs = defineCommand({
  words: ['webhook', 'jobs'],
  summary: 'The uploads of this machine, finished and not',
  params: {},
  examples: [{ argv: 'webhook jobs', says: 'every upload with what is confirmed' }],
  uses: [],
  exitCodes: [3],
  view: async () => (await view()).jobs,
  run: async (_, context) => (await import('./upload/jobs.ts')).showJobs(context),
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
  run: async (input, context) => (await import('./upload/jobs.ts')).removeJob(input.job, context),
});

const list = defineCommand({
  ...endpointCommand(endpoints.list, views.list),
  oneOf: [],
  params: { showSecrets: local(yes, 'show the secrets instead of masking them') },
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

const secretFile = local(
  z.array(z.string().min(1)),
  'file with the secret; several files, or several lines in one, while a secret is being changed',
);
const tolerance = local(
  z
    .string()
    .refine((text) => parseDuration(text) !== undefined, 'must be a time such as 300s or 5m')
    .optional(),
  'refuse signatures older than this (default: any age, since deliveries may be late)',
);
const name = local(
  z
    .string()
    .regex(/^[\w-]{1,64}$/)
    .optional(),
  'which store, where several listeners run (default: default)',
);
const sinceText = z
  .string()
  .refine(
    (text) => parseDuration(text) !== undefined || parseTime(text) !== undefined,
    'must be a time such as 2026-07-03T12:00:00Z or how long ago, such as 1h',
  )
  .optional();

const isDeliverySize = (bytes = 0) => bytes >= 1024 && bytes <= 64 * 1024 ** 2;
const toleranceMs = (text: string | undefined) => (text === undefined ? undefined : parseDuration(text));

const listen = defineCommand({
  words: ['webhook', 'listen'],
  summary: 'Receive deliveries: verify, store, show and forward each event',
  description:
    'Answers 2xx only when an event is safe on disk, 503 where it cannot be stored (a full disk) and 401 to a request\n' +
    'without a fitting signature, so webhook validate succeeds. An event that comes twice is stored and shown once. Forwarding keeps bytes\n' +
    'and headers (not those of the connection) and the order per webhook; it repeats until a delivery is accepted and continues at the next\n' +
    'start. Its outcomes are lines on stderr, also with --json: -> 200 in 12 ms http://... On 127.0.0.1 unless --host says otherwise. With\n' +
    '--json one object an event. webhook verify says why a signature does not fit.',
  params: {
    port: local(z.int().min(0).max(65_535).optional(), 'port to listen on (default 4242); 0 picks a free one'),
    host: local(text, 'address to listen on (default 127.0.0.1: this machine only)'),
    secretFile,
    forwardTo: local(z.array(z.string()).optional(), 'forward every delivery to this address'),
    route: local(
      z.array(z.string().regex(/^[\w-]+=./)).optional(),
      "forward deliveries with events of one kind: 'comment-created=http://127.0.0.1:3000/c'",
    ),
    tolerance,
    maxDelivery: local(
      z
        .string()
        .refine((text) => isDeliverySize(parseSize(text)), 'must be a size from 1KB to 64MB, such as 500KB or 5MB')
        .optional(),
      'refuse larger deliveries (default 5MB)',
    ),
    name,
    readyFile: local(text, 'write {url, pid} here once it listens'),
  },
  examples: [
    {
      argv: 'webhook listen --port 4242 --secret-file hook.secret --forward-to http://127.0.0.1:3000/hook',
      says: 'verify and forward to your own server',
    },
  ],
  uses: ['repeats'],
  exitCodes: [3, 130],
  run: async ({ tolerance: within, maxDelivery: max, ...input }, context) => {
    const { listenForEvents } = await import('./receive/run-listen.ts');
    const maxBytes = max === undefined ? undefined : parseSize(max);
    return listenForEvents({ ...input, toleranceMs: toleranceMs(within), maxBytes }, context);
  },
});

const verify = defineCommand({
  words: ['webhook', 'verify'],
  summary: 'Say whether one saved delivery is valid, or why not',
  description: 'The body is read from stdin, byte for byte, or from --file. Exit 12 when it is not valid.',
  params: {
    secretFile,
    header: local(z.string().optional(), 'value of the daylight-signature header (default: there was none)'),
    file: local(text, 'read the body from this file instead of stdin', {
      oldFlags: ['body-file'],
    }),
    tolerance,
  },
  examples: [
    {
      argv: "webhook verify --secret-file hook.secret --header 't=1565125718,v1=hU7OTCKs73xmtX1OUEFTvFEllejpx3Ls4qaBUFSMGac' < body.json",
      says: 'a delivery that was saved',
    },
  ],
  uses: [],
  exitCodes: [3, 12],
  view: async () => (await view()).verdict,
  run: async ({ tolerance: within, ...input }, context) =>
    (await import('./receive/run-events.ts')).verifySaved({ ...input, toleranceMs: toleranceMs(within) }, context),
});

const events = defineCommand({
  words: ['webhook', 'events'],
  summary: 'Events that webhook listen stored, newest first',
  params: {
    type: local(text, 'only this kind, such as new-feed-item'),
    since: local(sinceText, 'only events received since a time, or within 1h'),
    limit: local(z.int().min(1).optional(), 'how many (default 50)'),
    name,
  },
  examples: [{ argv: 'webhook events --since 1h', says: 'the last hour' }],
  uses: [],
  exitCodes: [3, 5],
  view: async () => (await view()).events,
  run: async (input, context) => (await import('./receive/run-events.ts')).showEvents(input, context),
});

const replay = defineCommand({
  words: ['webhook', 'replay'],
  summary: 'Send stored deliveries once more, bytes and headers as they came',
  description:
    'The signature is the old one: a receiver with a tolerance refuses it once it is too old. Each delivery is tried three times, and\n' +
    '--timeout is how long an answer may take; after one that was not answered in time nothing more is sent. Exit 10 where one was not\n' +
    'accepted.',
  params: {
    ids: local(
      z.array(z.string().min(1)).optional(),
      'ids of events to send, whole or their start; webhook events lists them',
      { positional: true, flag: 'id' },
    ),
    since: local(sinceText, 'every delivery received since a time, or within 1h'),
    to: local(httpAddress, 'where to send them'),
    name,
  },
  examples: [{ argv: 'webhook replay --since 1h --to http://127.0.0.1:3000/hook', says: 'the last hour once more' }],
  uses: ['events', 'repeats'],
  exitCodes: [3, 5, 10],
  view: async () => (await view()).replayed,
  run: async (input, context) => (await import('./receive/run-events.ts')).replayEvents(input, context),
});

export const commands = commandsOf(endpoints, views, [
  ...[register, list, addAddresses, sync, resume, jobs, removeJob, secret, remove, validate],
  ...[listen, verify, events, replay],
]);
