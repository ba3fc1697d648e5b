import { Readable } from 'node:stream';
import type { LocalSandbox, SandboxOptions } from '../world.ts';
import { keepSettings } from './db/settings.ts';
import { openDb } from './db/store.ts';
import { ensureWorld } from './db/world.ts';
import { answerer } from './http/answer.ts';

/** The sandbox inside this process: no port, state in one file, which is made with the demo world if absent. */
export async function openSandbox({ file, now, wire, serviceName, layout }: SandboxOptions): Promise<LocalSandbox> {
  const db = openDb(file);
  ensureWorld(db, now(), 'demo');
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
      return { ...rest, body: Readable.from([Buffer.from(text)]) };
    },
    findAddresses: (start, end) =>
      db.values(
        "SELECT DISTINCT address FROM (SELECT address FROM wallet UNION SELECT address FROM token) WHERE address LIKE ? || '%' || ? LIMIT 2",
        [start, end],
      ),
    findTraders: (name) =>
      db.values(
        `SELECT min(address) FROM wallet WHERE profile_id IN (
           SELECT id FROM profile WHERE lower(name) = ?1 OR EXISTS (SELECT 1 FROM json_each(handles) WHERE ?1 IN
             (lower(value), lower(replace(replace(replace(key, 'Username', ''), 'Handle', ''), 'Name', '') || ':' || value)))
           UNION SELECT n.profile_id FROM partner_name n JOIN partner ON partner.id = n.partner_id
           WHERE lower(n.name) = ?1 OR lower(n.name || partner.suffix) = ?1
         ) GROUP BY profile_id`,
        [name],
      ),
    findTokens: (symbol, chain) =>
      db.values('SELECT address FROM token WHERE chain = ? AND upper(symbol) = upper(?)', [chain, symbol]),
    close: async () => db.close(),
  };
}
