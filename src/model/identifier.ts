import { z } from 'zod';
import { isUuid, isWalletAddress } from './address.ts';

/** True for a profile UUID, a wallet address or `ext:` and a partner's own user id. Never throws. */
export function isIdentifier(text: string): boolean {
  return isUuid(text) || isWalletAddress(text) || /^ext:./su.test(text);
}

const identifierRule = 'must be a profile UUID, a wallet address (0x... or Solana base58) or ext:<your user id>';

/** A profile UUID, a wallet address or an external id; wire-facts "Identifiers". */
export const identifierSchema = z.string().refine(isIdentifier, identifierRule);

/** A wallet address of either family. */
export const walletSchema = z.string().refine(isWalletAddress, 'must be a wallet address (0x... or Solana base58)');

/** The viewer's linked wallets; section "Endpoints". */
export const viewerAddressesSchema = z.array(identifierSchema);

/** The service honours the first 10 viewer addresses only and passes over the others in silence. */
export const firstTenViewers = {
  allows: (value: unknown) => !Array.isArray(value) || value.length <= 10,
  why: 'more than 10 viewer addresses: the service honours only the first 10',
};
