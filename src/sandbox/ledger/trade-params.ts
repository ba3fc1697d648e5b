import { local } from '../../api/endpoint.ts';
import { chainKind, walletKind } from '../../api/formats.ts';
import { choice, number, optional, text } from '../../api/kind.ts';

/** The parameters of a trade that is made now. */
export const tradeParams = {
  chain: local(chainKind, 'chain'),
  trader: local(walletKind, 'wallet of the trader'),
  token: local(text(), 'contract address or mint; on hyperliquid the symbol', { takesAddress: 'token' }),
  side: local(choice(['buy', 'sell']), 'side'),
  amount: local(number(1e-60, 1e60), 'number of tokens; on hyperliquid with leverage'),
  usd: local(number(0, 1e60), 'value in US dollars'),
  direction: local(optional(choice(['long', 'short'])), 'hyperliquid: direction (default: long)'),
  leverage: local(optional(number(1)), 'hyperliquid: size divided by margin (default: 1)'),
  tx: local(optional(text()), 'transaction hash, or order id on hyperliquid (default: random)', {
    valueName: 'hash',
  }),
};
