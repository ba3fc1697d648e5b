import { z } from 'zod';
import { local } from '../../contract/endpoint.ts';
import { usageError } from '../../errors.ts';
import type { Db } from '../../files/database.ts';
import { chainSchema } from '../../model/chain.ts';
import { walletSchema } from '../../model/identifier.ts';
import { storedToken } from '../social/lookup.ts';
import { addLiveTrades, liveTrade } from './add-trades.ts';
import type { LiveTrade, MadeTrade } from './trade.ts';

/** What a trade that happens now says of itself. */
export const tradeParams = {
  chain: local(chainSchema, 'where'),
  trader: local(walletSchema, 'wallet that trades'),
  token: local(z.string().min(1), 'contract address or mint; on hyperliquid the symbol', { takesAddress: 'token' }),
  side: local(z.enum(['buy', 'sell']), 'buy or sell'),
  amount: local(z.number().min(1e-60).max(1e60), 'tokens; on hyperliquid the full size, with leverage'),
  usd: local(z.number().min(0).max(1e60), 'value in US dollars'),
  direction: local(z.enum(['long', 'short']).optional(), 'hyperliquid: which position (default: long)'),
  leverage: local(z.number().min(1).optional(), 'hyperliquid: size divided by margin (default: 1)'),
  tx: local(z.string().min(1).optional(), 'transaction hash, or order id on hyperliquid (default: a random one)'),
};

/** `flag` stands before the names of inputs. Errors: `usage` for what only perps have. */
export function checkLiveTrade({ chain, direction, leverage }: LiveTrade, flag = ''): void {
  if (chain !== 'hyperliquid' && (direction !== undefined || leverage !== undefined))
    throw usageError(`${flag}direction and ${flag}leverage are for hyperliquid, not for ${chain}`, 'Omit them.');
}

/** Makes a checked trade happen at a time of the sandbox, with everything that follows. */
export function addTradeNow(db: Db, input: LiveTrade, nowMs: number): MadeTrade {
  const trade = liveTrade({ ...input, token: storedToken(db, input.chain, input.token) }, nowMs);
  const { deliveries } = addLiveTrades(db, [trade], nowMs);
  const { chain, trader, token, side, amount, usd } = trade;
  return {
    chain,
    trader,
    token,
    side,
    amount,
    usd,
    timestamp: Math.floor(nowMs / 1000),
    transactionHash: trade.tx ?? trade.orderId ?? '',
    positionId: db.get<{ id: string }>('SELECT position_id AS id FROM trade ORDER BY trade.id DESC LIMIT 1')?.id ?? '',
    deliveries,
  };
}
