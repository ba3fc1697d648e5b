import { dropFigures } from '../trades/figures.ts';
import type { Db } from './store.ts';

/** Columns that hold a moment, by table. */
const moments: readonly (readonly [string, string])[] = [
  ['wallet', 'ready_ms'],
  ['token', 'price_ms'],
  ['trade', 'at_ms'],
  ['position', 'opened_ms'],
  ['position', 'latest_ms'],
  ['follow', 'at_ms'],
  ['comment', 'at_ms'],
  ['reply', 'at_ms'],
  ['copy', 'at_ms'],
  ['intent', 'at_ms'],
  ['intent', 'track_exit_ms'],
  ['webhook', 'at_ms'],
  ['event', 'at_ms'],
];

/** Moves every moment in the world by some milliseconds (negative: into the past); a wallet that was always tracked stays so. */
export function moveWorld(db: Db, byMs: number): void {
  db.transaction(() => {
    dropFigures(db);
    for (const [table, column] of moments)
      db.run(`UPDATE ${table} SET ${column} = ${column} + ? WHERE ${column} > 0`, [byMs]);
    db.run(
      `WITH moved AS (SELECT cast(? AS INTEGER) AS ms)
       UPDATE position SET state = json_set(state,
         '$.openedAtMs', (state ->> '$.openedAtMs') + ms,
         '$.latestAtMs', (state ->> '$.latestAtMs') + ms,
         '$.lots', (SELECT json_group_array(json_set(value, '$.atMs', (value ->> '$.atMs') + ms)) FROM json_each(state, '$.lots')))
       FROM moved`,
      [byMs],
    );
  });
}
