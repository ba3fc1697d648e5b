import { normalizeAddress } from '../../api/address.ts';
import type { WalletFacts, WalletTrouble } from '../wallet.ts';
import { describeTrouble, type PageWallet } from './page-wallet.ts';
import { useState } from './preact.ts';
import { Text } from './text.tsx';

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
