import type { IncomingMessage, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isLocalHost } from '../api/http-address.ts';
import { readMessage, SotraError } from '../errors.ts';

interface ListenPlace {
  /** 0: a free one. */
  port: number;
  /** Default: 127.0.0.1. */
  host?: string;
  /** How to choose another port. */
  hint?: string;
}

/** Starts a server; gives back its port, and what stops it and ends its connections. Errors: `config` where it cannot listen. */
export async function startServer(server: Server, { port, host, hint }: ListenPlace) {
  const place = host === undefined ? (port === 0 ? 'a free port' : `port ${port}`) : `${host}:${port}`;
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      const why = cause.code === 'EADDRINUSE' ? 'another program listens there' : readMessage(cause);
      reject(new SotraError('config', `cannot listen on ${place}: ${why}`, { hint, cause }));
    });
    server.listen(port, host ?? '127.0.0.1', resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

export const foreignRefusal = 'Host header: only this machine may ask';

/**
 * Whether a request names this machine itself, once, in its Host header and in its target. A web page that reaches a local server by a name of its
 * own cannot send such a one.
 */
export function isLocalRequest({ headersDistinct, url = '' }: IncomingMessage): boolean {
  const [host = '', ...others] = headersDistinct['host'] ?? [];
  const [, target = host] = /^\w+:\/\/([^/?#]*)/.exec(url) ?? [];
  return others.length === 0 && isLocalHost(host) && isLocalHost(target);
}
