import type { WalletTrouble } from '../wallet.ts';

export interface PageWallet {
  name: string;
  /** Its accounts, for which it may ask the user. */
  connect: () => Promise<readonly string[]>;
  /** A signature over these bytes, as `0x` and hex digits. */
  sign: (address: string, text: Uint8Array) => Promise<string>;
}

/** What a wallet says that is not as it should be. */
export class WalletError extends Error {}

/** By the codes of EIP-1193 and EIP-1474, which wallets of Solana give too; what the user can put right is a problem. */
export function describeTrouble(thrown: unknown): WalletTrouble {
  const { code, message } = (typeof thrown === 'object' && thrown !== null ? thrown : {}) as Partial<
    Record<'code' | 'message', unknown>
  >;
  const text = typeof message === 'string' && message !== '' ? message : String(thrown);
  if (code === 4001) return { kind: 'refused', text };
  if (code === 4100 || /\b(?:un)?lock(?:ed)?\b/i.test(text))
    return {
      kind: 'problem',
      text: `It is locked or does not allow this account. Unlock it, then try again (${text})`,
    };
  if (code === -32002) return { kind: 'problem', text: `It waits for you already: open it (${text})` };
  return { kind: /reject|den(?:y|ied)|cancel/i.test(text) ? 'refused' : 'failed', text };
}
