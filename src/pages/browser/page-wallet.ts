import { getWallets } from '@wallet-standard/app';
import { createStore } from 'mipd';
import { encodeHex } from '../../api/address.ts';
import type { WalletTrouble } from '../wallet.ts';

export interface PageWallet {
  name: string;
  /** Its accounts, for which it may ask the user. */
  connect: () => Promise<readonly string[]>;
  /** A signature over these bytes, as `0x` and hex digits. */
  sign: (address: string, text: Uint8Array) => Promise<string>;
}

/** An invalid answer of a wallet. */
class WalletError extends Error {}

/** By the codes of EIP-1193 and EIP-1474, which wallets of Solana give too; what the user can fix is a problem. */
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
  if (code === -32002) return { kind: 'problem', text: `It is already waiting for you: open it (${text})` };
  return { kind: /reject|den(?:y|ied)|cancel/i.test(text) ? 'refused' : 'failed', text };
}

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

/** Wallets of the Wallet Standard that sign messages of Solana, as they come. They are asked to connect and to sign, and nothing else. */
export function watchSolanaWallets(tell: (wallets: readonly PageWallet[]) => void): void {
  const { get, on } = getWallets();
  const tellAll = () =>
    tell(get().flatMap((wallet) => makeSolanaWallets(wallet.name, wallet.features as Partial<Features>)));
  on('register', tellAll);
  on('unregister', tellAll);
  tellAll();
}

interface Account {
  address: string;
}

/** Source: the Wallet Standard, `standard:connect` and `solana:signMessage`. */
interface Features {
  'standard:connect': { connect: () => Promise<{ accounts: readonly Account[] }> };
  'solana:signMessage': {
    signMessage: (input: {
      account: Account;
      message: Uint8Array;
    }) => Promise<readonly { signedMessage?: Uint8Array; signature: Uint8Array }[]>;
  };
}

function makeSolanaWallets(name: string, features: Partial<Features>): PageWallet[] {
  const { 'standard:connect': connecting, 'solana:signMessage': signing } = features;
  if (connecting === undefined || signing === undefined) return [];
  let accounts: readonly Account[] = [];
  const connect = async () => {
    ({ accounts } = await connecting.connect());
    return accounts.map(({ address }) => address);
  };
  const sign = async (address: string, message: Uint8Array) => {
    const account = accounts.find((each) => each.address === address);
    if (account === undefined) throw new WalletError(`it has no account ${address}`);
    const [signed] = await signing.signMessage({ account, message });
    if (signed === undefined) throw new WalletError('it gave no signature');
    // sotra verifies the signature too, but knows less of why it is wrong.
    if (signed.signedMessage !== undefined && encodeHex(signed.signedMessage) !== encodeHex(message))
      throw new WalletError('it signed another text than it was given');
    return `0x${encodeHex(signed.signature)}`;
  };
  return [{ name, connect, sign }];
}
