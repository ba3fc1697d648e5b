import { type LookupOptions, lookup } from 'node:dns';
import { Agent, buildConnector, errors } from 'undici';
import { SotraError } from '../errors.ts';
import { NetworkFailure, type Timing, type Transport } from './http.ts';

/** A transport over real sockets, keeping connections alive until `close`. `send` throws NetworkFailure. */
export function createTransport(now: () => number): Transport {
  const { connect, takeLatest } = timedConnector(now);
  const agent = new Agent({ connections: 8, connect });
  return {
    async send(request, { timeoutMs, signal }) {
      const started = now();
      try {
        const answer = await agent.request({
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

type Connecting = Pick<Timing, 'dnsMs' | 'connectMs'>;

/** A connector that measures; `takeLatest` gives the times of a connection made since then, to one request only. */
function timedConnector(now: () => number) {
  const made: { at: number; times: Connecting }[] = [];
  const looked: Pick<Timing, 'dnsMs'>[] = [];
  const find = (hostname: string, options: LookupOptions, done: (...found: never[]) => void) => {
    const started = now();
    lookup(hostname, options, (...found: unknown[]) => {
      looked.push({ dnsMs: now() - started });
      done(...(found as never[]));
    });
  };
  const connecting = buildConnector({ lookup: find as never, port: 0 });
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

function networkFailure(error: unknown): Error {
  if (error instanceof SotraError) return error;
  if (error instanceof errors.HeadersTimeoutError || error instanceof errors.BodyTimeoutError)
    return new NetworkFailure('timeout', 'no answer in time', error);
  const first = error instanceof AggregateError ? error.errors[0] : error;
  const { code, message } = first as { code?: string; message?: string };
  const text = message === undefined || message === '' ? (code ?? String(error)) : message;
  return new NetworkFailure(neverSent.includes(code ?? '') ? 'refused' : 'broken', text, error);
}
