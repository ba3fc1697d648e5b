import { expect, test } from 'vitest';
import { endpoints } from '../../src/api/endpoints.ts';
import { openDb } from '../../src/sandbox/db/store.ts';
import { ensureWorld, sandboxPartners } from '../../src/sandbox/db/world.ts';
import { ServiceRefusal } from '../../src/sandbox/service/handler.ts';
import { allRoutes } from '../../src/sandbox/service/routes.ts';
import { inputOf, witnesses } from '../support/witness.ts';

/** The same input, telling which parameters are read by name. A copy of all of them would read none and look like all. */
function recorded(input: Record<string, unknown>, onRead: (key: string) => void): never {
  return new Proxy(input, {
    get: (target, key) => {
      onRead(String(key));
      return Reflect.get(target, key);
    },
    ownKeys: () => {
      throw new Error('a handler names each parameter that it reads');
    },
  }) as never;
}

test("every parameter of every endpoint is read by the sandbox's handler", async () => {
  const db = openDb(':memory:');
  const nowMs = Date.now();
  ensureWorld(db, nowMs, 'demo');
  const unread: string[] = [];
  const routes = await allRoutes();
  for (const { endpoint, handle } of routes) {
    const read = new Set<string>();
    for (const row of witnesses[endpoint.id] ?? []) {
      const url = new URL(`http://sandbox.test${row.path}`);
      const call = { db, nowMs, partner: sandboxPartners[0], url, wire: {}, ignore: () => undefined };
      try {
        await handle(
          recorded(inputOf(endpoint, row), (key) => read.add(key)),
          call,
        );
      } catch (thrown) {
        if (!(thrown instanceof ServiceRefusal)) throw thrown;
      }
    }
    unread.push(...Object.keys(endpoint.params).flatMap((key) => (read.has(key) ? [] : [`${endpoint.id} ${key}`])));
  }
  db.close();
  expect(routes).toHaveLength(endpoints.length);
  expect(unread).toEqual([]);
});
