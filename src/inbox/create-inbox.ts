import { defineCommand, option, type Result } from '../cli/command.ts';
import type { Context } from '../context.ts';
import type { InputOf } from '../contract/endpoint.ts';
import { usageError } from '../errors.ts';
import { parseDuration, parseSize } from '../model/duration.ts';
import { column, recordView } from '../output/columns.ts';
import { confirm, showPlan } from '../output/confirm.ts';
import { formatCount } from '../output/format.ts';
import type { InboxShape } from './nats/stream.ts';
import { readCluster } from './open-inbox.ts';
import { inboxCreds } from './params.ts';

interface CreatedInbox {
  name: string;
  servers: readonly string[];
  replicas: number;
  /** Such as `7d`; `null`: forever. */
  keep: string | null;
  /** `null`: what the servers have. */
  maxBytes: number | null;
  /** Whether it was made by this command; otherwise it was there, of this shape. */
  created: boolean;
}

const view = recordView<CreatedInbox>([
  column.text('name', 'Inbox', 'its name'),
  column.text('servers', 'Servers', 'servers that were asked', ({ servers }) => servers.join(', ')),
  column.text('replicas', 'Replicas', 'servers that hold each event', ({ replicas }) => String(replicas)),
  column.text('keep', 'Keeps for', 'how long; none: forever', ({ keep }) => keep ?? 'ever'),
  column.text('maxBytes', 'At most', 'bytes; none: what the servers have', ({ maxBytes }) =>
    maxBytes === null ? 'what the servers have' : `${formatCount(maxBytes)} bytes`,
  ),
  column.flag('created', 'Created', 'by this command; otherwise it was there already'),
]);

const params = {
  inbox: option.text("nats://host:4222,host:4222/NAME or tls://... (default: the context's)"),
  inboxCreds,
  replicas: option.count(1, 5, 'servers that hold each event: 3 survive the loss of one (default 3)'),
  keep: option.checked(
    'how long events are kept, such as 7d (default: forever)',
    (text) => (parseDuration(text) ?? 0) > 0,
    'must be a time such as 10m, 24h or 7d',
  ),
  maxBytes: option.checked(
    'how large it may become, such as 50GB (default: what the servers have)',
    (text) => (parseSize(text) ?? 0) >= 1024 ** 2,
    'must be a size of 1MB at least, such as 50GB',
  ),
};

const createInbox = defineCommand({
  words: ['inbox', 'create'],
  summary: 'Set up an inbox for the webhook listeners of several machines, on a NATS cluster',
  description:
    'Makes a stream with JetStream, of nats-server 2.11 or later. What is there already in this shape stays as it is; a stream of another\n' +
    'shape is refused, with what differs. A full inbox refuses deliveries (503), and the service sends them again. What is older than --keep\n' +
    'is removed, also what waits to be forwarded. sotra help scaling says how many machines are enough.',
  params,
  examples: [
    {
      argv: 'inbox create --inbox nats://127.0.0.1:4222/INBOX --replicas 3 --keep 7d --dry-run',
      says: 'what would be made; with --yes it is',
    },
  ],
  uses: ['changes'],
  exitCodes: [3, 6, 9],
  view: async () => view,
  run: runCreate,
});

export const commands = [createInbox];

async function runCreate(input: InputOf<typeof params>, context: Context): Promise<Result> {
  const cluster = await readCluster(input, context);
  if (cluster === undefined)
    throw usageError('--inbox is required: which inbox to make', 'Such as --inbox nats://127.0.0.1:4222/INBOX.');
  const { address, credsFile } = cluster;
  const shape: InboxShape = {
    replicas: input.replicas ?? 3,
    keepMs: input.keep === undefined ? 0 : (parseDuration(input.keep) ?? 0),
    maxBytes: input.maxBytes === undefined ? -1 : (parseSize(input.maxBytes) ?? -1),
  };
  const detail =
    `${shape.replicas} replica${shape.replicas === 1 ? '' : 's'}, ` +
    `keeps ${shape.keepMs === 0 ? 'forever' : input.keep}, ` +
    `${shape.maxBytes === -1 ? 'any size' : `at most ${input.maxBytes}`}`;
  const where = `at ${address.servers.join(', ')}`;
  if (context.options.dryRun) return showPlan([{ action: 'make', what: `inbox ${address.name} ${where}`, detail }]);
  const { connectInbox, requireShape } = await import('./nats/create.ts');
  const { connection, stream, found } = await connectInbox(address, credsFile);
  try {
    if (found !== undefined) requireShape(address.name, found, shape);
    else {
      context.note(`Makes the stream ${address.name} ${where}: ${detail}.`);
      await confirm(`make the inbox ${address.name}`, context);
      await stream.create(shape);
    }
    const answer: CreatedInbox = {
      name: address.name,
      servers: address.servers,
      replicas: shape.replicas,
      keep: input.keep ?? null,
      maxBytes: shape.maxBytes === -1 ? null : shape.maxBytes,
      created: found === undefined,
    };
    return { kind: 'answer', answer, view };
  } finally {
    await connection.close();
  }
}
