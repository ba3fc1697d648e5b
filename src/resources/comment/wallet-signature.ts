import { SotraError } from '../../errors.ts';
import type { Encoding } from '../../keys/signer.ts';
import { bytesOfHex, encodeBase58 } from '../../model/address.ts';
import { familyOf } from '../../model/chain.ts';
import { normalizeSignature } from './signing.ts';
import { verifySignature } from './verify.ts';

/** What a wallet was asked to sign, and gave. */
interface WalletClaim {
  chain: string;
  message: string;
  /** `0x` and hex digits. */
  signature: string;
  /** The account that was asked for. */
  address: string;
  /** All that the wallet offered. */
  accounts: readonly string[];
  encoding: Encoding;
}

/** How the signature of an account ends whose contract is not deployed yet. Source: ERC-6492. */
const wrapped = '6492'.repeat(16);
const notTaken = 'Only signatures of ordinary accounts are accepted: choose one in the wallet.';

/** A wallet's signature as the service takes it. Errors: `signing-key` saying why it is not the signature of an ordinary account. */
export function acceptSignature(claim: WalletClaim): string {
  const family = familyOf(claim.chain);
  if (!/^0x(?:[0-9a-f]{2})*$/i.test(claim.signature)) throw refused('the wallet gave no signature');
  return family === 'solana' ? acceptSolana(claim) : acceptEvm(claim);
}

function acceptEvm({ chain, message, signature: given, address, accounts }: WalletClaim): string {
  const contract = `account ${address} is a smart contract:`;
  if (given.toLowerCase().endsWith(wrapped))
    throw refused(`${contract} it is not deployed, so its signature is wrapped (ERC-6492)`, notTaken);
  const bytes = given.length / 2 - 1;
  if (bytes !== 65) throw refused(`${contract} its signature (EIP-1271) has ${bytes} bytes, not 65`, notTaken);
  const signature = normalizeSignature(chain, given);
  const { valid, recoveredAddress, reason } = verifySignature({ chain, message, signature, signerAddress: address });
  if (valid) return signature;
  if (recoveredAddress !== undefined && accounts.some((each) => each.toLowerCase() === recoveredAddress.toLowerCase()))
    throw refused(
      `the wallet signed with ${recoveredAddress}, not with ${address}`,
      'Choose that account on the page.',
    );
  const either = `${address} is a smart contract (EIP-1271), or the wallet signed another text`;
  throw refused(`the signature does not verify: ${reason}. Either ${either}`, notTaken);
}

function acceptSolana({ chain, message, signature: given, address, encoding }: WalletClaim): string {
  const bytes = bytesOfHex(given);
  const signature = encoding === 'base58' ? encodeBase58(bytes) : Buffer.from(bytes).toString(encoding);
  const { valid, reason } = verifySignature({ chain, message, signature, signerAddress: address, encoding });
  if (valid) return signature;
  throw refused(`the signature does not verify: ${reason}. The wallet signed another text, or with another account`);
}

function refused(message: string, hint?: string): SotraError {
  return new SotraError('signing-key', `${message}; it was not used`, { hint });
}
