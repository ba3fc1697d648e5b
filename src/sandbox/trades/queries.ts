import type { Chain } from '../../model/chain.ts';

/** SQL that holds where a value is in a list, which is given as `JSON.stringify(list)`. */
export const oneOf = 'IN (SELECT value FROM json_each(?))';

export interface StoredTrade {
  id: number;
  positionId: string;
  chain: Chain;
  wallet: string;
  token: string;
  side: 'buy' | 'sell';
  /** `''` on spot. */
  direction: '' | 'long' | 'short';
  leverage: number;
  amount: number;
  usd: number;
  startAmount: number | null;
  atMs: number;
  tx: string | null;
  orderId: string | null;
  intent: 'enter' | 'exit';
}

/** The columns of a StoredTrade, of the table `trade t`. */
export const tradeColumns = `t.id, t.position_id AS positionId, t.chain, t.wallet, t.token, t.side, t.direction, t.leverage,
  t.amount, t.usd, t.start_amount AS startAmount, t.at_ms AS atMs, t.tx, t.order_id AS orderId, t.intent`;

/** Items by what `keyOf` gives for them, in their order. */
export function groupBy<Item, Key>(items: Iterable<Item>, keyOf: (item: Item) => Key): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}
