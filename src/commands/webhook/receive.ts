import { type Command, defineCommand } from '../../cli/command.ts';
import { eventsParams, forwardParams, listenParams, replayParams, showParams, verifyParams } from './params.ts';

const view = () => import('../../inbox/event-view.ts');

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
    'deliveries may be forwarded again. Once --keep has removed an event, it counts as new if it comes again.\n' +
    'An --inbox that does not exist is made, and one that exists is never changed.',
  params: listenParams,
  examples: [
    {
      argv: 'webhook listen --port 4242 --secret-file hook.secret --forward-to http://127.0.0.1:3000/hook',
      says: 'verify and forward to your own server',
    },
  ],
  uses: ['repeats'],
  exitCodes: [3, 9, 130],
  run: async (input, context) => (await import('./run-listen.ts')).listenForEvents(input, context),
});

const verify = defineCommand({
  words: ['webhook', 'verify'],
  summary: 'Say whether one saved delivery is valid, or why not',
  description: 'The body is read from stdin, byte for byte, or from --file. Exit 12 when it is not valid.',
  params: verifyParams,
  examples: [
    {
      argv: "webhook verify --secret-file hook.secret --header 't=1565125718,v1=hU7OTCKs73xmtX1OUEFTvFEllejpx3Ls4qaBUFSMGac' < body.json",
      says: 'a delivery that was saved',
    },
  ],
  uses: [],
  exitCodes: [3, 12],
  view: async () => (await import('./view.ts')).verdict,
  run: async (input, context) => (await import('./run-events.ts')).verifySaved(input, context),
});

const events = defineCommand({
  words: ['webhook', 'events'],
  summary: 'Events that webhook listen stored, newest first',
  description:
    'An event is waiting while a target of --forward-to has not got it, refused where one did not take it, and forwarded where all did.\n' +
    'With --follow, new events are printed as they come, while webhook listen runs. --wait prints the first event that fits: the oldest\n' +
    'one since --since, which may be stored already, or without --since one that is received after the command started.',
  params: eventsParams,
  examples: [
    { argv: 'webhook events --since 1h', says: 'the last hour' },
    { argv: 'webhook events --type copyswap --status waiting', says: 'copies that are not forwarded yet' },
    { argv: 'webhook events --type comment-created --wait 30s', says: 'the next comment' },
  ],
  uses: [],
  exitCodes: [3, 5, 9, 124, 130],
  view: async () => (await view()).events,
  run: async (input, context) => {
    const { followEvents, showEvents, waitForEvent } = await import('./run-events.ts');
    if (input.wait !== undefined) return waitForEvent(input, context);
    return input.follow ? followEvents(input, context) : showEvents(input, context);
  },
});

const show = defineCommand({
  words: ['webhook', 'show'],
  summary: 'One stored event: its delivery with headers and body, its signature, and how it was forwarded',
  params: showParams,
  examples: [{ argv: 'webhook show 2f1d', says: 'the event whose id starts with 2f1d' }],
  uses: [],
  exitCodes: [3, 5, 9],
  view: async () => (await view()).shown,
  run: async (input, context) => (await import('./run-events.ts')).showEvent(input, context),
});

const forward = defineCommand({
  words: ['webhook', 'forward'],
  summary: 'Forward what webhook listen stores, from another process',
  description:
    'As webhook listen --forward-to does, for a listener that runs without: in order per webhook, at least once, until a delivery is\n' +
    'accepted. One process at a time forwards from a store of this machine; from an --inbox several share the work, and another takes over\n' +
    'where one is gone. A new target starts with the next delivery.',
  params: forwardParams,
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
  params: replayParams,
  examples: [{ argv: 'webhook replay --since 1h --to http://127.0.0.1:3000/hook', says: 'the last hour once more' }],
  uses: ['events', 'repeats'],
  exitCodes: [3, 5, 9, 10],
  view: async () => (await view()).replayed,
  run: async (input, context) => (await import('./run-events.ts')).replayEvents(input, context),
});

export const receiveCommands: readonly Command[] = [listen, verify, events, show, replay, forward];
