import { join } from 'node:path';
import type { WireNames } from './api/endpoint.ts';
import type { Transport } from './api/http.ts';
import type { Context, World } from './context.ts';
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
  const app = await sandboxApp(db, context.world, (await context.service()).wire);
  return {
    send: async ({ method, url, headers, body }) => {
      const answer = await app.request(url.href, { method, headers, ...(body === undefined ? {} : { body }) });
      const bytes = new Uint8Array(await answer.arrayBuffer());
      return { status: answer.status, headers: Object.fromEntries(answer.headers), body: once(bytes) };
    },
    close: async () => db.close(),
  };
}

async function* once(bytes: Uint8Array): AsyncIterable<Uint8Array> {
  yield bytes;
}
