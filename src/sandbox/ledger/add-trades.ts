import { hourMs } from '../../api/duration.ts';
import type { Db } from '../db/store.ts';
import { storeTradeEvents } from '../deliver/events.ts';
import { addWallet, makeUuid } from '../service/identifiers.ts';
import { dropTotals, keepTotals } from './figures.ts';
import { applyTrade, openFromUsd, type PositionState, type TradeEffect } from './positions.ts';
import { groupBy, oneOf, type StoredTrade, type Trade, tradeColumns } from './trade.ts';

export interface AddCounts {
  added: number;
  /** Rows that were already there: the same row twice is one trade. */
  repeated: number;
}

/** What successive positions have in common; only the newest takes trades. */
type Series = readonly [wallet: string, chain: string, token: string, direction: string];

const ofSeries = 'wallet = ? AND chain = ? AND token = ? AND direction = ?';

const seriesOf = ({ trader, chain, token, direction }: Trade): Series => [trader, chain, token, direction ?? ''];

/**
 * Stores trades and updates their positions and totals in one transaction. `liveAtMs`: they happen now, so webhooks get their events; without
 * it totals are kept again by `keepTotals` after the last batch. Memory: the trades, and the positions of one series.
 */
export function addTrades(db: Db, trades: readonly Trade[], liveAtMs?: number): AddCounts {
  return db.transaction(() => {
    const fresh = dropRepeated(db, trades);
    if (liveAtMs !== undefined) for (const trade of fresh) endIfClosed(db, trade);
    const effects = new Map<Trade, StoredEffect>();
    const lateSeries: Series[] = [];
    for (const own of groupBy(fresh, (trade) => seriesOf(trade).join(' ')).values()) {
      const series = seriesOf(own[0]);
      const newest = findNewest(db, series);
      if (newest !== undefined && own[0].atMs < newest.state.latestAtMs) lateSeries.push(series);
      else for (const [trade, effect] of applyTrades(db, series, own, newest)) effects.set(trade, effect);
    }
    const ids = fresh.map((trade) => insertTrade(db, trade, effects.get(trade) ?? placeholderEffect));
    for (const series of lateSeries) rebuildSeries(db, series);
    for (const own of groupBy(fresh, ({ chain, token }) => `${chain} ${token}`).values()) saveToken(db, own);
    const byTrader = groupBy(fresh, (trade) => trade.trader);
    for (const [trader, [first]] of byTrader) addWallet(db, trader, first.atMs);
    if (liveAtMs === undefined) dropTotals(db);
    else keepTotals(db, liveAtMs, [...byTrader.keys()]);
    matchCopies(db, ids);
    if (liveAtMs !== undefined) storeTradeEvents(db, ids, liveAtMs);
    return { added: fresh.length, repeated: trades.length - fresh.length };
  });
}

/** Ends a position that answers call closed by its price alone: the next buy opens a new one, which begins with the tokens left. */
function endIfClosed(db: Db, trade: Trade): void {
  db.run(
    `UPDATE position SET state = json_set(state, '$.exited', json('true'), '$.closedByPrice', json('true'))
     WHERE ${ofSeries} AND superseded = 0 AND amount > 0 AND NOT state ->> '$.exited'
       AND amount * (SELECT k.price FROM token k WHERE k.chain = position.chain AND k.address = position.token) < ?`,
    [...seriesOf(trade), openFromUsd],
  );
}

/** The trades that are not stored yet, each once, oldest first. */
function dropRepeated(db: Db, trades: readonly Trade[]): Trade[] {
  const fresh = new Map<string, Trade>();
  for (const trade of trades) if (!fresh.has(trade.rowKey)) fresh.set(trade.rowKey, trade);
  const keys = JSON.stringify([...fresh.keys()]);
  for (const rowKey of db.values<string>(`SELECT row_key FROM trade WHERE row_key ${oneOf}`, [keys]))
    fresh.delete(rowKey);
  return [...fresh.values()].sort((a, b) => a.atMs - b.atMs);
}

interface Position {
  /** Absent if it is not stored yet. */
  key?: number;
  state: PositionState;
}

function findNewest(db: Db, series: Series): Position | undefined {
  const sql = `SELECT key, state FROM position WHERE ${ofSeries} ORDER BY ordinal DESC LIMIT 1`;
  const found = db.get<{ key: number; state: string }>(sql, series);
  return found && { key: found.key, state: JSON.parse(found.state) };
}

type StoredEffect = Omit<TradeEffect, 'ordinal'> & { positionKey: number };

/** Of a trade that came late, until its series starts over. */
const placeholderEffect: StoredEffect = {
  positionKey: 0,
  intent: 'enter',
  realizedUsd: 0,
  marginCostUsd: 0,
  heldMs: null,
};

/** Applies trades of a series, oldest first, and stores its positions; returns each trade with its effect. */
function applyTrades<Own extends Trade>(db: Db, series: Series, trades: readonly Own[], newest?: Position) {
  const positions = newest === undefined ? [] : [newest];
  const effects = trades.map((trade) => {
    const { position, opened, effect } = applyTrade(positions.at(-1)?.state, trade);
    if (opened) positions.push({ state: position });
    return [trade, effect] as const;
  });
  const keys = new Map<number, number>();
  for (const position of positions)
    keys.set(position.state.ordinal, savePosition(db, series, position, position !== positions.at(-1)));
  return effects.map(([trade, { ordinal, ...effect }]): [Own, StoredEffect] => [
    trade,
    { ...effect, positionKey: keys.get(ordinal) ?? 0 },
  ]);
}

/** Stores a position; returns its key. By `?`, as `insertTrade`: an import would take a third longer by names. */
function savePosition(db: Db, series: Series, { key, state }: Position, isSuperseded: boolean): number {
  const figures = [
    isSuperseded ? 1 : 0,
    state.latestAtMs,
    state.lots.reduce((sum, lot) => sum + lot.amount, 0),
    state.realizedUsd,
    state.sellCount,
    state.unavailable ? 1 : 0,
    JSON.stringify(state),
  ];
  if (key !== undefined) {
    db.run(
      `UPDATE position SET superseded = ?, latest_ms = ?, amount = ?, realized_usd = ?, sell_count = ?, unavailable = ?, state = ?
       WHERE key = ?`,
      [...figures, key],
    );
    return key;
  }
  const id = makeUuid(`position:${series.join(':')}:${state.ordinal}`);
  return db.insert(
    `INSERT INTO position (superseded, latest_ms, amount, realized_usd, sell_count, unavailable, state,
       id, wallet, chain, token, direction, ordinal, opened_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    [...figures, id, ...series, state.ordinal, state.openedAtMs],
  );
}

/** Rebuilds positions from their stored trades, and stores the effect of each trade again. */
function rebuildSeries(db: Db, series: Series): void {
  const trades = db
    .all<StoredTrade>(`SELECT ${tradeColumns} FROM trade t WHERE ${ofSeries} ORDER BY at_ms, id`, series)
    .map(({ wallet, direction, orderId: _, startAmount, ...trade }) => ({
      ...trade,
      trader: wallet,
      direction: direction || null,
      startAmount: startAmount ?? undefined,
      rowKey: '',
    }));
  db.run(`DELETE FROM position WHERE ${ofSeries}`, series);
  for (const [{ id }, effect] of applyTrades(db, series, trades))
    db.run(
      `UPDATE trade SET position_key = :positionKey, intent = :intent, realized_usd = :realizedUsd,
         margin_cost_usd = :marginCostUsd, held_ms = :heldMs WHERE id = :id`,
      { ...effect, id },
    );
}

function insertTrade(db: Db, trade: Trade, effect: StoredEffect): number {
  const { rowKey, chain, trader, token, side, direction, leverage, amount, usd, atMs, tx } = trade;
  const { startAmount = null, orderId = null } = trade;
  const { positionKey, intent, realizedUsd, marginCostUsd, heldMs } = effect;
  return db.insert(
    `INSERT INTO trade (row_key, chain, wallet, token, side, direction, leverage, amount, usd, start_amount, at_ms, tx, order_id,
       position_key, intent, realized_usd, margin_cost_usd, held_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    [
      ...[rowKey, chain, trader, token, side, direction ?? '', leverage, amount, usd, startAmount, atMs, tx, orderId],
      ...[positionKey, intent, realizedUsd, marginCostUsd, heldMs],
    ],
  );
}

/** What the trades of one token, oldest first, say of it. */
function saveToken(db: Db, trades: readonly [Trade, ...Trade[]]): void {
  const latest = trades.at(-1) ?? trades[0];
  const last = (key: 'tokenSymbol' | 'tokenName' | 'tokenSupply') =>
    trades.findLast((trade) => trade[key] !== undefined)?.[key];
  db.run(
    `INSERT INTO token (chain, address, symbol, name, supply, price, price_ms)
     VALUES (:chain, :token, :symbol, :name, :supply, :price, :atMs)
     ON CONFLICT (chain, address) DO UPDATE SET
       symbol = coalesce(excluded.symbol, symbol), name = coalesce(excluded.name, name), supply = coalesce(excluded.supply, supply),
       price = CASE WHEN price_ms IS NULL OR excluded.price_ms >= price_ms THEN excluded.price ELSE price END,
       price_ms = max(excluded.price_ms, coalesce(price_ms, excluded.price_ms))`,
    {
      chain: latest.chain,
      token: latest.token,
      symbol: last('tokenSymbol') ?? null,
      name: last('tokenName') ?? null,
      supply: last('tokenSupply') ?? null,
      price: latest.usd / latest.amount,
      atMs: latest.atMs,
    },
  );
}

/** An entry counts as a copy when it comes within this time of the intent (wire-facts 3.8: "usually within an hour"). */
const copyWindowMs = hourMs;

/**
 * Turns entries into copies where they fit a copy intent: same address, token and chain, on perps the direction of the commented trade,
 * within the hour. One trade is at most one copy and one intent becomes at most one; the latest intent wins.
 */
function matchCopies(db: Db, tradeIds: readonly number[]): void {
  if (db.get('SELECT 1 FROM intent WHERE trade_id IS NULL LIMIT 1') === undefined) return;
  const entries = db.all<StoredTrade>(
    `SELECT ${tradeColumns} FROM trade t WHERE t.id ${oneOf} AND t.intent = 'enter'
       AND EXISTS (SELECT 1 FROM intent i WHERE i.wallet = t.wallet AND i.chain = t.chain AND i.token = t.token)
     ORDER BY t.at_ms, t.id`,
    [JSON.stringify(tradeIds)],
  );
  for (const entry of entries) matchEntry(db, entry);
}

function matchEntry(db: Db, entry: StoredTrade): void {
  const { wallet, chain, token, atMs, direction, usd } = entry;
  const match = db.get<{ intentId: string; commentId: string; partnerId: string }>(
    `SELECT i.id AS intentId, i.comment_id AS commentId, i.partner_id AS partnerId
     FROM intent i JOIN comment c ON c.id = i.comment_id JOIN trade t ON t.id = c.trade_id
     WHERE i.wallet = :wallet AND i.chain = :chain AND i.token = :token AND i.at_ms <= :atMs AND i.at_ms > :fromMs
       AND i.trade_id IS NULL AND t.direction = :direction ORDER BY i.at_ms DESC, i.id LIMIT 1`,
    { wallet, chain, token, atMs, fromMs: atMs - copyWindowMs, direction },
  );
  if (match === undefined) return;
  const { intentId, commentId, partnerId } = match;
  db.run('UPDATE intent SET trade_id = ? WHERE id = ?', [entry.id, intentId]);
  db.run(
    'INSERT INTO copy (id, comment_id, partner_id, wallet, usd, at_ms) VALUES (:id, :commentId, :partnerId, :wallet, :usd, :atMs)',
    { id: makeUuid(`copy:${intentId}`), commentId, partnerId, wallet, usd, atMs },
  );
}
