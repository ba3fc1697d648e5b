import { type Chain, chains, defaultFilterChains } from '../../model/chain.ts';
import type { Db, SqlValue } from '../db/store.ts';
import { defaultLimits } from '../http/service.ts';
import { windowMs } from './figures.ts';
import { openThresholdUsd } from './positions.ts';

/** A value is compared with what rounding leaves of the threshold, as the cards' own `isOpen` is. */
const openFromUsd = openThresholdUsd * (1 - 1e-9);

interface Page {
  status: 'open' | 'closed';
  /** `value` when absent. */
  sort?: 'value' | 'latest' | undefined;
  /** From 1; 1 when absent. */
  page?: number | undefined;
  limit?: number | undefined;
}

/** The chains that a filter lets through; left out, the service's default (section "positions"). */
export function chainsOf(filter: readonly (Chain | 'all')[] | undefined): readonly Chain[] {
  if (filter === undefined) return defaultFilterChains;
  return filter.includes('all') ? chains : chains.filter((chain) => filter.includes(chain));
}

/**
 * Ids of one token's positions, a page of them; may be empty. `value`: open ones by how much is held (on perps with leverage,
 * unsigned), closed ones by realized PnL; `latest`: open ones by when they opened, closed ones by their last trade; all
 * descending, ties by id. Source: section "positions" and wire-facts, contradiction 4.
 */
export function tokenPositions(db: Db, token: { chain: Chain; address: string }, page: Page): string[] {
  const byValue = page.status === 'open' ? 'p.amount DESC' : 'p.realized_usd DESC';
  return pageOf(db, page, {
    where: 'p.chain = ? AND p.token = ?',
    params: [token.chain, token.address],
    byValue: { sql: byValue, params: [] },
  });
}

/**
 * Ids of the positions of some wallets on some chains, a page of them; may be empty. `value`: open ones by the cost basis of what
 * was sold of them in 30 days, closed ones by realized PnL with those that were never sold at the end; `latest` as for
 * tokens; all descending, ties by id. Source: section "GET /v1/addresses/{identifier}/positions/{status}".
 */
export function walletPositions(
  db: Db,
  { wallets, chains, nowMs }: { wallets: readonly string[]; chains: readonly Chain[]; nowMs: number },
  page: Page,
): string[] {
  const sinceMs = nowMs - windowMs['30d'];
  const soldCost = `CASE WHEN p.latest_ms <= ? THEN 0 ELSE (SELECT coalesce(sum(t.margin_cost_usd), 0) FROM trade t
    WHERE t.position_id = p.id AND t.at_ms > ? AND t.intent = 'exit') END DESC`;
  return pageOf(db, page, {
    where: 'p.wallet IN (SELECT value FROM json_each(?)) AND p.chain IN (SELECT value FROM json_each(?))',
    params: [JSON.stringify(wallets), JSON.stringify(chains)],
    byValue:
      page.status === 'open'
        ? { sql: soldCost, params: [sinceMs, sinceMs] }
        : { sql: 'p.sell_count = 0, p.realized_usd DESC', params: [] },
  });
}

interface Question {
  where: string;
  params: readonly SqlValue[];
  byValue: { sql: string; params: readonly SqlValue[] };
}

/** The price is looked up last, and so only for what may be open. */
const isOpen = `(p.superseded = 0 AND p.amount > 0
  AND p.amount * (SELECT k.price FROM token k WHERE k.chain = p.chain AND k.address = p.token) >= ?)`;

function pageOf(
  db: Db,
  { status, sort = 'value', page = 1, limit = defaultLimits.positions }: Page,
  question: Question,
) {
  const latest = { sql: status === 'open' ? 'p.opened_ms DESC' : 'p.latest_ms DESC', params: [] };
  const order = sort === 'value' ? question.byValue : latest;
  const rows = db.all<{ id: string }>(
    `SELECT p.id FROM position p
     WHERE ${question.where} AND ${status === 'open' ? '' : 'NOT '}${isOpen}
     ORDER BY ${order.sql}, p.id LIMIT ? OFFSET ?`,
    [...question.params, openFromUsd, ...order.params, limit, (page - 1) * limit],
  );
  return rows.map((row) => row.id);
}

/**
 * The id of the position of a wallet in a token that a moment falls into: from its first trade to its last, an open one until now,
 * both by the second. Where several match, the one that traded at that very moment, then the one that covers it to the
 * millisecond, then the newest. `undefined` when there is none. Source: section "GET /v1/positions/{address}/...", assumed in
 * what several matches mean.
 */
export function positionAt(
  db: Db,
  { wallet, chain, token }: { wallet: string; chain: Chain; token: string },
  atMs: number,
  nowMs: number,
): string | undefined {
  const second = Math.floor(atMs / 1000) * 1000;
  const row = db.get<{ id: string }>(
    `SELECT p.id FROM position p
     WHERE p.wallet = ? AND p.chain = ? AND p.token = ? AND p.opened_ms < ? + 1000
       AND CASE WHEN ${isOpen} THEN max(p.latest_ms, ?) ELSE p.latest_ms END >= ?
     ORDER BY EXISTS (SELECT 1 FROM trade t WHERE t.position_id = p.id AND t.at_ms = ?) DESC,
       EXISTS (SELECT 1 FROM trade t WHERE t.position_id = p.id AND t.at_ms >= ? AND t.at_ms < ? + 1000) DESC,
       (p.opened_ms <= ? AND p.latest_ms >= ?) DESC, p.opened_ms DESC, p.ordinal DESC, p.id LIMIT 1`,
    [wallet, chain, token, second, openFromUsd, nowMs, second, atMs, second, second, atMs, atMs],
  );
  return row?.id;
}
