/** In the order of the interface document ("What the service does"). */
export const chains = [
  'ethereum',
  'optimism',
  'polygon',
  'arbitrum',
  'zora',
  'base',
  'zero',
  'solana',
  'hyperliquid',
] as const;

export type Chain = (typeof chains)[number];

/** Chains of leaderboards and per-chain PnL ("What the service does"). */
export const leaderboardChains = ['base', 'solana', 'ethereum', 'hyperliquid'] as const;

export type LeaderboardChain = (typeof leaderboardChains)[number];

export const chainTitles: Readonly<Record<LeaderboardChain, string>> = {
  base: 'Base',
  solana: 'Solana',
  ethereum: 'Ethereum',
  hyperliquid: 'Hyperliquid',
};

/** Which kind of key signs for a chain: Hyperliquid accounts are EVM addresses (wire-facts 1, row 23). */
export type ChainFamily = 'evm' | 'solana';

export function familyOf(chain: string): ChainFamily {
  return chain === 'solana' ? 'solana' : 'evm';
}

/** The default of a position or feed filter (sections "positions" and "feed/actor"). */
export const defaultFilterChains = ['base', 'ethereum', 'solana'] as const satisfies readonly Chain[];
