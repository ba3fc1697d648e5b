import { join } from 'node:path';
import type { WireNames } from './api/endpoint.ts';
import type { Transport } from './api/http.ts';
import type { Context, World } from './context.ts';
import { getMeta, setMeta } from './sandbox/clock.ts';
import { createApp } from './sandbox/server.ts';
import { type Db, openDb } from './sandbox/store.ts';
import { ensureWorld } from './sandbox/world.ts';

/** The file of the sandbox that `--sandbox` uses. */
export async function sandboxFile(context: Context): Promise<string> {
  return join(await context.dataDirectory(), 'sandbox.db');
}

/** The sandbox's HTTP application over a database. */
export async function sandboxApp(db: Db, world: World, wire: WireNames): Promise<ReturnType<typeof createApp>> {
  const { routes } = await import('./resources/routes.ts');
  return createApp({ db, routes, now: world.now, wire });
}

/** A transport that asks the sandbox inside this process: no port, state under the data directory. */
export async function openLocalService(context: Context): Promise<Transport> {
  const db = openDb(await sandboxFile(context));
  ensureWorld(db, context.world.now(), 'demo');
  const { wire, serviceName, layout } = await context.service();
  if (serviceName !== undefined) keepMeta(db, 'signing.serviceName', serviceName);
  keepMeta(db, 'signing.layout', layout);
  const app = await sandboxApp(db, context.world, wire);
  return {
    send: async ({ method, url, headers, body }) => {
      const answer = await app.request(url.href, { method, headers, ...(body === undefined ? {} : { body }) });
      const bytes = new Uint8Array(await answer.arrayBuffer());
      return { status: answer.status, headers: Object.fromEntries(answer.headers), body: once(bytes) };
    },
    close: async () => db.close(),
  };
}

/** Writes only what differs, so that readers do not wait for writers. */
function keepMeta(db: Db, key: string, value: string): void {
  if (getMeta(db, key) !== value) setMeta(db, key, value);
}

async function* once(bytes: Uint8Array): AsyncIterable<Uint8Array> {
  yield bytes;
}
