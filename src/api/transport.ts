import { Agent, errors } from 'undici';
import { SotraError } from '../errors.ts';
import { NetworkFailure, type Transport } from './http.ts';

/** A transport over real sockets, keeping connections alive until `close`. `send` throws NetworkFailure. */
export function createTransport(): Transport {
  const agent = new Agent({ connections: 8 });
  return {
    async send(request, { timeoutMs, signal }) {
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
        return { status: answer.statusCode, headers: answer.headers, body: reading(answer.body) };
      } catch (error) {
        throw networkFailure(error);
      }
    },
    close: () => agent.destroy(),
  };
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
