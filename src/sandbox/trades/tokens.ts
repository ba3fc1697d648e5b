import { normalizeAddress } from '../../model/address.ts';
import type { Chain } from '../../model/chain.ts';
import type { Db } from '../db/store.ts';

/** Perps that the service's documentation addresses by a contract in place of the coin; wire-facts "Chains". */
const perpContracts: ReadonlyMap<string, string> = new Map([['0x0000000000000000000000000000000000000000', 'ETH']]);

/** The token as it is stored: addresses as the service writes them; on hyperliquid the coin, whatever its case, also by its contract. */
export function storedToken(db: Db, chain: Chain, text: string): string {
  const address = normalizeAddress(text);
  if (chain !== 'hyperliquid') return address;
  const coin = perpContracts.get(address) ?? text;
  const known = db.get<{ address: string }>(
    'SELECT address FROM token WHERE chain = ? AND address = ? COLLATE NOCASE ORDER BY address = ? DESC LIMIT 1',
    [chain, coin, coin],
  );
  return known?.address ?? coin;
}
