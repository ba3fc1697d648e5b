import { isUuid, normalizeAddress, plainAddress } from '../../api/address.ts';
import type { Card, Comment } from '../../api/answers.ts';
import type { Chain } from '../../api/chain.ts';
import type * as endpoints from '../../api/comment.ts';
import { maxTrackingMs } from '../../api/comment.ts';
import { parseTime } from '../../api/duration.ts';
import { signedText, type TextForm } from '../../api/signed-text.ts';
import { getMeta, worldOffset } from '../db/settings.ts';
import { countRows } from '../db/store.ts';
import { storeCommentEvent } from '../deliver/events.ts';
import { oneOf, positionId } from '../ledger/trade.ts';
import { readCards } from './cards.ts';
import { copiedText, readTradeComments } from './comments.ts';
import { defaultLimits, type Handler, type SandboxCall, ServiceRefusal } from './handler.ts';
import { lookUpToken, makeUuid, storedToken } from './identifiers.ts';

/** A commented trade must be worth at least this much (wire-facts 3.6). */
const minUsd = 10;
/** The form of signed texts by default (section "Contexts and presets"). */
const defaultForm: TextForm = { serviceName: 'Sandbox', layout: 'five-line' };

interface TradeRow {
  id: number;
  chain: string;
  token: string;
  wallet: string;
  usd: number;
  commentId: string | null;
}

/** POST /v1/swap-comments: 400 naming the rule that is broken; signature first, then the trade, then one comment a trade. */
export const post: Handler<typeof endpoints.post> = async (input, call) => {
  const { normalizeSignature, verifySignature } = await import('../../api/verify-signature.ts');
  const { chain, tokenAddress, transactionHash, commentText } = input;
  const { db, partner, nowMs } = call;
  const signerAddress = normalizeAddress(plainAddress(input.signerAddress));
  const signature = normalizeSignature(chain, input.signature);
  const message = signedText(input, readForm(call));
  const claim = { chain, message, signature: input.signature, signerAddress: input.signerAddress };
  const verdict = await verifySignature({ ...claim, encoding: 'base58' });
  if (!verdict.valid) throw new ServiceRefusal(400, `signature: ${verdict.reason}`);
  return db.transaction(() => {
    const trades = findSwap(call, { chain, tokenAddress, transactionHash, signerAddress });
    const [trade] = trades;
    const usd = trades.reduce((sum, each) => sum + each.usd, 0);
    if (usd < minUsd)
      throw new ServiceRefusal(400, `transactionHash: the trade is worth ${usd.toFixed(2)} USD, less than ${minUsd}`);
    if (trades.some(({ commentId }) => commentId !== null))
      throw new ServiceRefusal(400, 'transactionHash: this trade already has a comment, and there is one per trade');
    const id = makeUuid(`comment:${trade.id}:${signature}`);
    db.run(
      `INSERT INTO comment (id, trade_id, partner_id, chain, token, transaction_hash, wallet, text, at_ms)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      [id, trade.id, partner.id, chain, trade.token, transactionHash, signerAddress, commentText, nowMs],
    );
    storeCommentEvent(db, id, nowMs);
    const [comment] = readTradeComments(call, [trade.id], { replies: true }).get(trade.id) ?? [];
    return comment as Comment;
  });
};

function readForm({ db }: SandboxCall): TextForm {
  const layout = getMeta(db, 'signing.layout') as TextForm['layout'] | undefined;
  return {
    serviceName: getMeta(db, 'signing.serviceName') ?? defaultForm.serviceName,
    layout: layout ?? defaultForm.layout,
  };
}

type Swap = Record<'transactionHash' | 'tokenAddress' | 'signerAddress', string> & { chain: Chain };

/** The fills of one swap by one signer, oldest first; at least one. Each refusal narrows down what does not fit. */
function findSwap(
  call: SandboxCall,
  { transactionHash, chain, tokenAddress, signerAddress }: Swap,
): readonly [TradeRow, ...TradeRow[]] {
  const [first, ...others] = findTrades(call, [transactionHash]);
  if (first === undefined) throw new ServiceRefusal(400, `transactionHash ${transactionHash}: no such trade`);
  const [onChain, ...restOnChain] = [first, ...others].filter((trade) => trade.chain === chain);
  if (onChain === undefined) throw new ServiceRefusal(400, `chain ${chain}: that trade is on ${first.chain}`);
  const token = storedToken(call.db, chain, tokenAddress);
  const ofToken = [onChain, ...restOnChain].filter((trade) => trade.token === token);
  if (ofToken.length === 0)
    throw new ServiceRefusal(400, `tokenAddress ${tokenAddress}: that trade is in ${onChain.token}`);
  const [own, ...restOwn] = ofToken.filter((trade) => trade.wallet === signerAddress);
  if (own === undefined)
    throw new ServiceRefusal(400, `signerAddress ${signerAddress}: that trade is not the signer's own`);
  return [own, ...restOwn];
}

function findTrades({ db }: SandboxCall, hashes: readonly string[]): TradeRow[] {
  const list = JSON.stringify(hashes.flatMap(spellings));
  // The plus keeps SQLite from reading all of the chain to find the order.
  return db.all<TradeRow>(
    `SELECT t.id, t.chain, t.token, t.wallet, t.usd, c.id AS commentId FROM trade t LEFT JOIN comment c ON c.trade_id = t.id
     WHERE t.tx ${oneOf} OR (+t.chain = 'hyperliquid' AND t.order_id ${oneOf})
     ORDER BY t.at_ms, t.id`,
    [list, list],
  );
}

function spellings(hash: string): string[] {
  return /^0x[0-9a-f]+$/i.test(hash) ? [hash, hash.toLowerCase()] : [hash];
}

/** GET /v1/swap-comments: an entry for each transaction asked for, empty if there is no comment. */
export const list: Handler<typeof endpoints.list> = ({ hashes, chain, viewerAddresses }, call) => {
  return Object.fromEntries(
    [...new Set(hashes)].map((hash) => {
      const ids = findTrades(call, [hash]).flatMap((trade) => (trade.chain === chain ? [trade.id] : []));
      const comments = [...readTradeComments(call, ids, { viewers: viewerAddresses }).values()].flat();
      const copies = comments.reduce((sum, { metrics }) => sum + (metrics as { copyCount: number }).copyCount, 0);
      const insights = copiedText(copies).map((text) => ({ text }));
      return [hash, { comments: comments as Comment[], insights }];
    }),
  );
};

/**
 * GET /v1/tokens/.../comments: newest first, ties by comment id; at most `limit`; empty for an unknown token. `itemId` is that of the
 * commented position (assumed).
 */
export const ofToken: Handler<typeof endpoints.ofToken> = (input, call) => {
  const { db } = call;
  const { chain, contractAddress, limit = defaultLimits.comments } = input;
  const place = [chain, lookUpToken(db, chain, contractAddress)];
  const rows = db.all<{ id: string; positionId: string }>(
    `SELECT c.id, ${positionId} AS positionId FROM comment c JOIN trade t ON t.id = c.trade_id
     WHERE c.chain = ? AND c.token = ? ORDER BY c.at_ms DESC, c.id LIMIT ?`,
    [...place, limit],
  );
  const ids = [...new Set(rows.map((row) => row.positionId))];
  const cards = readCards(call, ids, { ofToken: true });
  const count = countRows(db, 'comment WHERE chain = ? AND token = ?', place);
  const items = new Map(cards.flatMap((card) => makeItems(card, count)));
  return rows.flatMap(({ id }) => items.get(id) ?? []);
};

function makeItems({ itemId, actor, metadata }: Card, commentCount: number) {
  const { perpPositionType, perpLeverage, positionAmount, positionAmountWithLeverage, positionStats } = metadata;
  const { tokenChain: chain, tokenSymbol: symbol, tokenName: name, tokenAddress: address } = metadata;
  return metadata.trades.flatMap(({ comments: own = [], ...trade }) =>
    own.map((comment) => {
      const item = {
        itemId,
        actor,
        timestamp: comment.timestamp,
        comment,
        trade,
        positionDetails: { perpPositionType, perpLeverage, positionAmount, positionStats, positionAmountWithLeverage },
        token: { chain, symbol, name, address, commentCount },
      };
      return [comment.uid, item] as const;
    }),
  );
}

/** POST /v1/swap-comment/{id}/copyswap: one intent an address; 404 for an unknown comment. */
export const copy: Handler<typeof endpoints.copy> = (input, { db, nowMs, partner }) => {
  const { tokenAddress, actorAddress, actorAddresses = [], trackExitUntil } = input;
  const id = isUuid(input.id) ? input.id.toLowerCase() : input.id;
  const comment = db.get<{ chain: Chain; token: string }>('SELECT chain, token FROM comment WHERE id = ?', [id]);
  const chain = input.chain ?? comment?.chain;
  if (comment === undefined || chain === undefined) throw new ServiceRefusal(404, `comment ${input.id} does not exist`);
  const token = storedToken(db, chain, tokenAddress);
  if (chain !== comment.chain)
    throw new ServiceRefusal(400, `chain ${chain}: the comment is about a trade on ${comment.chain}`);
  if (token !== comment.token)
    throw new ServiceRefusal(400, `tokenAddress ${tokenAddress}: the comment is about ${comment.token}`);
  const wallets = [...(actorAddress === undefined ? [] : [actorAddress]), ...actorAddresses].map(normalizeAddress);
  if (wallets.length === 0)
    throw new ServiceRefusal(400, 'actorAddress is required: a wallet address, or several in actorAddresses');
  if (trackExitUntil !== undefined) checkTrackingEnd(trackExitUntil, chain, nowMs + worldOffset(db));
  const addIntent = (wallet: string): string => {
    const intentId = makeUuid(`intent:${countRows(db, 'intent')}:${id}:${wallet}:${nowMs}`);
    db.run(
      'INSERT INTO intent (id, comment_id, partner_id, wallet, chain, token, at_ms) VALUES (?, ?, ?, ?, ?, ?, ?)',
      [intentId, id, partner.id, wallet, chain, token, nowMs],
    );
    return intentId;
  };
  return { intentIds: db.transaction(() => [...new Set(wallets)].map(addIntent)) };
};

function checkTrackingEnd(text: string, chain: string, nowMs: number): void {
  if (chain !== 'hyperliquid') throw new ServiceRefusal(400, `trackExitUntil: only on hyperliquid, not on ${chain}`);
  const atMs = /^\d{4}-\d{2}-\d{2}T/.test(text) ? parseTime(text) : undefined;
  if (atMs === undefined) throw new ServiceRefusal(400, `trackExitUntil ${text}: must be an ISO 8601 timestamp`);
  if (atMs <= nowMs) throw new ServiceRefusal(400, `trackExitUntil ${text}: is not in the future`);
  if (atMs > nowMs + maxTrackingMs) throw new ServiceRefusal(400, `trackExitUntil ${text}: more than 7 days ahead`);
}
