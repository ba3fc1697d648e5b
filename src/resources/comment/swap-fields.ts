import { decodeBase58, isEvmAddress, isSolanaAddress } from '../../model/address.ts';
import { unseenIn } from '../../output/unseen.ts';
import type { TextFields } from './signing.ts';

/** Which kind of key signs for a chain: Hyperliquid accounts are EVM addresses (wire-facts 1, row 23). */
export type Family = 'evm' | 'solana';

/** The family of a chain. */
export function familyOf(chain: string): Family {
  return chain === 'solana' ? 'solana' : 'evm';
}

export interface FieldProblem {
  field: 'transactionHash' | 'tokenAddress' | 'commentText';
  problem: string;
}

/**
 * What is wrong with the fields of a comment for their chain; `undefined` where nothing is. A transaction is 0x and 64 hex digits, on
 * solana 64 bytes in base58, on hyperliquid also an order id; a token is an address of the chain's form, on hyperliquid also a
 * coin.
 */
export function fieldProblem({
  chain,
  transactionHash,
  tokenAddress,
  commentText,
}: TextFields): FieldProblem | undefined {
  const transaction = transactionProblem(chain, transactionHash);
  if (transaction !== undefined) return { field: 'transactionHash', problem: transaction };
  const token = tokenProblem(chain, tokenAddress);
  if (token !== undefined) return { field: 'tokenAddress', problem: token };
  if (/\p{Surrogate}/u.test(commentText))
    return {
      field: 'commentText',
      problem: 'holds half of a character (a lone surrogate), which has no bytes to sign',
    };
  return undefined;
}

/** Whether a text can be the first words of a signed text: one line in which everything can be seen, without spaces around it. */
export function isServiceName(name: string): boolean {
  return name !== '' && name.trim() === name && unseenIn(name).length === 0;
}

const isEvmHash = (text: string) => /^0x[0-9a-fA-F]{64}$/.test(text);
const isOrderId = (text: string) => /^\d{1,20}$/.test(text);
const isSolanaHash = (text: string) => text.length <= 90 && decodeBase58(text)?.length === 64;

function transactionProblem(chain: string, text: string): string | undefined {
  if (chain === 'solana') {
    if (isSolanaHash(text)) return undefined;
    return `${whatItIs(text)}; a transaction on solana is 64 bytes in base58 (87 or 88 letters)`;
  }
  if (isEvmHash(text) || (chain === 'hyperliquid' && isOrderId(text))) return undefined;
  const wanted = chain === 'hyperliquid' ? '0x and 64 hex digits, or an order id' : '0x and 64 hex digits';
  return `${whatItIs(text)}; a transaction on ${chain} is ${wanted}`;
}

function whatItIs(text: string): string {
  if (isOrderId(text)) return 'that is an order id, which only hyperliquid has';
  if (isEvmHash(text)) return 'that is the hash of an EVM transaction';
  if (isSolanaHash(text)) return 'that is a transaction of solana';
  if (isEvmAddress(text) || isSolanaAddress(text)) return 'that is an address, not a transaction';
  if (/^\s|\s$/.test(text)) return 'it begins or ends with a space or line end';
  return /^0x[0-9a-fA-F]*$/.test(text) ? `it has ${text.length - 2} hex digits` : 'it is no transaction hash';
}

function tokenProblem(chain: string, text: string): string | undefined {
  if (chain === 'solana')
    return isSolanaAddress(text) ? undefined : 'a token on solana is a mint: 32 bytes in base58 (43 or 44 letters)';
  if (isEvmAddress(text)) return undefined;
  if (chain === 'hyperliquid')
    return /^[!-~]{1,64}$/.test(text) ? undefined : 'a token on hyperliquid is a coin such as ETH, or an address';
  const other = isSolanaAddress(text) ? 'that is a mint of solana; ' : '';
  return `${other}a token on ${chain} is 0x and 40 hex digits`;
}
