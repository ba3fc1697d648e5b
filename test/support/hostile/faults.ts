import type { ServerResponse } from 'node:http';
import { NetworkFailure } from '../../../src/client/failures.ts';
import { createNetwork } from '../../../src/client/network.ts';
import type { Transport } from '../../../src/client/transport.ts';
import { type Script, type Seen, stub } from '../harness.ts';
import { exampleStdin, outlines } from '../outlines.ts';

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
  return [{ name: words.join(' '), method: endpoint.method, argv: typed, stdin: exampleStdin }];
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
const scripts: Readonly<Record<string, Script>> = {
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

/** A server that fails so whenever it is asked; `requests` are the methods that came. */
export async function brokenService(fault: string) {
  const waiting = await createManualTimeouts();
  const requests: string[] = [];
  const { url, server } = await stub((seen, response, count) => {
    requests.push(seen.method);
    if (fault === 'redirect elsewhere')
      response.writeHead(307, { location: `https://elsewhere.example${seen.url}` }).end();
    else if (fault === '100 MB body') pourMegabytes(response, 100);
    else failing(fault, waiting)(seen, response, count);
  });
  if (fault === 'refused') await new Promise((resolve) => server.close(resolve));
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url, requests, close };
}

const megabyte = Buffer.alloc(2 ** 20, ' ');

/** JSON of that many megabytes, in pieces and no faster than it is read. */
function pourMegabytes(response: ServerResponse, count: number): void {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': count * megabyte.length + 2 });
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
