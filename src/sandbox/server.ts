import { Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { answerer, largestBodyBytes, noEndpoint, refusalOf, refuseBody, type ServiceOptions } from './answer.ts';
import type { Socketed } from './fault.ts';

/** The sandbox as an HTTP application for a socket. Every error body is `{error}`. */
export function createApp(options: ServiceOptions): Hono<{ Bindings: Partial<Socketed> }> {
  const app = new Hono<{ Bindings: Partial<Socketed> }>();
  // Not on GET, where looking for a body costs more than the answer.
  app.on(['POST', 'PUT', 'PATCH', 'DELETE'], '*', bodyLimit({ maxSize: largestBodyBytes, onError: refuseBody }));
  const answer = answerer(options);
  for (const route of options.routes) {
    const { method, path } = route.endpoint;
    app.on(method, path.replaceAll(/\{(\w+)\}/g, ':$1'), async (c) => {
      // As the socket has it, where there is one: the request would make all of its headers anew for it.
      const key = c.env?.incoming?.headers.authorization ?? c.req.header('authorization');
      const text = await answer(route, { key, url: c.req.url, path: c.req.param(), body: () => c.req.text() });
      return new Response(text, {
        headers: { 'content-type': 'application/json', 'x-request-id': crypto.randomUUID() },
      });
    });
  }
  app.notFound((c) => c.json(noEndpoint(c.req.method, c.req.path), 404));
  app.onError((error, c) => {
    const { status, body } = refusalOf(error);
    return c.json(body, status, { 'x-request-id': crypto.randomUUID() });
  });
  return app;
}
