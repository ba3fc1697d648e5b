import { getWallets } from '@wallet-standard/app';
import { createStore } from 'mipd';
import { useState } from 'preact/hooks';
import { encodeHex, normalizeAddress } from '../../api/address.ts';
import type { WalletFacts, WalletTrouble } from '../wallet.ts';
import { Text } from './text.tsx';

export interface PageWallet {
  name: string;
  /** Its accounts, for which it may ask the user. */
  connect: () => Promise<readonly string[]>;
  /** A signature over these bytes, as `0x` and hex digits. */
  sign: (address: string, text: Uint8Array) => Promise<string>;
}

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
    connect: async () => toArray(await provider.request({ method: 'eth_requestAccounts' })).map(String),
    sign: async (address, text) =>
      String(await provider.request({ method: 'personal_sign', params: [`0x${encodeHex(text)}`, address] })),
  };
}

/** A locked wallet may give nothing instead of an empty list. */
function toArray<T>(given: unknown): readonly T[] {
  return Array.isArray(given) ? given : [];
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
    accounts = toArray<Account>((await connecting.connect()).accounts);
    return accounts.map(({ address }) => address);
  };
  const sign = async (address: string, message: Uint8Array) => {
    const account = accounts.find((each) => each.address === address);
    if (account === undefined) throw new Error(`it has no account ${address}`);
    const [signed] = await signing.signMessage({ account, message });
    if (signed === undefined) throw new Error('it gave no signature');
    // sotra verifies the signature too, but knows less of why it is wrong.
    if (signed.signedMessage !== undefined && encodeHex(signed.signedMessage) !== encodeHex(message))
      throw new Error('it signed another text than it was given');
    return `0x${encodeHex(signed.signature)}`;
  };
  return [{ name, connect, sign }];
}

export interface ConnectedWallet {
  wallet: PageWallet;
  accounts: readonly string[];
}

interface WalletChoiceProps {
  family: WalletFacts['family'];
  wallets: readonly PageWallet[];
  /** The one account that may sign; `null`: any. */
  wanted: string | null;
  isDisabled: boolean;
  connected: ConnectedWallet | undefined;
  account: string;
  onConnected: (connected: ConnectedWallet) => void;
  onAccount: (address: string) => void;
  onTrouble: (trouble: WalletTrouble) => void;
}

/** A button for each wallet, then its accounts. */
export function WalletChoice(props: WalletChoiceProps) {
  const { family, wallets, wanted, isDisabled, connected, account } = props;
  const [waiting, wait] = useState<string>();
  const connect = async (wallet: PageWallet) => {
    wait(wallet.name);
    try {
      const accounts = await wallet.connect();
      if (accounts.length > 0) props.onConnected({ wallet, accounts });
      else props.onTrouble({ kind: 'problem', text: `${wallet.name} gave no account: unlock it and allow one` });
    } catch (thrown) {
      const { kind, text } = describeTrouble(thrown);
      const said = kind === 'refused' ? `you refused to connect ${wallet.name}; choose again` : text;
      props.onTrouble({ kind: 'problem', text: said });
    } finally {
      wait(undefined);
    }
  };
  const isWanted = (address: string) => wanted === null || normalizeAddress(address) === normalizeAddress(wanted);
  const hasWanted = connected === undefined || connected.accounts.some(isWanted);
  return (
    <>
      <fieldset class="wallets" disabled={isDisabled}>
        <legend>Wallet</legend>
        {wallets.map((wallet, index) => (
          <button
            key={index}
            type="button"
            aria-pressed={connected?.wallet.name === wallet.name}
            onClick={() => connect(wallet)}
          >
            <Text text={wallet.name} />
          </button>
        ))}
        {wallets.length === 0 && (
          <p class="muted">
            No {family === 'evm' ? 'EVM' : 'Solana'} wallet was found in this browser. Install or enable one (not in a
            private window), then load this page again.
          </p>
        )}
        <p role="status">{waiting !== undefined && <Text text={`Waiting for ${waiting}: confirm there.`} />}</p>
      </fieldset>
      {wanted !== null && (
        <p>
          Must be signed by <code>{wanted}</code>
        </p>
      )}
      {connected !== undefined && (
        <fieldset class="accounts" disabled={isDisabled}>
          <legend>Account</legend>
          {connected.accounts.map((address) => (
            <label key={address}>
              <input
                type="radio"
                name="account"
                checked={address === account}
                disabled={!isWanted(address)}
                onChange={() => props.onAccount(address)}
              />
              <Text as="code" text={address} />
            </label>
          ))}
        </fieldset>
      )}
      {!hasWanted && (
        <p class="error" role="alert">
          This wallet offers other accounts. Allow the one above in the wallet, then press the wallet's button again.
        </p>
      )}
    </>
  );
}
