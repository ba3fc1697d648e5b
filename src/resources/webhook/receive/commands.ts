import { z } from 'zod';
import { type Command, defineCommand } from '../../../cli/command.ts';
import { local } from '../../../contract/endpoint.ts';
import { parseDuration, parseSize, parseTime } from '../../../model/duration.ts';
import { isHttpAddress } from '../../../model/http-address.ts';

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
const maxDelivery = local(
  z
    .string()
    .refine((text) => isDeliverySize(parseSize(text)), 'must be a size from 1KB to 64MB, such as 500KB or 5MB')
    .optional(),
  'refuse larger deliveries (default 5MB)',
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
const bytesOf = (text: string | undefined) => (text === undefined ? undefined : parseSize(text));
const toleranceMs = (text: string | undefined) => (text === undefined ? undefined : parseDuration(text));

const listen = defineCommand({
  words: ['webhook', 'listen'],
  summary: 'Receive deliveries: verify, store, show and forward each event',
  description:
    'Answers 2xx only when an event is safe on disk, 503 where it cannot be stored (a full disk, a store of 1 GiB) and 401 to a request\n' +
    'without a fitting signature, so webhook validate succeeds. An event that comes twice is stored and shown once. Forwarding keeps bytes\n' +
    'and headers (not those of the connection), goes in order per webhook, repeats until it is taken and goes on at the next start; its\n' +
    'outcomes are lines on stderr, also with --json: -> 200 in 12 ms http://... On 127.0.0.1 unless --host says otherwise. With --json\n' +
    'one object an event. Why a signature does not fit, webhook verify tells.',
  params: {
    port: local(z.int().min(0).max(65_535).optional(), 'port to listen on (default 4242); 0 takes a free one'),
    host: local(z.string().min(1).optional(), 'address to listen on (default 127.0.0.1: this machine only)'),
    secretFile,
    forwardTo: local(z.array(z.string()).optional(), 'send every delivery on to this address'),
    route: local(
      z.array(z.string().regex(/^[\w-]+=./)).optional(),
      "send deliveries with events of one kind on: 'comment-created=http://127.0.0.1:3000/c'",
    ),
    tolerance,
    maxDelivery,
    name,
    readyFile: local(z.string().min(1).optional(), 'write {url, pid} here once it listens'),
  },
  examples: [
    {
      argv: 'webhook listen --port 4242 --secret-file hook.secret --forward-to http://127.0.0.1:3000/hook',
      says: 'verify and pass on to your own server',
    },
  ],
  uses: ['repeats'],
  exitCodes: [3, 130],
  run: async ({ tolerance: within, maxDelivery: max, ...input }, context) => {
    const { listenForEvents } = await import('./run-listen.ts');
    return listenForEvents({ ...input, toleranceMs: toleranceMs(within), maxBytes: bytesOf(max) }, context);
  },
});

const verify = defineCommand({
  words: ['webhook', 'verify'],
  summary: 'Say whether one saved delivery is valid, or why not',
  description: 'The body is read from stdin, byte for byte, or from --file. Exit 12 when it is not valid.',
  params: {
    secretFile,
    header: local(z.string().optional(), 'value of the daylight-signature header; left out: there was none'),
    file: local(z.string().min(1).optional(), 'read the body from this file instead of stdin', {
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
  view: async () => (await import('../view.ts')).verdict,
  run: async ({ tolerance: within, ...input }, context) =>
    (await import('./run-events.ts')).verifySaved({ ...input, toleranceMs: toleranceMs(within) }, context),
});

const events = defineCommand({
  words: ['webhook', 'events'],
  summary: 'Events that webhook listen stored, newest first',
  params: {
    type: local(z.string().min(1).optional(), 'only this kind, such as new-feed-item'),
    since: local(sinceText, 'only events received since a time, or within 1h'),
    limit: local(z.int().min(1).optional(), 'how many (default 50)'),
    name,
  },
  examples: [{ argv: 'webhook events --since 1h', says: 'the last hour' }],
  uses: [],
  exitCodes: [3, 5],
  view: async () => (await import('../view.ts')).events,
  run: async (input, context) => (await import('./run-events.ts')).showEvents(input, context),
});

const replay = defineCommand({
  words: ['webhook', 'replay'],
  summary: 'Send stored deliveries once more, bytes and headers as they came',
  description:
    'The signature is the old one: a receiver with a tolerance refuses it once it is too old. Each is tried three times, and --timeout is\n' +
    'what an answer may take; behind one that was not answered in time nothing is sent. Exit 10 where one was not taken.',
  params: {
    ids: local(
      z.array(z.string().min(1)).optional(),
      'ids of events to send, whole or their start; webhook events lists them',
      {
        positional: true,
        flag: 'id',
      },
    ),
    since: local(sinceText, 'every delivery received since a time, or within 1h'),
    to: local(z.string().refine(isHttpAddress, 'must be an http or https address'), 'where to send them'),
    name,
  },
  examples: [{ argv: 'webhook replay --since 1h --to http://127.0.0.1:3000/hook', says: 'the last hour once more' }],
  uses: ['events', 'repeats'],
  exitCodes: [3, 5, 10],
  view: async () => (await import('../view.ts')).replayed,
  run: async (input, context) => (await import('./run-events.ts')).replayEvents(input, context),
});

/** The commands for those who receive deliveries. */
export const receiveCommands: readonly Command[] = [listen, verify, events, replay];
