import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream as WebStream } from 'node:stream/web';
import { messageOf } from '../errors.ts';
import { startServer } from '../http/start-server.ts';
import { isLocalHost, otherHostRefusal } from '../model/http-address.ts';
import { sameText } from '../model/webhook-signature.ts';

/** What answers a request, as browsers and the server package know them. */
type Answer = (request: Request) => Promise<Response>;

interface HttpOptions {
  port: number;
  token: string;
  warn: (text: string) => void;
}

const limits = { headersTimeout: 10_000, requestTimeout: 30_000, connections: 100 };

/**
 * Serves on 127.0.0.1; port 0 takes a free one. Only requests to this machine by its own name, from no page of another site, and with the
 * token are answered. Errors: `config` when the port is taken.
 */
export async function serveHttp(answer: Answer, { port, token, warn }: HttpOptions) {
  const handle = async (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const refusal = refusalOf(incoming, token);
    const response = refusal ?? (await answer(requestOf(incoming, outgoing)));
    outgoing.writeHead(response.status, Object.fromEntries(response.headers));
    if (response.body === null) outgoing.end();
    // Ends what answers when the connection ends.
    else await pipeline(Readable.fromWeb(response.body as WebStream), outgoing);
  };
  const server = createServer(limits, (incoming, outgoing) => {
    handle(incoming, outgoing).catch((thrown: unknown) => {
      if (!outgoing.headersSent) warn(`a request could not be answered: ${messageOf(thrown)}`);
      outgoing.destroy();
    });
  });
  server.maxConnections = limits.connections;
  const started = await startServer(server, { port, hint: 'Choose another port, or --http 0 for a free one.' });
  return { url: `http://127.0.0.1:${started.port}/mcp`, close: started.close };
}

/** A page of another site may reach this machine by a name of its own, but can neither set its Host nor know the token. */
function refusalOf({ headers, url = '' }: IncomingMessage, token: string): Response | undefined {
  const { host = '', origin, authorization = '' } = headers;
  if (!isLocalHost(host)) return refuse(403, otherHostRefusal);
  if (origin !== undefined && !(URL.canParse(origin) && isLocalHost(new URL(origin).host)))
    return refuse(403, 'Origin header: web pages of other sites may not ask');
  if (!sameText(authorization, `Bearer ${token}`))
    return refuse(401, 'Authorization header: Bearer and the token that sotra mcp printed', {
      'www-authenticate': 'Bearer',
    });
  return url.split('?')[0] === '/mcp' ? undefined : refuse(404, 'the server is at /mcp');
}

function refuse(status: number, error: string, headers: Record<string, string> = {}): Response {
  return Response.json({ error }, { status, headers });
}

/** Ends when its connection does, so that what it asked for is not fetched for nobody. */
function requestOf(incoming: IncomingMessage, outgoing: ServerResponse): Request {
  const { method = 'GET', url = '', headers, headersDistinct } = incoming;
  const gone = new AbortController();
  outgoing.on('close', () => gone.abort());
  const pairs = Object.entries(headersDistinct).flatMap(([name, values = []]) =>
    values.map((value): [string, string] => [name, value]),
  );
  const hasBody = method !== 'GET' && method !== 'HEAD';
  return new Request(new URL(url, `http://${headers.host}`), {
    method,
    headers: pairs,
    signal: gone.signal,
    ...(hasBody ? { body: Readable.toWeb(incoming) as unknown as ReadableStream, duplex: 'half' } : {}),
  } as RequestInit);
}
