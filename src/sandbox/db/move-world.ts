import { dropFigures } from '../trades/figures.ts';
import type { PositionState } from '../trades/positions.ts';
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

/** Moves every moment in the world by some milliseconds (negative: into the past); distances in time stay as they are. */
export function moveWorld(db: Db, byMs: number): void {
  db.transaction(() => {
    dropFigures(db);
    for (const [table, column] of moments)
      db.run(`UPDATE ${table} SET ${column} = ${column} + ? WHERE ${column} IS NOT NULL`, [byMs]);
    for (const { id, state } of db.all<{ id: string; state: string }>('SELECT id, state FROM position'))
      db.run('UPDATE position SET state = ? WHERE id = ?', [JSON.stringify(moveState(JSON.parse(state), byMs)), id]);
  });
}

function moveState(state: PositionState, byMs: number): PositionState {
  return {
    ...state,
    openedAtMs: state.openedAtMs + byMs,
    latestAtMs: state.latestAtMs + byMs,
    lots: state.lots.map((lot) => ({ ...lot, atMs: lot.atMs + byMs })),
  };
}
