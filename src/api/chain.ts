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

type KnownChain = (typeof chains)[number];

export function isKnownChain(chain: string): chain is KnownChain {
  return chains.some((known) => known === chain);
}

/** A chain of the document, or another that a deployment knows (wire-facts N1). */
export type Chain = KnownChain | (string & {});

export function isChainName(text: string): boolean {
  return /^[a-z][a-z0-9-]{0,31}$/.test(text);
}

/** Chains of leaderboards and per-chain PnL ("What the service does"). */
export const leaderboardChains = ['base', 'solana', 'ethereum', 'hyperliquid'] as const;

export type LeaderboardChain = (typeof leaderboardChains)[number] | (string & {});

export const chainTitles: Readonly<Record<(typeof leaderboardChains)[number], string>> = {
  base: 'Base',
  solana: 'Solana',
  ethereum: 'Ethereum',
  hyperliquid: 'Hyperliquid',
};

/** A chain for readers: `Base`; of one that the document does not name as it is. */
export function formatChain(chain: string): string {
  return (chainTitles as Readonly<Record<string, string>>)[chain] ?? chain;
}

/** Which kind of key signs for a chain: Hyperliquid accounts are EVM addresses (wire-facts 1, row 23). */
export type ChainFamily = 'evm' | 'solana';

export function findFamily(chain: string): ChainFamily {
  return chain === 'solana' ? 'solana' : 'evm';
}

/** The default of a position or feed filter (sections "positions" and "feed/actor"). */
export const defaultFilterChains = ['base', 'ethereum', 'solana'] as const satisfies readonly Chain[];
