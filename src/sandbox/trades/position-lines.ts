import type { Db } from '../db/store.ts';
import { uuidOf } from '../seeded.ts';
import { applyTrade, type PositionState, type TradeEffect } from './positions.ts';
import { type StoredTrade, type Trade, tradeColumns } from './trade.ts';

export interface AddedTrade {
  positionId: string;
  effect: TradeEffect;
}

/** The positions of one wallet, chain, token and direction, of which only the newest takes trades. */
interface Line {
  parts: LineParts;
  newest: PositionState | undefined;
  newestId: string;
  earlier: PositionState[];
  /** An older trade came after a newer one: the line starts over from its own trades at the end. */
  isLate: boolean;
}

type LineParts = readonly [wallet: string, chain: string, token: string, direction: string];

const ofLine = 'wallet = ? AND chain = ? AND token = ? AND direction = ?';

/**
 * Keeps at most so many positions in memory while trades are added. A trade that is older than its position's latest makes that one line
 * start over from its own trades, at the end.
 */
export function openLines(db: Db, maxHeld: number) {
  const wallets = new Map<string, Map<string, Line[]>>();
  const late = new Map<string, LineParts>();
  let held = 0;
  let isAnyStored = db.get('SELECT 1 FROM position LIMIT 1') !== undefined;
  const linesOf = ({ trader, token }: Trade): Line[] => {
    const tokens = wallets.get(trader) ?? new Map<string, Line[]>();
    const lines = tokens.get(token) ?? [];
    if (lines.length === 0) wallets.set(trader, tokens.set(token, lines));
    return lines;
  };
  const lineOf = (trade: Trade): Line => {
    const direction = trade.direction ?? '';
    const lines = linesOf(trade);
    const known = lines.find(({ parts }) => parts[1] === trade.chain && parts[3] === direction);
    if (known !== undefined) return known;
    const line = openLine(isAnyStored ? db : undefined, [trade.trader, trade.chain, trade.token, direction]);
    lines.push(line);
    held += 1;
    return line;
  };
  const save = (maxLeft: number) => {
    const saved: Line[] = [];
    for (const [wallet, tokens] of wallets) {
      if (held <= maxLeft) break;
      wallets.delete(wallet);
      for (const line of [...tokens.values()].flat()) {
        held -= 1 + line.earlier.length;
        if (!line.isLate) saved.push(line);
      }
    }
    saveLines(db, saved);
    isAnyStored = true;
  };
  return {
    add: (trade: Trade): AddedTrade => {
      const line = lineOf(trade);
      if (line.isLate || (line.newest !== undefined && trade.atMs < line.newest.latestAtMs)) {
        line.isLate = true;
        late.set(line.parts.join(' '), line.parts);
        return placeholder;
      }
      held -= line.earlier.length;
      const added = addToLine(line, trade);
      held += line.earlier.length;
      if (held > maxHeld) save(maxHeld / 2);
      return added;
    },
    save: () => save(0),
    /** Stores what is left; call it once the trades themselves are stored. */
    finish: () => {
      save(0);
      for (const parts of late.values()) rebuildLine(db, parts);
      late.clear();
    },
  };
}

function openLine(db: Db | undefined, parts: LineParts): Line {
  const row = db?.get<{ id: string; openedMs: number; state: string }>(
    `SELECT id, opened_ms AS openedMs, state FROM position WHERE ${ofLine} ORDER BY ordinal DESC LIMIT 1`,
    parts,
  );
  const newest = row && openedAt(JSON.parse(row.state), row.openedMs);
  return { parts, newest, newestId: row?.id ?? '', earlier: [], isLate: false };
}

/** Stands in until the line starts over from its own trades. */
const placeholder: AddedTrade = {
  positionId: '',
  effect: { ordinal: 0, intent: 'enter', realizedUsd: 0, costUsd: 0, marginCostUsd: 0, heldMs: null },
};

function addToLine(line: Line, trade: Trade): AddedTrade {
  const { newest } = line;
  const { position, effect, opened } = applyTrade(newest, trade);
  if (opened) {
    if (newest !== undefined) line.earlier.push(newest);
    line.newestId = idOf(line.parts, position.ordinal);
  }
  line.newest = position;
  return { positionId: line.newestId, effect };
}

function idOf([wallet, chain, token, direction]: LineParts, ordinal: number): string {
  return uuidOf(`position:${wallet}:${chain}:${token}:${direction}:${ordinal}`);
}

interface PositionRow {
  id: string;
  parts: LineParts;
  state: PositionState;
  isSuperseded: boolean;
}

/** In the order of their ids, which is the order of the table: so that each page of it is written once. */
function saveLines(db: Db, lines: readonly Line[]): void {
  const rows = lines.flatMap(({ parts, newest, newestId, earlier }): PositionRow[] => [
    ...earlier.map((state) => ({ id: idOf(parts, state.ordinal), parts, state, isSuperseded: true })),
    ...(newest === undefined ? [] : [{ id: newestId, parts, state: newest, isSuperseded: false }]),
  ]);
  for (const row of rows.sort((a, b) => (a.id < b.id ? -1 : 1))) savePosition(db, row);
}

function savePosition(db: Db, { id, parts, state, isSuperseded }: PositionRow): void {
  const [wallet, chain, token, direction] = parts;
  db.run(
    `INSERT INTO position
       (id, chain, wallet, token, direction, ordinal, superseded, opened_ms, latest_ms, amount, realized_usd, sell_count, state)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (id) DO UPDATE SET superseded = excluded.superseded, opened_ms = excluded.opened_ms, latest_ms = excluded.latest_ms,
       amount = excluded.amount, realized_usd = excluded.realized_usd, sell_count = excluded.sell_count, state = excluded.state`,
    [
      id,
      chain,
      wallet,
      token,
      direction,
      state.ordinal,
      isSuperseded ? 1 : 0,
      state.openedAtMs,
      state.latestAtMs,
      state.lots.reduce((sum, lot) => sum + lot.amount, 0),
      state.realizedUsd,
      state.sellCount,
      JSON.stringify(openedAt(state, 0)),
    ],
  );
}

/** The state with its times moved so that it opened then. Stored ones open at 0, so that a world is moved without reading them. */
function openedAt(state: PositionState, atMs: number): PositionState {
  const byMs = atMs - state.openedAtMs;
  return {
    ...state,
    openedAtMs: atMs,
    latestAtMs: state.latestAtMs + byMs,
    lots: state.lots.map((lot) => ({ ...lot, atMs: lot.atMs + byMs })),
  };
}

function rebuildLine(db: Db, parts: LineParts): void {
  const trades = db.all<StoredTrade>(`SELECT ${tradeColumns} FROM trade t WHERE ${ofLine} ORDER BY at_ms, id`, parts);
  db.run(`DELETE FROM position WHERE ${ofLine}`, parts);
  const save = (state: PositionState, isSuperseded: boolean) =>
    savePosition(db, { id: idOf(parts, state.ordinal), parts, state, isSuperseded });
  let newest: PositionState | undefined;
  for (const stored of trades) {
    const { position, effect } = applyTrade(newest, tradeOf(stored));
    if (newest !== undefined && position.ordinal !== newest.ordinal) save(newest, true);
    newest = position;
    db.run(
      'UPDATE trade SET position_id = ?, intent = ?, realized_usd = ?, margin_cost_usd = ?, held_ms = ? WHERE id = ?',
      [idOf(parts, effect.ordinal), effect.intent, effect.realizedUsd, effect.marginCostUsd, heldOf(effect), stored.id],
    );
  }
  if (newest !== undefined) save(newest, false);
}

function tradeOf({ wallet, direction, orderId: _, startAmount, ...stored }: StoredTrade): Trade {
  return {
    ...stored,
    trader: wallet,
    direction: direction === '' ? null : direction,
    ...(startAmount === null ? {} : { startAmount }),
    rowKey: '',
  };
}

/** How long the tokens of a closing trade were held, in whole milliseconds, as it is stored. */
export function heldOf({ heldMs }: TradeEffect): number | null {
  return heldMs === null ? null : Math.round(heldMs);
}
