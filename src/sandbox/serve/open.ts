import type { Transport } from '../../client/transport.ts';
import type { SandboxOptions } from '../../lib/io.ts';
import { keepSettings, storedNow } from '../db/settings.ts';
import { openDb } from '../db/store.ts';
import { ensureWorld } from '../db/world.ts';
import { refreshTotals } from '../ledger/totals.ts';
import { answerer } from './answer.ts';

/** The sandbox inside this process: no port, state in one file, which is made with the demo world if absent. */
export async function openSandbox({ file, now, wire, serviceName, layout }: SandboxOptions): Promise<Transport> {
  const db = openDb(file);
  ensureWorld(db, now(), 'demo');
  refreshTotals(db, storedNow(db, now()));
  keepSettings(db, { serviceName, layout });
  const answer = answerer({ db, now, wire });
  return {
    send: async ({ method, url, headers, body = '' }) => {
      const { text, ...rest } = await answer({
        method,
        origin: url.origin,
        target: url.pathname + url.search,
        authorization: headers['authorization'],
        body: () => body,
      });
      return { ...rest, text, bytes: Buffer.byteLength(text) };
    },
    close: async () => db.close(),
  };
}
