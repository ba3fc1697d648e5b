import { decodeBase58, isHashOrKey, isUuid, isWalletAddress } from '../../model/address.ts';

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

const isEvmHash = (text: string) => text.startsWith('0x') && isHashOrKey(text);
/** A signature, which is the id of a transaction of Solana. */
const isSolanaHash = (text: string) => /^.{64,90}$/.test(text) && decodeBase58(text)?.length === 64;

/** Whether a text is an address, a hash or a UUID. */
export function isId(text: string): boolean {
  return [isWalletAddress, isEvmHash, isSolanaHash, isUuid].some((is) => is(text));
}

/** The page of an address or a transaction; `undefined` of anything else. */
export function findExplorerPage(text: string, chain: string | undefined): string | undefined {
  const isHash = isEvmHash(text) || isSolanaHash(text);
  if (!isHash && !isWalletAddress(text)) return undefined;
  const isSolana = !text.startsWith('0x');
  const known = Object.hasOwn(explorers, chain ?? '') ? explorers[chain ?? ''] : undefined;
  const site = isSolana ? explorers['solana'] : (known ?? (isHash ? undefined : manyChains));
  if (site === undefined) return undefined;
  return `${site}/${isHash ? 'tx' : isSolana ? 'account' : 'address'}/${text}`;
}
