import type { Card } from '../../model/position.ts';
import { defaultLimits, type Handler } from '../../sandbox/http/service.ts';
import { cardsOf } from '../../sandbox/social/cards.ts';
import { storedToken } from '../../sandbox/social/lookup.ts';
import type * as endpoints from './endpoints.ts';

/**
 * GET /v1/tokens/.../comments: newest first, ties by comment id; at most `limit`; empty for an unknown token. `itemId` is that of the
 * commented position (assumed).
 */
export const comments: Handler<typeof endpoints.comments> = (input, { db, partner, nowMs }) => {
  const { chain, contractAddress, limit = defaultLimits.comments } = input;
  const place = [chain, storedToken(db, chain, contractAddress)];
  const rows = db.all<{ id: string; positionId: string }>(
    `SELECT c.id, t.position_id AS positionId FROM comment c JOIN trade t ON t.id = c.trade_id
     WHERE c.chain = ? AND c.token = ? ORDER BY c.at_ms DESC, c.id LIMIT ?`,
    [...place, limit],
  );
  const ids = [...new Set(rows.map((row) => row.positionId))];
  const options = { partner, nowMs, trades: 'commented', replies: false, transactionHash: false } as const;
  const cards = cardsOf(db, ids, options);
  const count = db.get<{ n: number }>('SELECT count(*) AS n FROM comment WHERE chain = ? AND token = ?', place)?.n ?? 0;
  const items = new Map(cards.flatMap((card) => itemsOf(card, count)));
  return rows.flatMap(({ id }) => items.get(id) ?? []);
};

function itemsOf({ itemId, actor, metadata }: Card, commentCount: number) {
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
        positionDetails: {
          perpPositionType,
          perpLeverage,
          positionAmount,
          positionStats,
          positionAmountWithLeverage,
        },
        token: { chain, symbol, name, address, commentCount },
      };
      return [comment.uid, item] as const;
    }),
  );
}
