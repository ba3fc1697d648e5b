import { z } from 'zod';
import { type Command, defineCommand, httpAddress, isDuration, option } from '../cli/command.ts';
import { asksChart, chartParam } from '../cli/endpoint-command.ts';
import { local } from '../contract/endpoint.ts';
import { usageError } from '../errors.ts';
import { isWalletAddress } from '../model/address.ts';
import { parseDuration, parseSize, parseTime } from '../model/duration.ts';
import { withReport } from '../report/with-report.ts';
import type { KeepLimits } from './inbox.ts';
import { readRoute, routeForm } from './route.ts';

const view = () => import('./view.ts');

const secretFile = local(
  z.array(z.string().min(1)),
  'file with the secret; several files, or several lines in one, while a secret is being changed',
);
const tolerance = option.duration(
  'refuse signatures older than this (default: any age, since deliveries may be late)',
  '300s or 5m',
);
/** The file with the credentials of an inbox. */
export const inboxCreds = option.text(
  'file with its user: and password:, its token:, or credentials of nsc (SOTRA_NATS_CREDS)',
);
/** Which inbox. */
export const store = {
  name: option.checked(
    'which store, where several listeners run (default: default)',
    (text) => /^[\w-]{1,64}$/.test(text),
    'must be letters, digits, - and _, 64 at most',
  ),
  inbox: option.text(
    "an inbox of several machines instead: nats://host:4222,host:4222/NAME or tls://... (default: the context's, if any)",
  ),
  inboxCreds,
};
export const momentOption = (help: string) =>
  option.checked(
    help,
    (text) => isDuration(text) || parseTime(text) !== undefined,
    'must be a time such as 2026-07-03T12:00:00Z or how long ago, such as 1h',
  );

const toleranceMs = (text: string | undefined) => (text === undefined ? undefined : parseDuration(text));

const isKept = (text: string) => isDuration(text) || (parseSize(text) ?? 0) >= 1024 ** 2;

/** Errors: `usage` where two of them limit the same. */
function keepLimits(given: readonly string[] | undefined): KeepLimits | undefined {
  if (given === undefined) return undefined;
  const ms = given.flatMap((text) => parseDuration(text) ?? []);
  const bytes = given.flatMap((text) => (isDuration(text) ? [] : (parseSize(text) ?? [])));
  if (ms.length > 1 || bytes.length > 1)
    throw usageError(`--keep ${given.join(' --keep ')}: must be one time and one size at most`, 'Omit one of them.');
  return { ms: ms[0], bytes: bytes[0] };
}

const targetParams = {
  forwardTo: local(z.array(z.string()).optional(), 'forward every delivery to this address'),
  route: local(
    z.array(z.string().refine((text) => readRoute(text) !== undefined, routeForm)).optional(),
    "forward deliveries with such events: 'comment-created=http://127.0.0.1:3000/c' or '* where chain=base=http://127.0.0.1:3000/b'",
  ),
};

const pageParams = {
  open: option.flag('open the page in the browser; otherwise its address is printed on stderr'),
};

const listen = defineCommand({
  words: ['webhook', 'listen'],
  summary: 'Receive deliveries: verify, store, show and forward each event',
  description:
    'Answers 2xx only when an event is safe on disk, 503 where it cannot be stored (a full disk) and 401 to a request\n' +
    'without a fitting signature, so webhook validate succeeds. An event that comes twice is stored and shown once\n' +
    '(--repeats-within). Forwarding keeps bytes and headers (not those of the connection) and the order per webhook; it repeats until a\n' +
    'delivery is accepted and continues at the next start. Its outcomes are lines on stderr, also with --json: -> 200 in 12 ms\n' +
    'http://... On 127.0.0.1 unless --host says otherwise. With --json one object an event. webhook verify says why a signature does not fit.\n' +
    'What was answered 2xx survives a crash and, where the disk keeps what it says it wrote, a power cut; after one, the last few forwarded\n' +
    'deliveries may be forwarded again. Once --keep has removed an event, it counts as new if it comes again.',
  params: {
    port: option.count(0, 65_535, 'port to listen on (default 4242); 0 picks a free one'),
    host: option.text('address to listen on (default 127.0.0.1: this machine only)'),
    secretFile,
    ...targetParams,
    tolerance,
    keep: local(
      z.array(z.string().refine(isKept, 'must be a time such as 30d or a size from 1MB on, such as 5GB')).optional(),
      'remove what is older, or the oldest of what takes more space, and never what waits to be forwarded (503 at twice the size); an --inbox keeps what inbox create says',
    ),
    repeatsWithin: option.duration(
      'an event that comes again within this time is a repeat (default 7d); an --inbox knows each for as long as it is kept',
      '7d or 30d',
    ),
    ...store,
    ui: option.flag('show what comes on a page of this machine, also why requests are refused'),
    open: pageParams.open,
    readyFile: option.text('write {url, pid} here once it listens; with --ui the address of the page as ui'),
  },
  examples: [
    {
      argv: 'webhook listen --port 4242 --secret-file hook.secret --forward-to http://127.0.0.1:3000/hook',
      says: 'verify and forward to your own server',
    },
  ],
  uses: ['repeats'],
  exitCodes: [3, 9, 130],
  run: async ({ tolerance: within, keep, repeatsWithin, ...input }, context) => {
    const { listenForEvents } = await import('./run-listen.ts');
    const limits = { toleranceMs: toleranceMs(within), keep: keepLimits(keep) };
    const repeatsMs = repeatsWithin === undefined ? undefined : parseDuration(repeatsWithin);
    return listenForEvents({ ...input, ...limits, repeatsMs }, context);
  },
});

const verify = defineCommand({
  words: ['webhook', 'verify'],
  summary: 'Say whether one saved delivery is valid, or why not',
  description: 'The body is read from stdin, byte for byte, or from --file. Exit 12 when it is not valid.',
  params: {
    secretFile,
    header: local(z.string().optional(), 'value of the daylight-signature header (default: there was none)'),
    file: option.text('read the body from this file instead of stdin', { otherFlags: ['body-file'] }),
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
  view: async () => (await import('../resources/webhook/view.ts')).verdict,
  run: async ({ tolerance: within, ...input }, context) =>
    (await import('./run-events.ts')).verifySaved({ ...input, toleranceMs: toleranceMs(within) }, context),
});

const until = momentOption('only events received until a time, or before 1h ago');
const webhook = option.text('only this webhook: the path that it sends to, or path#secret as webhook stats shows it');

/** Which stored events: inputs of every command that looks among them. */
export const eventFilters = {
  type: option.text('only this kind, such as new-feed-item'),
  since: momentOption('only events received since a time, or within 1h'),
  address: option.checked(
    'only events that name this wallet: its trader, an author, its audience',
    (text) => isWalletAddress(text) || text.startsWith('ext:'),
    'must be an EVM or Solana address or ext:<id>',
    { takesAddress: 'wallet' },
  ),
  token: option.checked('only events that name this token', isWalletAddress, 'must be an EVM or Solana address', {
    takesAddress: 'token',
  }),
};

const events = defineCommand({
  words: ['webhook', 'events'],
  summary: 'Events that webhook listen stored, newest first',
  description:
    'An event is waiting while a target of --forward-to has not got it, refused where one did not take it, and forwarded where all did.\n' +
    'With --follow, new events are printed as they come, while webhook listen runs.',
  params: {
    type: eventFilters.type,
    since: eventFilters.since,
    until,
    address: eventFilters.address,
    token: eventFilters.token,
    webhook,
    status: local(
      z.enum(['forwarded', 'waiting', 'refused']).optional(),
      'only events whose forwarding is at this point',
    ),
    limit: local(z.int().min(1).optional(), 'how many (default 50)'),
    follow: option.flag('print new events as they come, until Ctrl-C'),
    ...store,
  },
  examples: [
    { argv: 'webhook events --since 1h', says: 'the last hour' },
    { argv: 'webhook events --type copyswap --status waiting', says: 'copies that are not forwarded yet' },
  ],
  uses: [],
  exitCodes: [3, 5, 9],
  view: async () => (await view()).events,
  run: async ({ follow, ...input }, context) => {
    const { followEvents, showEvents } = await import('./run-events.ts');
    return follow ? followEvents(input, context) : showEvents(input, context);
  },
});

const show = defineCommand({
  words: ['webhook', 'show'],
  summary: 'One stored event: its delivery with headers and body, its signature, and how it was forwarded',
  params: {
    id: local(z.string().min(1), 'id of the event, or its start; webhook events lists them', { positional: true }),
    secretFile: option.texts('verify the signature once more, by the secrets of these files'),
    ...store,
  },
  examples: [{ argv: 'webhook show 2f1d', says: 'the event whose id starts with 2f1d' }],
  uses: [],
  exitCodes: [3, 5, 9],
  view: async () => (await view()).shown,
  run: async (input, context) => (await import('./run-events.ts')).showEvent(input, context),
});

const stats = defineCommand({
  words: ['webhook', 'stats'],
  summary: 'What webhook listen received and forwarded, by webhook and hour',
  params: {
    since: momentOption('from the hour of this time on, or of so long ago (default 24h)'),
    until,
    webhook,
    chart: chartParam,
    ...store,
  },
  examples: [
    { argv: 'webhook stats', says: 'the last 24 hours' },
    { argv: 'webhook stats --since 7d --chart', says: 'a bar for each hour of a week' },
  ],
  uses: [],
  exitCodes: [3, 5, 9],
  view: async () => (await view()).stats,
  run: async (input, context) => {
    const chart = asksChart(input, context.options);
    return { ...(await (await import('./run-events.ts')).showStats(input, context)), chart };
  },
});

const forward = defineCommand({
  words: ['webhook', 'forward'],
  summary: 'Forward what webhook listen stores, from another process',
  description:
    'As webhook listen --forward-to does, for a listener that runs without: in order per webhook, at least once, until a delivery is\n' +
    'accepted. One process at a time forwards from a store of this machine; from an --inbox several share the work, and another takes over\n' +
    'where one is gone. A new target starts with the next delivery.',
  params: { ...targetParams, ...store },
  oneOf: [['forwardTo', 'route']],
  examples: [{ argv: 'webhook forward --forward-to http://127.0.0.1:3000/hook', says: 'until Ctrl-C' }],
  uses: ['repeats'],
  exitCodes: [3, 9, 130],
  run: async (input, context) => (await import('./run-forward.ts')).forwardDeliveries(input, context),
});

const replay = defineCommand({
  words: ['webhook', 'replay'],
  summary: 'Send stored deliveries once more, bytes and headers as they came',
  description:
    'The signature is the old one: a receiver with a tolerance refuses it once it is too old. Each delivery is tried three times, and\n' +
    '--timeout is how long an answer may take; after one that was not answered in time nothing more is sent. Exit 10 where one was not\n' +
    'accepted.',
  params: {
    ids: option.texts('ids of events to send, whole or their start; webhook events lists them', {
      positional: true,
      flag: 'id',
    }),
    since: momentOption('every delivery received since a time, or within 1h'),
    to: local(httpAddress, 'where to send them'),
    ...store,
  },
  examples: [{ argv: 'webhook replay --since 1h --to http://127.0.0.1:3000/hook', says: 'the last hour once more' }],
  uses: ['events', 'repeats'],
  exitCodes: [3, 5, 9, 10],
  view: async () => (await view()).replayed,
  run: async (input, context) => (await import('./run-events.ts')).replayEvents(input, context),
});

const ui = defineCommand({
  words: ['webhook', 'ui'],
  summary: 'Look at stored deliveries on a local page: filters, bodies, signatures, forwards; send them again',
  description:
    'Shows what is stored and what comes, while webhook listen runs elsewhere or not at all; webhook listen --ui shows refused requests too.\n' +
    'The page is served on 127.0.0.1 alone. Its address holds a code that works once; Enter on the terminal gives another.',
  params: {
    secretFile: option.texts('files with the secrets, to say which one fits a delivery; they are not shown'),
    ...pageParams,
    readyFile: option.text('write {ui, pid} here once the page is served'),
    ...store,
  },
  examples: [{ argv: 'webhook ui --open', says: 'in the browser, until Ctrl-C' }],
  uses: [],
  exitCodes: [3, 5, 9, 130],
  run: async (input, context) => (await import('./page/start-page.ts')).showPage(input, context),
});

export const receiveCommands: readonly Command[] = [
  ...[listen, verify, withReport(events), withReport(show)],
  ...[stats, replay, forward, ui],
];
