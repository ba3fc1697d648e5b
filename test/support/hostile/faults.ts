import type { ServerResponse } from 'node:http';
import { onTestFinished } from 'vitest';
import { NetworkFailure } from '../../../src/client/failures.ts';
import { createNetwork } from '../../../src/client/network.ts';
import type { Transport } from '../../../src/client/transport.ts';
import { type Outcome, run, type Script, type Seen, stub, temporaryFolder } from '../harness.ts';
import { outlines } from '../outlines.ts';
import { degen, swaps } from '../traders.ts';

const entry = '{"addressOrUid":"ext:user_1","targets":["0xb129d76820940a14c764df8b223d8e39cf94a122"]}';

export interface CommandLine {
  name: string;
  method: string;
  argv: readonly string[];
  stdin: string;
}

/** Every command that is one to one with an endpoint, by its first example; a new one is here by itself. */
export const serviceCommands: readonly CommandLine[] = outlines.flatMap(({ words, endpoint, examples }) => {
  // No key is stored here.
  const argv = examples.find((example) => !example.argv.includes(' --key '))?.argv;
  if (endpoint === undefined || argv === undefined) return [];
  const typed = argv.split(' ').filter((word) => word !== '--sandbox' && word !== '--dry-run');
  return [{ name: words.join(' '), method: endpoint.method, argv: typed, stdin: entry }];
});

const json = { 'content-type': 'application/json' };
const body = '{"traders":[],"padding":"0123456789"}';

function status(code: number, headers: Record<string, string> = {}): Script {
  return (_, response) => void response.writeHead(code, { ...json, ...headers }).end('{"error":"as scripted"}');
}

function answer(text: string): Script {
  return (_, response) => void response.writeHead(200, json).end(text);
}

/** Bytes without an end, as long as somebody reads. */
function pour(response: ServerResponse): void {
  response.writeHead(200, json);
  const more = () => {
    while (!response.destroyed && response.write(`[${' '.repeat(65_535)}`));
  };
  response.on('drain', more);
  more();
}

/** What goes wrong, as the server does it; `refused` and `foreign` need more than a script. */
export const scripts: Readonly<Record<string, Script>> = {
  'reset before answer': (_, response) => void response.destroy(),
  'reset in the body': (_, response) => {
    response.writeHead(200, { ...json, 'content-length': String(body.length) });
    response.write(body.slice(0, 20), () => response.destroy());
  },
  'no first byte': () => undefined,
  'stalled body': (_, response) => {
    response.writeHead(200, { ...json, 'content-length': String(body.length) });
    response.write(body.slice(0, 20));
  },
  400: status(400),
  401: status(401),
  403: status(403),
  404: status(404),
  409: status(409),
  413: status(413),
  429: status(429),
  '429 with Retry-After': status(429, { 'retry-after': '3' }),
  500: status(500),
  502: status(502),
  503: status(503),
  garbage: answer('<html>hello'),
  'truncated JSON': answer(body.slice(0, 20)),
  'wrong shape': answer('"neither list nor object"'),
  'redirect in a circle': (seen: Seen, response) => void response.writeHead(302, { location: seen.url }).end(),
  'endless body': (_, response) => pour(response),
};

/** The faults after whose last byte nothing comes. */
const silences = ['no first byte', 'stalled body'];

/** Answers as the fault has it, and says if that is the end of it. */
export function failing(fault: string, { goneSilent }: ManualTimeouts): Script {
  const script = scripts[fault];
  if (script === undefined) throw new Error(`there is no fault ${fault}`);
  return (seen, response, count) => {
    script(seen, response, count);
    if (silences.includes(fault)) goneSilent(seen);
  };
}

const wallet = '0xa4e221aa5a7ba51b5d5c7d5c923bfb9bcebcb252';
const uid = '2f1d3c5e-7a90-4b8c-9d6e-0f1a2b3c4d5e';

/** A command that is more than one call, or goes on for long. */
export interface LongCommand {
  name: string;
  argv: string;
  stdin?: string;
  /** It waits out what may pass: it is told to stop when so many requests were begun. */
  stopAfter?: number;
}

const lines = (count: number, of: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => `${of(index)}\n`).join('');
/** Three requests' worth. */
const addresses = lines(2500, (index) => `ext:user_${index}`);
const entries = lines(2500, (index) => `{"addressOrUid":"ext:user_${index}","targets":["${wallet}"]}`);
const comments = lines(3, (index) =>
  JSON.stringify({
    chain: 'base',
    transactionHash: Object.values(swaps)[index],
    tokenAddress: degen,
    commentText: `gm ${index}`,
  }),
);

/** One of each kind: polling, pages, one request of any form, an upload, a batch, comments, a check. */
export const longCommands: readonly LongCommand[] = [
  { name: 'feed actor/watch', argv: `feed actor ${wallet} --watch 100ms --format ndjson`, stopAfter: 6 },
  { name: 'feed actor/all', argv: `feed actor ${wallet} --all --format ndjson` },
  { name: 'request/post', argv: 'request POST /v9/any --data {}' },
  {
    name: 'webhook register/file',
    argv: 'webhook register --url http://127.0.0.1:9/hook --file - --concurrency 1',
    stdin: addresses,
  },
  {
    name: 'webhook add-addresses/file',
    argv: `webhook add-addresses ${uid} --file - --concurrency 1`,
    stdin: addresses,
  },
  { name: 'follow bulk/file', argv: 'follow bulk --file -', stdin: entries },
  {
    name: 'comment post/from',
    argv: 'comment post --file - --key-env TRADER_KEY --service-name Example --yes --format ndjson',
    stdin: comments,
  },
  { name: 'auth status', argv: 'auth status --check' },
  { name: 'doctor', argv: 'doctor' },
];

/** Those, and what needs more than a script. */
export const allFaults: readonly string[] = [...Object.keys(scripts), 'refused', 'redirect elsewhere', '100 MB body'];

/** What a target does to an event: takes it, fails in a way that may pass, refuses it, or says nothing. Typed from what is promised of each. */
export const targetKinds: Readonly<Record<string, readonly string[]>> = {
  taken: ['garbage', 'truncated JSON', 'wrong shape', 'endless body', '100 MB body'],
  passing: ['reset before answer', 'reset in the body', '429', '429 with Retry-After', '500', '502', '503'],
  moved: ['redirect in a circle', 'redirect elsewhere'],
  refusing: ['400', '401', '403', '404', '409', '413'],
  silent: ['no first byte', 'stalled body'],
  gone: ['refused'],
};

/** The kind of a fault of a target. */
export function kindOf(fault: string): string {
  return Object.keys(targetKinds).find((kind) => targetKinds[kind]?.includes(fault)) ?? '';
}

export interface Cell extends Outcome {
  /** Methods of the requests that the service got, in order. */
  requests: string[];
}

const card = (index: number) => ({
  itemId: `card ${index}`,
  timestamp: 1_700_000_000 - index,
  cardLatestTradeAt: 1_700_000_000 - index,
});

/** A healthy service, as small as it can be: lists go on for ever, an item a page. */
function answerWell({ method, url, body }: Seen, count: number): unknown {
  const path = url.split('?')[0] ?? '';
  if (path.startsWith('/v1/feed')) {
    const pagination = { olderItemsURL: `${path}?olderThan=${count}`, olderCursor: `c${count}` };
    return { items: [card(count)], pagination: url.includes('newerThan') ? {} : pagination };
  }
  if (path === '/v2/leaderboard')
    return { traders: [{ profile: { id: 'p1', name: 'one', addresses: [wallet] }, pnl: { total: 1, perChain: {} } }] };
  if (path === '/v1/webhooks/feed' && method === 'GET') return [];
  if (path.startsWith('/v1/webhooks/feed'))
    return { uid, destinationUrl: 'http://127.0.0.1:9/hook', secret: 'whsec_made_for_this' };
  if (path === '/v1/swap-comments' && method === 'GET') return {};
  if (path === '/v1/swap-comments') return { uid: `u${count}`, timestamp: 1, ...JSON.parse(body) };
  if (path === '/v1/addresses/follow/bulk') return { targetProfiles: [] };
  throw new Error(`the service of these tests has no ${method} ${path}`);
}

interface Service {
  fault: string;
  /** Requests that are answered well before the fault begins. */
  well: number;
}

/** A service that is well at first and then fails so. */
export async function brokenService({ fault, well }: Service) {
  const waiting = await createManualTimeouts();
  const requests: string[] = [];
  const { url, server } = await stub((seen, response, count) => {
    requests.push(seen.method);
    if (count <= well) {
      if (count === well && fault === 'refused') server.close();
      // The connection goes, so that the next request makes one anew, or is refused.
      response.writeHead(200, { 'content-type': 'application/json', connection: 'close' });
      response.end(JSON.stringify(answerWell(seen, count)));
    } else if (fault === 'redirect elsewhere')
      response.writeHead(307, { location: `https://elsewhere.example${seen.url}` }).end();
    else if (fault === '100 MB body') pourMegabytes(response, 100);
    else failing(fault, waiting)(seen, response, count);
  });
  if (fault === 'refused' && well === 0) await new Promise((resolve) => server.close(resolve));
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url, transport: waiting.transport, requests, close };
}

/** Runs a command against a service that answers so many requests well and then fails so. */
export async function againstLong(
  { argv, stdin = '', stopAfter }: LongCommand,
  broken: Service,
  flags = '',
): Promise<Cell> {
  const folder = temporaryFolder();
  const service = await brokenService(broken);
  const stop = new AbortController();
  let begun = 0;
  const transport: Transport = {
    ...service.transport,
    send: (request, limits) => {
      begun += 1;
      if (begun === stopAfter) stop.abort();
      return service.transport.send(request, limits);
    },
  };
  const env = {
    SOTRA_BASE_URL: service.url,
    SOTRA_API_KEY: 'a-key-of-these-tests',
    SOTRA_CONFIG_DIR: folder,
    SOTRA_DATA_DIR: folder,
    TRADER_KEY: `${'0'.repeat(63)}1`,
  };
  const options = { env, stdin, skipWaits: true, transport, maxAnswerBytes: 1024 ** 2, signal: stop.signal };
  const outcome = await run(`${argv} ${flags}`, options);
  service.close();
  return { ...outcome, requests: service.requests };
}

const megabyte = Buffer.alloc(2 ** 20, ' ');

/** JSON of that many megabytes, in pieces and no faster than it is read. */
function pourMegabytes(response: ServerResponse, count: number): void {
  response.writeHead(200, {
    'content-type': 'application/json',
    'content-length': String(count * megabyte.length + 2),
  });
  response.write('{');
  let left = count;
  const more = () => {
    while (left > 0 && !response.destroyed) {
      left -= 1;
      if (!response.write(megabyte)) return;
    }
    if (left === 0) response.end('}');
  };
  response.on('drain', more);
  more();
}

/** What Node itself has to say on stderr from now on, such as of too many listeners. */
export function nodeWarnings(): string[] {
  const warnings: string[] = [];
  const hear = ({ message }: Error) => void warnings.push(message);
  process.on('warning', hear);
  onTestFinished(() => void process.off('warning', hear));
  return warnings;
}

/** Methods as a word: `GET 2, PUT 8`. */
export function inShort(methods: readonly string[]): string {
  const runs: [string, number][] = [];
  for (const method of methods) {
    const last = runs.at(-1);
    if (last?.[0] === method) last[1] += 1;
    else runs.push([method, 1]);
  }
  return runs.map(([method, count]) => `${method} ${count}`).join(', ');
}

export interface ManualTimeouts {
  /** Real sockets, whose timeouts come when the service has gone silent and not before: a busy machine changes nothing. */
  transport: Transport;
  /** The service has gone silent to this request: its timeout comes now. */
  goneSilent: (seen: Seen) => void;
}

const mark = 'x-exchange';

/** A transport whose timeouts come when they are told to, not by a clock. */
export async function createManualTimeouts(): Promise<ManualTimeouts> {
  const waits: AbortController[] = [];
  const transport = await createNetwork({ now: Date.now, env: {} });
  const timeout = (cause: unknown) => new NetworkFailure('timeout', 'no answer in time', cause);
  return {
    transport: {
      ...transport,
      send: async (request, limits) => {
        const stop = new AbortController();
        const headers = { ...request.headers, [mark]: String(waits.push(stop) - 1) };
        const signal = AbortSignal.any([limits.signal, stop.signal]);
        try {
          const answer = await transport.send({ ...request, headers }, { ...limits, signal });
          return stop.signal.aborted ? { ...answer, bodyError: timeout(answer.bodyError) } : answer;
        } catch (thrown) {
          throw stop.signal.aborted ? timeout(thrown) : thrown;
        }
      },
    },
    goneSilent: ({ headers }) => waits[Number(headers[mark])]?.abort(),
  };
}
