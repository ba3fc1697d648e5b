/** Where the explorer of a chain shows an address, a token or a transaction. */
const explorers: Readonly<Record<string, string>> = {
  ethereum: 'https://etherscan.io',
  optimism: 'https://optimistic.etherscan.io',
  polygon: 'https://polygonscan.com',
  arbitrum: 'https://arbiscan.io',
  zora: 'https://explorer.zora.energy',
  base: 'https://basescan.org',
  zero: 'https://explorer.zero.network',
  solana: 'https://solscan.io',
  hyperliquid: 'https://app.hyperliquid.xyz/explorer',
};

/** Of a wallet whose chain is not known: it is the same on all chains of its kind. */
const manyChains = 'https://blockscan.com';

const [evmHash, evmAddress] = [/^0x[\da-f]{64}$/i, /^0x[\da-f]{40}$/i];
const [solanaHash, solanaAddress] = [/^[1-9A-HJ-NP-Za-km-z]{64,90}$/, /^[1-9A-HJ-NP-Za-km-z]{32,44}$/];
const uuid = /^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/i;

/** Whether a text is an address, a hash or a UUID. */
export function isId(text: string): boolean {
  return [evmHash, evmAddress, solanaHash, solanaAddress, uuid].some((form) => form.test(text));
}

/** The page of an address or a transaction; `undefined` of anything else. */
export function findExplorerPage(text: string, chain: string | undefined): string | undefined {
  const [isHash, isSolana] = [evmHash.test(text) || solanaHash.test(text), solanaAddress.test(text)];
  if (!isHash && !isSolana && !evmAddress.test(text)) return undefined;
  const known = Object.hasOwn(explorers, chain ?? '') ? explorers[chain ?? ''] : undefined;
  const site = solanaHash.test(text) || isSolana ? explorers['solana'] : (known ?? (isHash ? undefined : manyChains));
  if (site === undefined) return undefined;
  return `${site}/${isHash ? 'tx' : isSolana ? 'account' : 'address'}/${text}`;
}
