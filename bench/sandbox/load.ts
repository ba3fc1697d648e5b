import { serve } from '@hono/node-server';
import autocannon from 'autocannon';
import { Hono } from 'hono';

/** Serves one answer on every path, with no more than Hono and its server, and says where. */
export function serveBare(body: string, onReady: (url: string) => void): void {
  const app = new Hono();
  app.get('*', (c) => c.body(body, 200, { 'content-type': 'application/json' }));
  serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) => onReady(`http://127.0.0.1:${port}`));
}

/** Answers a second over some seconds of ten connections; throws if one was not 200. */
export async function requestsASecond(url: string, seconds: number): Promise<number> {
  const result = await autocannon({
    url,
    connections: 10,
    duration: seconds,
    headers: { authorization: 'Bearer sandbox-key-a' },
  });
  if (result.non2xx + result.errors > 0) throw new Error(`${url}: ${result.non2xx} refused, ${result.errors} failed`);
  return result.requests.average;
}
