import { createStore } from 'mipd';
import { encodeHex } from '../../model/address.ts';
import type { PageWallet } from './page-wallet.ts';

/** Wallets that announce themselves by EIP-6963, as they come. They are asked for accounts and for `personal_sign`, and nothing else. */
export function watchEvmWallets(tell: (wallets: readonly PageWallet[]) => void): void {
  createStore().subscribe((found) => tell(found.map(({ info, provider }) => makeEvmWallet(info.name, provider))), {
    emitImmediately: true,
  });
}

/** Source: EIP-1193. */
interface Provider {
  request: (call: { method: 'eth_requestAccounts' | 'personal_sign'; params?: readonly string[] }) => Promise<unknown>;
}

function makeEvmWallet(name: unknown, announced: unknown): PageWallet {
  const provider = announced as Provider;
  return {
    name: String(name),
    connect: async () => ((await provider.request({ method: 'eth_requestAccounts' })) as unknown[]).map(String),
    sign: async (address, text) =>
      String(await provider.request({ method: 'personal_sign', params: [`0x${encodeHex(text)}`, address] })),
  };
}
