import { isWalletAddress, normalizeAddress } from '../../api/address.ts';
import type { Card } from '../../api/answers.ts';
import type { Chain } from '../../api/chain.ts';
import type * as endpoints from '../../api/position.ts';
import { worldOffset } from '../db/settings.ts';
import type { Db, SqlValue } from '../db/store.ts';
import { windowMs } from '../ledger/figures.ts';
import { openFromUsd } from '../ledger/positions.ts';
import { oneOf } from '../ledger/trade.ts';
import { readCards } from './cards.ts';
import { defaultLimits, type Handler, type SandboxCall, ServiceRefusal } from './handler.ts';
import { expandChains, findProfile, listWallets, lookUpToken } from './identifiers.ts';

/**
 * GET /v1/tokens/.../positions/{status}: without the cards' own transaction, only commented trades inside; empty for an unknown token. `value`:
 * open ones by how much is held (on perps with leverage, unsigned), closed ones by realized PnL. Source: wire-facts, contradiction 4.
 */
export const ofToken: Handler<typeof endpoints.ofToken> = (input, call) => {
  const { chain, contractAddress, status, chains } = input;
  // The default filter must not hide the token's own chain (wire-facts 3.5).
  if (chains !== undefined && !expandChains(call.db, chains).includes(chain)) return [];
  const ids = makePage(call.db, input, {
    where: ['p.chain = ? AND p.token = ?', chain, lookUpToken(call.db, chain, contractAddress)],
    byValue: [status === 'open' ? 'p.amount DESC' : 'p.realized_usd DESC'],
  });
  return readCards(call, ids, { ofToken: true });
};

/**
 * GET /v1/addresses/.../positions/{status}: all trades inside, newest first; 404 for an unknown UUID. `value`: open ones by the cost basis of
 * what was sold of them in 30 days, closed ones by realized PnL with those that were never sold at the end.
 */
export const ofProfile: Handler<typeof endpoints.ofProfile> = (input, call) => {
  const { identifier, providedAddressesOnly = false, status, chains } = input;
  const { db, nowMs } = call;
  const profileId = findProfile(db, identifier, call.partner);
  const wallets =
    providedAddressesOnly && isWalletAddress(identifier)
      ? [normalizeAddress(identifier)]
      : listWallets(db, [profileId]);
  const sinceMs = nowMs - windowMs['30d'];
  const soldCost = `CASE WHEN p.latest_ms <= ? THEN 0 ELSE (SELECT coalesce(sum(t.margin_cost_usd), 0) FROM trade t
    WHERE t.position_key = p.key AND t.at_ms > ? AND t.intent = 'exit') END DESC`;
  const ids = makePage(db, input, {
    where: [
      `p.wallet ${oneOf} AND p.chain ${oneOf}`,
      ...[wallets, expandChains(db, chains)].map((list) => JSON.stringify(list)),
    ],
    byValue: status === 'open' ? [soldCost, sinceMs, sinceMs] : ['p.sell_count = 0, p.realized_usd DESC'],
  });
  return readCards(call, ids);
};

/** GET /v1/positions/...: 404 when no position of that wallet in that token covers the time. */
export const find: Handler<typeof endpoints.find> = (input, call) => {
  const { address, chain, contract, timestamp, viewerAddresses } = input;
  const clockMs = Number(timestamp) * (chain === 'hyperliquid' ? 1 : 1000);
  const series = { wallet: normalizeAddress(address), chain, token: lookUpToken(call.db, chain, contract) };
  const id = positionAt(call, series, clockMs);
  const when = Math.abs(clockMs) <= 8.64e15 ? new Date(clockMs).toISOString() : timestamp;
  return oneCard(call, id, viewerAddresses, `${address} has no position in ${contract} on ${chain} around ${when}`);
};

/** GET /v1/position/{id}: with replies; 404 for an unknown id. */
export const get: Handler<typeof endpoints.get> = ({ id, viewerAddresses }, call) =>
  oneCard(call, id, viewerAddresses, `position ${id} does not exist`);

function oneCard(call: SandboxCall, id: string | undefined, viewers: string[] | undefined, refusal: string): Card {
  const [card] = id === undefined ? [] : readCards(call, [id], { replies: true, viewers });
  if (card === undefined) throw new ServiceRefusal(404, refusal);
  return card;
}

type Page = Pick<Parameters<typeof ofProfile>[0], 'status' | 'sort' | 'page' | 'limit'>;

/** A part of a statement with its values. */
type SqlPart = readonly [sql: string, ...values: SqlValue[]];

/** The price is looked up last, and so only for what may be open. */
const isOpen = `(p.superseded = 0 AND p.amount > 0
  AND p.amount * (SELECT k.price FROM token k WHERE k.chain = p.chain AND k.address = p.token) >= ${openFromUsd})`;

/** Ids, ties in their order. `latest`: open ones by when they opened, closed ones by their last trade. Source: section "positions". */
function makePage(
  db: Db,
  { status, sort = 'value', page = 1, limit = defaultLimits.positions }: Page,
  { where: [where, ...wanted], byValue }: { where: SqlPart; byValue: SqlPart },
): string[] {
  const latest: SqlPart = [status === 'open' ? 'p.opened_ms DESC' : 'p.latest_ms DESC'];
  const [order, ...ordered] = sort === 'value' ? byValue : latest;
  return db.values<string>(
    `SELECT p.id FROM position p
     WHERE ${where} AND ${status === 'open' ? '' : 'NOT '}${isOpen}
     ORDER BY ${order}, p.id LIMIT ? OFFSET ?`,
    [...wanted, ...ordered, limit, (page - 1) * limit],
  );
}

/**
 * The position of a wallet in a token at a moment: from its first trade to its last, an open one until now, both by the second. If several
 * match, the one that traded at that very moment, then the one that covers it to the millisecond, then the newest (assumed). Source:
 * section "GET /v1/positions/{address}/...".
 */
function positionAt(
  { db, nowMs }: SandboxCall,
  { wallet, chain, token }: { wallet: string; chain: Chain; token: string },
  clockMs: number,
): string | undefined {
  const offsetMs = worldOffset(db);
  const atMs = clockMs - offsetMs;
  const second = Math.floor(clockMs / 1000) * 1000 - offsetMs;
  return db.value<string>(
    `SELECT p.id FROM position p
     WHERE p.wallet = :wallet AND p.chain = :chain AND p.token = :token AND p.opened_ms < :second + 1000
       AND CASE WHEN ${isOpen} THEN max(p.latest_ms, :now) ELSE p.latest_ms END >= :second
     ORDER BY EXISTS (SELECT 1 FROM trade t WHERE t.position_key = p.key AND t.at_ms = :at) DESC,
       EXISTS (SELECT 1 FROM trade t WHERE t.position_key = p.key AND t.at_ms >= :second AND t.at_ms < :second + 1000) DESC,
       (p.opened_ms <= :at AND p.latest_ms >= :at) DESC, p.opened_ms DESC, p.ordinal DESC, p.id LIMIT 1`,
    { wallet, chain, token, second, at: atMs, now: nowMs },
  );
}
