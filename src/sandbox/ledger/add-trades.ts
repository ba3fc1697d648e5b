import type { Db } from '../db/store.ts';
import { storeTradeEvents } from '../deliver/events.ts';
import { digestText, makeUuid } from '../seeded.ts';
import { matchCopies } from '../service/comments.ts';
import { addWallet } from '../service/identifiers.ts';
import { applyTrade, openFromUsd, type PositionState } from './positions.ts';
import { groupBy, oneOf, type StoredTrade, type Trade, tradeColumns } from './trade.ts';

export interface AddCounts {
  added: number;
  /** Rows that were already there: the same row twice is one trade. */
  repeated: number;
}

/** The positions of one wallet, chain, token and direction, of which only the newest takes trades. */
interface Line {
  parts: readonly [wallet: string, chain: string, token: string, direction: string];
  /** The newest is the last; earlier ones that are stored are not here. */
  positions: PositionState[];
  /** An older trade came after a newer one: the line starts over from its own trades. */
  isLate: boolean;
}

const ofLine = 'wallet = ? AND chain = ? AND token = ? AND direction = ?';

/** Stores trades and updates their positions, all or nothing. `liveAtMs`: they happen now, by the sandbox's clock, so webhooks get their events. */
export function addTrades(db: Db, trades: readonly Trade[], liveAtMs?: number): AddCounts {
  return db.transaction(() => {
    if (liveAtMs !== undefined) for (const trade of trades) endIfClosed(db, trade);
    const fresh = dropRepeated(db, trades);
    const lines = new Map<string, Line>();
    const ids = fresh.map(([rowKey, trade]) =>
      insertTrade(db, trade, rowKey, takeTrade(findLine(db, lines, trade), trade)),
    );
    const added = fresh.map(([, trade]) => trade);
    for (const own of groupBy(added, ({ chain, token }) => `${chain} ${token}`).values()) saveToken(db, own);
    for (const [trader, own] of groupBy(added, (trade) => trade.trader)) addWallet(db, trader, own[0]?.atMs ?? null);
    for (const line of lines.values()) {
      if (line.isLate) startOver(db, line);
      savePositions(db, line);
    }
    matchCopies(db, ids);
    if (liveAtMs !== undefined) storeTradeEvents(db, ids, liveAtMs);
    return { added: added.length, repeated: trades.length - added.length };
  });
}

/**
 * Ends the position of a trade's line where answers call it closed by its price alone: who buys again enters a new one, which what is left of
 * this one begins.
 */
function endIfClosed(db: Db, { trader, chain, token, direction }: Trade): void {
  db.run(
    `UPDATE position SET state = json_set(state, '$.exited', json('true'), '$.closedByPrice', json('true'))
     WHERE ${ofLine} AND superseded = 0 AND amount > 0 AND NOT state ->> '$.exited'
       AND amount * (SELECT k.price FROM token k WHERE k.chain = position.chain AND k.address = position.token) < ?`,
    [trader, chain, token, direction ?? '', openFromUsd],
  );
}

/** The trades that are not stored yet, each once, with the digests of their row keys, oldest first. */
function dropRepeated(db: Db, trades: readonly Trade[]): [rowKey: string, trade: Trade][] {
  const fresh = new Map<string, Trade>();
  for (const trade of trades) {
    const rowKey = digestText(trade.rowKey);
    if (!fresh.has(rowKey)) fresh.set(rowKey, trade);
  }
  const keys = JSON.stringify([...fresh.keys()]);
  for (const rowKey of db.values<string>(`SELECT row_key FROM trade WHERE row_key ${oneOf}`, [keys]))
    fresh.delete(rowKey);
  return [...fresh].sort(([, a], [, b]) => a.atMs - b.atMs);
}

function findLine(db: Db, lines: Map<string, Line>, { trader, chain, token, direction }: Trade): Line {
  const parts = [trader, chain, token, direction ?? ''] as const;
  const key = parts.join(' ');
  const known = lines.get(key);
  if (known !== undefined) return known;
  const row = db.get<{ openedMs: number; state: string }>(
    `SELECT opened_ms AS openedMs, state FROM position WHERE ${ofLine} ORDER BY ordinal DESC LIMIT 1`,
    parts,
  );
  const line = { parts, positions: row ? [moveTo(JSON.parse(row.state), row.openedMs)] : [], isLate: false };
  lines.set(key, line);
  return line;
}

/** What a trade does to its line; `undefined` where the line starts over, which says it then. */
function takeTrade(line: Line, trade: Trade): StoredEffect | undefined {
  const newest = line.positions.at(-1);
  line.isLate ||= newest !== undefined && trade.atMs < newest.latestAtMs;
  if (line.isLate) return undefined;
  const { position, opened, effect } = applyTrade(newest, trade);
  if (opened) line.positions.push(position);
  return [makePositionId(line, effect.ordinal), effect.intent, effect.realizedUsd, effect.marginCostUsd, effect.heldMs];
}

type StoredEffect = [
  positionId: string,
  intent: string,
  realizedUsd: number,
  marginCostUsd: number,
  heldMs: number | null,
];

function makePositionId({ parts }: Line, ordinal: number): string {
  return makeUuid(`position:${parts.join(':')}:${ordinal}`);
}

/** Makes the positions of a line anew from its stored trades, and says of each trade what it did. */
function startOver(db: Db, line: Line): void {
  const trades = db.all<StoredTrade>(
    `SELECT ${tradeColumns} FROM trade t WHERE ${ofLine} ORDER BY at_ms, id`,
    line.parts,
  );
  db.run(`DELETE FROM position WHERE ${ofLine}`, line.parts);
  Object.assign(line, { positions: [], isLate: false });
  for (const { id, wallet, direction, orderId: _, startAmount, ...stored } of trades) {
    const trade = {
      ...stored,
      trader: wallet,
      direction: direction || null,
      startAmount: startAmount ?? undefined,
      rowKey: '',
    };
    db.run(
      'UPDATE trade SET position_id = ?, intent = ?, realized_usd = ?, margin_cost_usd = ?, held_ms = ? WHERE id = ?',
      [...(takeTrade(line, trade) ?? []), id],
    );
  }
}

function savePositions(db: Db, line: Line): void {
  const [wallet, chain, token, direction] = line.parts;
  for (const state of line.positions)
    db.run(
      `INSERT INTO position
         (id, chain, wallet, token, direction, ordinal, superseded, opened_ms, latest_ms, amount, realized_usd, sell_count, state)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (id) DO UPDATE SET superseded = excluded.superseded, opened_ms = excluded.opened_ms, latest_ms = excluded.latest_ms,
         amount = excluded.amount, realized_usd = excluded.realized_usd, sell_count = excluded.sell_count, state = excluded.state`,
      [
        makePositionId(line, state.ordinal),
        chain,
        wallet,
        token,
        direction,
        state.ordinal,
        state === line.positions.at(-1) ? 0 : 1,
        state.openedAtMs,
        state.latestAtMs,
        state.lots.reduce((sum, lot) => sum + lot.amount, 0),
        state.realizedUsd,
        state.sellCount,
        JSON.stringify(moveTo(state, 0)),
      ],
    );
}

/** The state with its times moved so that it opened then. Stored ones open at 0, so that a world is moved without reading them. */
function moveTo(state: PositionState, openedAtMs: number): PositionState {
  const byMs = openedAtMs - state.openedAtMs;
  const lots = state.lots.map((lot) => ({ ...lot, atMs: lot.atMs + byMs }));
  return { ...state, openedAtMs, latestAtMs: state.latestAtMs + byMs, lots };
}

function insertTrade(db: Db, trade: Trade, rowKey: string, effect: StoredEffect = ['', 'enter', 0, 0, null]): number {
  return db.insert(
    `INSERT INTO trade (row_key, chain, wallet, token, side, direction, leverage, amount, usd, start_amount, at_ms, tx, order_id,
      position_id, intent, realized_usd, margin_cost_usd, held_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    [
      rowKey,
      trade.chain,
      trade.trader,
      trade.token,
      trade.side,
      trade.direction ?? '',
      trade.leverage,
      trade.amount,
      trade.usd,
      trade.startAmount ?? null,
      trade.atMs,
      trade.tx,
      trade.orderId ?? null,
      ...effect,
    ],
  );
}

/** What the trades of one token, oldest first, say of it. */
function saveToken(db: Db, trades: readonly Trade[]): void {
  const [latest] = trades.slice(-1);
  if (latest === undefined) return;
  const last = (key: 'tokenSymbol' | 'tokenName' | 'tokenSupply') =>
    trades.findLast((trade) => trade[key] !== undefined)?.[key];
  db.run(
    `INSERT INTO token (chain, address, symbol, name, supply, price, price_ms) VALUES (?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (chain, address) DO UPDATE SET
       symbol = coalesce(excluded.symbol, symbol), name = coalesce(excluded.name, name), supply = coalesce(excluded.supply, supply),
       price = CASE WHEN excluded.price_ms >= coalesce(price_ms, 0) THEN excluded.price ELSE price END,
       price_ms = max(excluded.price_ms, coalesce(price_ms, 0))`,
    [
      latest.chain,
      latest.token,
      last('tokenSymbol') ?? null,
      last('tokenName') ?? null,
      last('tokenSupply') ?? null,
      latest.usd / latest.amount,
      latest.atMs,
    ],
  );
}
