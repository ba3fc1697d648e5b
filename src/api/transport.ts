import { type LookupOptions, lookup } from 'node:dns';
import { setFlagsFromString } from 'node:v8';
import type { buildConnector, Dispatcher } from 'undici';
import { SotraError } from '../errors.ts';
import { NetworkFailure, type Timing, type Transport } from './http.ts';

interface Setting {
  now: () => number;
  /** Version of Node, without a `v`. */
  node: string;
}

/** A transport over real sockets, keeping connections alive until `close`. `send` throws NetworkFailure. */
export async function createTransport({ now, node }: Setting): Promise<Transport> {
  // Before Node 22 a short process waits at its end for V8 to optimise undici's parser: as long as all the rest takes.
  if (Number.parseInt(node, 10) < 22) setFlagsFromString('--liftoff-only');
  const { default: Agent } = await import('undici/lib/dispatcher/agent.js');
  const { default: buildConnector } = await import('undici/lib/core/connect.js');
  const { connect, takeLatest } = timedConnector(now, buildConnector);
  const agent = new Agent({ connections: 8, connect });
  const ask = await requester(agent);
  return {
    async send(request, { timeoutMs, signal }) {
      const started = now();
      try {
        const answer = await ask({
          origin: request.url.origin,
          path: request.url.pathname + request.url.search,
          method: request.method as 'GET',
          headers: request.headers,
          ...(request.body === undefined ? {} : { body: request.body }),
          headersTimeout: timeoutMs,
          bodyTimeout: timeoutMs,
          signal,
        });
        const timing = { ...takeLatest(started), firstByteMs: now() - started };
        return { status: answer.statusCode, headers: answer.headers, body: reading(answer.body), timing };
      } catch (error) {
        throw networkFailure(error);
      }
    },
    close: () => agent.destroy(),
  };
}

async function requester(
  agent: Dispatcher,
): Promise<(options: Dispatcher.RequestOptions) => Promise<Dispatcher.ResponseData>> {
  const { default: request } = await import('undici/lib/api/api-request.js');
  return (options) =>
    new Promise((resolve, reject) =>
      request.call(agent, options, (error, answer) => (error === null ? resolve(answer) : reject(error))),
    );
}

type Connecting = Pick<Timing, 'dnsMs' | 'connectMs'>;

/** A connector that measures; `takeLatest` gives the times of a connection made since then, to one request only. */
function timedConnector(now: () => number, build: typeof buildConnector) {
  const made: { at: number; times: Connecting }[] = [];
  const looked: Pick<Timing, 'dnsMs'>[] = [];
  const find = (hostname: string, options: LookupOptions, done: (...found: never[]) => void) => {
    const started = now();
    lookup(hostname, options, (...found: unknown[]) => {
      looked.push({ dnsMs: now() - started });
      done(...(found as never[]));
    });
  };
  const connecting = build({ lookup: find as never, port: 0 });
  const connect: buildConnector.connector = (options, callback) => {
    const started = now();
    connecting(options, (...[error, socket]: Parameters<buildConnector.Callback>) => {
      if (error !== null) return callback(error, null);
      made.push({ at: now(), times: { ...looked.pop(), connectMs: now() - started } });
      callback(null, socket);
    });
  };
  const takeLatest = (since: number): Connecting => {
    const latest = made.findIndex(({ at }) => at >= since);
    return latest === -1 ? {} : (made.splice(latest, 1)[0]?.times ?? {});
  };
  return { connect, takeLatest };
}

async function* reading(body: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  try {
    yield* body;
  } catch (error) {
    throw networkFailure(error);
  }
}

const neverSent = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT'];

const timeouts = ['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT'];

function codeOf(error: unknown): string | undefined {
  return (error as { code?: string } | null)?.code;
}

function networkFailure(error: unknown): Error {
  if (error instanceof SotraError) return error;
  if (timeouts.includes(codeOf(error) ?? '')) return new NetworkFailure('timeout', 'no answer in time', error);
  const first = error instanceof AggregateError ? error.errors[0] : error;
  const code = codeOf(first);
  const message = first instanceof Error ? first.message : undefined;
  const text = message === undefined || message === '' ? (code ?? String(error)) : message;
  return new NetworkFailure(neverSent.includes(code ?? '') ? 'refused' : 'broken', text, error);
}
