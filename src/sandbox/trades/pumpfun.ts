import { mappedReader } from './mapped.ts';
import type { RowReader } from './read-trades.ts';

/** Every pump.fun token is minted with a supply of one thousand million. */
const supply = '1000000000';

/** Reads swaps of pump.fun tokens: ts, trader, mint, side, token_amount, usd_value, signature. */
export function pumpfunReader(): RowReader {
  return mappedReader({
    chain: 'solana',
    map: {
      time: 'ts',
      trader: 'trader',
      token: 'mint',
      side: 'side',
      amount: 'token_amount',
      usd: 'usd_value',
      tx: 'signature',
    },
    constants: { supply },
    keyColumns: ['sol_amount', 'price_sol', 'source'],
  });
}
