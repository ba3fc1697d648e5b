import { getWallets } from '@wallet-standard/app';
import { encodeHex } from '../../model/address.ts';
import { type PageWallet, WalletError } from './page-wallet.ts';

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
