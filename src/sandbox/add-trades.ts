import { matchCopies } from './copies.ts';
import { noteTrades } from './events.ts';
import { digestOf, uuidOf } from './ids.ts';
import { applyTrade, type PositionState, type TradeEffect } from './positions.ts';
import { addWallet } from './profiles.ts';
import type { Db, SqlValue } from './store.ts';
import type { Trade } from './trade.ts';

export interface Added {
  /** Trades that were new. */
  added: number;
  /** Rows that were already there: the same row twice is one trade. */
  repeated: number;
  /** Database ids of the new trades, in time order. */
  ids: number[];
}

/** The newest position of one wallet, chain, token and direction while trades are being added to it. */
interface Line {
  newest: PositionState | undefined;
  /** Positions that changed, by ordinal. */
  changed: Map<number, PositionState>;
  /** A trade arrived that is older than what the newest position already holds. */
  late: boolean;
}

/**
 * Stores trades and updates the positions they belong to, those and no others; all or nothing. Trades are taken in time order;
 * one that is older than its position's latest makes that one line of positions start over from its own trades. `liveAtMs`: they happen
 * now, by the sandbox's clock, so webhooks are told of them.
 */
export function addTrades(db: Db, trades: readonly Trade[], liveAtMs?: number): Added {
  const ordered = [...trades].sort((a, b) => a.atMs - b.atMs);
  const lines = new Map<string, Line>();
  const result: Added = { added: 0, repeated: 0, ids: [] };
  const [tokens, wallets] = [new Map<string, Trade>(), new Map<string, Trade>()];
  return db.transaction(() => {
    for (const trade of ordered) {
      const rowKey = digestOf(trade.rowKey);
      if (db.get('SELECT 1 FROM trade WHERE row_key = ?', [rowKey]) !== undefined) {
        result.repeated += 1;
        continue;
      }
      const line = lineOf(db, lines, trade);
      result.ids.push(insertTrade(db, trade, rowKey, takeTrade(line, trade)));
      result.added += 1;
      const tokenKey = `${trade.chain}:${trade.token}`;
      tokens.set(tokenKey, { ...tokens.get(tokenKey), ...trade });
      if (!wallets.has(trade.trader)) wallets.set(trade.trader, trade);
    }
    for (const trade of tokens.values()) updateToken(db, trade);
    for (const { trader, atMs } of wallets.values()) addWallet(db, trader, atMs);
    for (const [key, line] of lines) {
      if (line.late) rebuildLine(db, key);
      else for (const state of line.changed.values()) savePosition(db, state);
    }
    matchCopies(db, result.ids);
    if (liveAtMs !== undefined) noteTrades(db, result.ids, liveAtMs);
    return result;
  });
}

function keyOf({
  wallet,
  chain,
  token,
  direction,
}: {
  wallet: string;
  chain: string;
  token: string;
  direction: string;
}) {
  return JSON.stringify([wallet, chain, token, direction]);
}

function lineOf(db: Db, lines: Map<string, Line>, trade: Trade): Line {
  const parts = { wallet: trade.trader, chain: trade.chain, token: trade.token, direction: trade.direction ?? '' };
  const key = keyOf(parts);
  const known = lines.get(key);
  if (known) return known;
  const row = db.get<{ state: string }>(
    'SELECT state FROM position WHERE wallet = ? AND chain = ? AND token = ? AND direction = ? ORDER BY ordinal DESC LIMIT 1',
    [parts.wallet, parts.chain, parts.token, parts.direction],
  );
  const line: Line = { newest: row && JSON.parse(row.state), changed: new Map(), late: false };
  lines.set(key, line);
  return line;
}

const unknownEffect: TradeEffect = {
  ordinal: 0,
  intent: 'enter',
  realizedUsd: 0,
  costUsd: 0,
  marginCostUsd: 0,
  heldMs: null,
};

function takeTrade(line: Line, trade: Trade): TradeEffect {
  if (line.newest !== undefined && trade.atMs < line.newest.latestAtMs) line.late = true;
  if (line.late) return unknownEffect;
  const { position, effect } = applyTrade(line.newest, trade);
  line.newest = position;
  line.changed.set(position.ordinal, position);
  return effect;
}

function positionId(trade: Pick<Trade, 'trader' | 'chain' | 'token' | 'direction'>, ordinal: number): string {
  return uuidOf(`position:${trade.trader}:${trade.chain}:${trade.token}:${trade.direction ?? ''}:${ordinal}`);
}

function insertTrade(db: Db, trade: Trade, rowKey: string, effect: TradeEffect): number {
  const values: SqlValue[] = [
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
    positionId(trade, effect.ordinal),
    effect.intent,
    effect.realizedUsd,
    effect.marginCostUsd,
    effect.heldMs === null ? null : Math.round(effect.heldMs),
  ];
  return db.insert(
    `INSERT INTO trade (row_key, chain, wallet, token, side, direction, leverage, amount, usd, start_amount, at_ms, tx, order_id,
      position_id, intent, realized_usd, margin_cost_usd, held_ms) VALUES (${values.map(() => '?').join(', ')})`,
    values,
  );
}

function updateToken(db: Db, trade: Trade): void {
  db.run(
    `INSERT INTO token (chain, address, symbol, name, supply, price, price_ms) VALUES (?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (chain, address) DO UPDATE SET
       symbol = coalesce(excluded.symbol, symbol), name = coalesce(excluded.name, name), supply = coalesce(excluded.supply, supply),
       price = CASE WHEN excluded.price_ms >= coalesce(price_ms, 0) THEN excluded.price ELSE price END,
       price_ms = max(excluded.price_ms, coalesce(price_ms, 0))`,
    [
      trade.chain,
      trade.token,
      trade.tokenSymbol ?? null,
      trade.tokenName ?? null,
      trade.tokenSupply ?? null,
      trade.usd / trade.amount,
      trade.atMs,
    ],
  );
}

function savePosition(db: Db, state: PositionState): void {
  const direction = state.direction ?? '';
  const held = state.lots.reduce((sum, lot) => sum + lot.amount, 0);
  db.run(
    `INSERT INTO position (id, chain, wallet, token, direction, ordinal, opened_ms, latest_ms, amount, realized_usd, sell_count, state)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (id) DO UPDATE SET opened_ms = excluded.opened_ms, latest_ms = excluded.latest_ms, amount = excluded.amount,
       realized_usd = excluded.realized_usd, sell_count = excluded.sell_count, state = excluded.state`,
    [
      positionId(state, state.ordinal),
      state.chain,
      state.trader,
      state.token,
      direction,
      state.ordinal,
      state.openedAtMs,
      state.latestAtMs,
      held,
      state.realizedUsd,
      state.sellCount,
      JSON.stringify(state),
    ],
  );
  if (state.ordinal > 1)
    db.run(
      'UPDATE position SET superseded = 1 WHERE wallet = ? AND chain = ? AND token = ? AND direction = ? AND ordinal < ?',
      [state.trader, state.chain, state.token, direction, state.ordinal],
    );
}

interface StoredTrade extends Omit<Trade, 'direction' | 'orderId' | 'startAmount'> {
  id: number;
  direction: string;
  startAmount: number | null;
}

function rebuildLine(db: Db, key: string): void {
  const parts: string[] = JSON.parse(key);
  const where = 'wallet = ? AND chain = ? AND token = ? AND direction = ?';
  const trades = db.all<StoredTrade>(
    `SELECT id, chain, wallet AS trader, token, side, direction, leverage, amount, usd, start_amount AS startAmount, at_ms AS atMs,
       tx, row_key AS rowKey FROM trade WHERE ${where} ORDER BY at_ms, id`,
    parts,
  );
  db.run(`DELETE FROM position WHERE ${where}`, parts);
  let newest: PositionState | undefined;
  for (const { direction, startAmount, ...stored } of trades) {
    const trade: Trade = {
      ...stored,
      direction: direction === '' ? null : (direction as 'long' | 'short'),
      ...(startAmount === null ? {} : { startAmount }),
    };
    const { position, effect } = applyTrade(newest, trade);
    if (newest !== undefined && position.ordinal !== newest.ordinal) savePosition(db, newest);
    newest = position;
    db.run(
      'UPDATE trade SET position_id = ?, intent = ?, realized_usd = ?, margin_cost_usd = ?, held_ms = ? WHERE id = ?',
      [
        positionId(trade, effect.ordinal),
        effect.intent,
        effect.realizedUsd,
        effect.marginCostUsd,
        effect.heldMs === null ? null : Math.round(effect.heldMs),
        stored.id,
      ],
    );
  }
  if (newest !== undefined) savePosition(db, newest);
}
