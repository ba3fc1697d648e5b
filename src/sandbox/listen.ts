import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { serve } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { SotraError } from '../errors.ts';
import { type Socketed, withFaults } from './fault.ts';
import type { Fault } from './fault-text.ts';

/** What answers requests. */
interface Fetcher {
  fetch: (request: Request, socketed?: Socketed) => Response | Promise<Response>;
}

/** Faults to inject, and how to wait for those that delay. */
export interface Faulty {
  faults: readonly Fault[];
  sleep: (ms: number) => Promise<void>;
}

/** A sandbox that listens on this machine. */
export interface Listening {
  url: string;
  close: () => Promise<void>;
}

const localHost = /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?$/i;

/**
 * Serves the application on 127.0.0.1 and resolves once it answers; port 0 takes a free one. Requests that name another host than this
 * machine, or several, are answered 403, so that no web page can reach it by a name of its own. Errors: `config` when the port is taken.
 */
export async function listen(app: Fetcher, port: number, faulty?: Faulty): Promise<Listening> {
  const answer =
    faulty === undefined || faulty.faults.length === 0
      ? (request: Request, socketed: Socketed) => app.fetch(request, socketed)
      : withFaults((request) => app.fetch(request), faulty.faults, faulty.sleep, RESPONSE_ALREADY_SENT);
  // The host as the socket has it: the request would make all of its headers anew for it.
  const fetch = (request: Request, socketed: unknown): Response | Promise<Response> =>
    isForUs((socketed as Socketed).incoming)
      ? answer(request, socketed as Socketed)
      : Response.json({ error: 'Host header: only this machine may ask' }, { status: 403 });
  const server = serve({ fetch, port, hostname: '127.0.0.1' });
  await new Promise<void>((resolve, reject) => {
    server.once('listening', resolve);
    server.once('error', (cause: NodeJS.ErrnoException) =>
      reject(
        new SotraError('config', `cannot listen on port ${port}: ${cause.message}`, {
          hint: 'Choose another port with --port, or --port 0 for a free one.',
          cause,
        }),
      ),
    );
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        if ('closeAllConnections' in server) server.closeAllConnections();
      }),
  };
}

/** Whether a request is to this machine by its Host header, of which there is one, and by its target, which may hold an address too. */
function isForUs({ headers, rawHeaders, url = '' }: IncomingMessage): boolean {
  const named = url.startsWith('/') ? undefined : /^\w+:\/\/([^/?#]*)/.exec(url)?.[1];
  return (
    localHost.test(headers.host ?? '') &&
    (named === undefined || localHost.test(named)) &&
    rawHeaders.filter((text, index) => index % 2 === 0 && text.length === 4 && /host/i.test(text)).length === 1
  );
}
