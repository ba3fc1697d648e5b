import { join } from 'node:path';
import type { Context } from '../context.ts';
import type { Transport } from '../http/http.ts';
import { getMeta, setMeta } from './db/clock.ts';
import { type Db, openDb } from './db/store.ts';
import { ensureWorld } from './db/world.ts';
import { answerer } from './http/answer.ts';

/** The file of the sandbox that `--sandbox` uses. */
export async function sandboxFile(context: Context): Promise<string> {
  return join(await context.dataDirectory(), 'sandbox.db');
}

/** A transport that asks the sandbox inside this process: no port, state under the data directory. */
export async function openLocalService(context: Context): Promise<Transport> {
  const db = openDb(await sandboxFile(context));
  ensureWorld(db, context.world.now(), 'demo');
  const { wire, serviceName, layout } = await context.service();
  if (serviceName !== undefined) keepMeta(db, 'signing.serviceName', serviceName);
  keepMeta(db, 'signing.layout', layout);
  const { routes } = await import('../resources/routes.ts');
  const answer = answerer({ db, routes, now: context.world.now, wire });
  return {
    send: async ({ method, url, headers, body = '' }) => {
      const { text, ...rest } = await answer({
        method,
        origin: url.origin,
        target: url.pathname + url.search,
        authorization: headers.authorization,
        body: () => body,
      });
      return { ...rest, body: once(Buffer.from(text)) };
    },
    close: async () => db.close(),
  };
}

/** Addresses of the built-in sandbox, of wallets and tokens, that begin and end so. */
export async function sandboxAddresses(context: Context, start: string, end: string): Promise<string[]> {
  const db = openDb(await sandboxFile(context));
  try {
    ensureWorld(db, context.world.now(), 'demo');
    const rows = db.all<{ address: string }>(
      "SELECT DISTINCT address FROM (SELECT address FROM wallet UNION SELECT address FROM token) WHERE address LIKE ? || '%' || ? LIMIT 2",
      [start, end],
    );
    return rows.map(({ address }) => address);
  } finally {
    db.close();
  }
}

/** Writes only what differs, so that readers do not wait for writers. */
function keepMeta(db: Db, key: string, value: string): void {
  if (getMeta(db, key) !== value) setMeta(db, key, value);
}

async function* once(bytes: Uint8Array): AsyncIterable<Uint8Array> {
  yield bytes;
}
