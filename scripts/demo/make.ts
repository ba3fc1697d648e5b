import { readFileSync, rmSync } from 'node:fs';
import { layouts } from '../../src/api/formats.ts';
import { setMeta } from '../../src/sandbox/db/settings.ts';
import { type Db, openDb, type SqlValue } from '../../src/sandbox/db/store.ts';
import { describeWorld } from '../../src/sandbox/db/world.ts';
import { addTrades } from '../../src/sandbox/ledger/add-trades.ts';
import type { Trade } from '../../src/sandbox/ledger/trade.ts';

/** The tables whose rows lie beside this file, named as there; `trade_id` of a comment is the line of its trade. */
const tables = ['profile', 'wallet', 'token', 'partner_name', 'follow', 'comment', 'reply', 'copy', 'liked'];

/** Writes the database of the demo world without indexes: new sandboxes are filled from it. */
export function makeDemo(file: string): void {
  const db = openDb(':memory:');
  for (const table of tables) for (const row of readRows<Record<string, SqlValue>>(table)) insert(db, table, row);
  addTrades(db, readRows<DemoTrade>('trade').map(toTrade));
  describeWorld(db, 'demo');
  // The settings of a command without its own, so that the first one writes nothing.
  setMeta(db, 'signing.serviceName', 'Sandbox');
  setMeta(db, 'signing.layout', layouts[0]);
  const indexes = db.values<string>("SELECT name FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL");
  for (const name of indexes) db.run(`DROP INDEX ${name}`);
  rmSync(file, { force: true });
  db.run('VACUUM INTO ?', [file]);
  db.close();
}

/** A trade without the fields that are the same in most of them. */
type DemoTrade = Omit<Trade, 'rowKey' | 'direction' | 'leverage' | 'tx'> & Partial<Trade>;

function toTrade(trade: DemoTrade, line: number): Trade {
  return {
    ...trade,
    direction: trade.direction ?? null,
    leverage: trade.leverage ?? 1,
    tx: trade.tx ?? null,
    rowKey: `demo:${line}`,
  };
}

export function readRows<Row>(name: string): Row[] {
  const lines = readFileSync(`scripts/demo/${name}.ndjson`, 'utf8').trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line));
}

function insert(db: Db, table: string, row: Readonly<Record<string, SqlValue>>): void {
  const names = Object.keys(row);
  db.run(`INSERT INTO ${table} (${names}) VALUES (${names.map(() => '?')})`, Object.values(row));
}
