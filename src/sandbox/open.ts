import { existsSync } from 'node:fs';
import { routesUnder } from '../resources/routes.ts';
import type { LocalSandbox, SandboxOptions } from '../world.ts';
import { getMeta, setMeta } from './db/clock.ts';
import { type Db, openDb } from './db/store.ts';
import { answerer } from './http/answer.ts';

/** The sandbox inside this process: no port, state in one file, which is made from `demo` if absent. */
export async function openSandbox(
  { file, now, wire, serviceName, layout }: SandboxOptions,
  demo?: Promise<Buffer>,
): Promise<LocalSandbox> {
  if (!existsSync(file)) (await import('./db/world.ts')).placeDemo(file, now(), await demo);
  const db = openDb(file);
  if (getMeta(db, 'world') === undefined) (await import('./db/world.ts')).ensureWorld(db, now(), 'demo');
  if (serviceName !== undefined) keepMeta(db, 'signing.serviceName', serviceName);
  keepMeta(db, 'signing.layout', layout);
  const answer = answerer({ db, routesUnder, now, wire });
  return {
    send: async ({ method, url, headers, body = '' }) => {
      const { text, ...rest } = await answer({
        method,
        origin: url.origin,
        target: url.pathname + url.search,
        authorization: headers['authorization'],
        body: () => body,
      });
      return { ...rest, body: once(Buffer.from(text)) };
    },
    findAddresses: (start, end) =>
      db
        .all<{ address: string }>(
          "SELECT DISTINCT address FROM (SELECT address FROM wallet UNION SELECT address FROM token) WHERE address LIKE ? || '%' || ? LIMIT 2",
          [start, end],
        )
        .map(({ address }) => address),
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
