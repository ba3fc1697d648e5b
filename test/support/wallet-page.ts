import type { BrowserContext, Page } from 'playwright-core';
import nacl from 'tweetnacl';
import { privateKeyToAccount } from 'viem/accounts';
import { complaintsOf, openBrowser } from './browser.ts';
import { type RunOptions, serve } from './harness.ts';
import { evmTrader, solanaTrader } from './traders.ts';

/** A command that signs in the browser, in this process: the address of its page, what it said so far, and its end. */
export async function startSigning(argv: readonly string[], options: RunOptions = {}) {
  const { ready, file, ended, shown, stop } = await serve(argv, options);
  return { ui: String(ready?.ui ?? ''), ended, shown, ready: file, stop };
}

/** A wallet of a test: what it offers, and what it does when it is asked to connect or to sign. */
export interface TestWallet {
  kind: 'evm' | 'solana';
  name: string;
  accounts: readonly string[];
  /** An error as EIP-1193 has it, at so many calls of this kind after the first so many. */
  fails?: { at: 'connect' | 'sign'; code: number; message: string; times: number; after?: number };
  /** Instead of a signature by the key of the test's trader; `bare`: one that ends with 0 or 1, `changed`: one over another text. */
  gives?: string;
  /** Never answers a request to sign. */
  hangs?: boolean;
}

export const evmWallet: TestWallet = { kind: 'evm', name: 'Test Wallet', accounts: [evmTrader.address.toLowerCase()] };
export const solanaWallet: TestWallet = { kind: 'solana', name: 'Test Phantom', accounts: [solanaTrader.address] };

/** Signs with the public keys of the test's traders: viem on EVM, tweetnacl on solana; the last byte of EVM is 0 or 1 if asked for. */
async function signHex(kind: TestWallet['kind'], hex: `0x${string}`, isBare: boolean): Promise<string> {
  if (kind === 'solana') {
    const message = Uint8Array.from(Buffer.from(hex.slice(2), 'hex'));
    const signature = nacl.sign.detached(message, Uint8Array.from(solanaTrader.keypair));
    return `0x${Buffer.from(signature).toString('hex')}`;
  }
  const signature = await privateKeyToAccount(evmTrader.key as `0x${string}`).signMessage({ message: { raw: hex } });
  return isBare ? signature.replace(/1b$/, '00').replace(/1c$/, '01') : signature;
}

/** Runs in the page before anything else: real providers of EIP-6963 and the Wallet Standard that note each call. */
function install(wallets: readonly TestWallet[]): void {
  const scope = globalThis as unknown as EventTarget & {
    calls: unknown[];
    signHex: (kind: string, hex: string, isBare: boolean) => Promise<string>;
  };
  scope.calls = [];
  const hexOf = (bytes: Uint8Array) => `0x${[...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`;
  const signBy = async (wallet: TestWallet, hex: string): Promise<string> => {
    if (wallet.hangs) return new Promise(() => undefined);
    if (wallet.gives?.startsWith('0x')) return wallet.gives;
    return scope.signHex(wallet.kind, hex, wallet.gives === 'bare');
  };
  for (const wallet of wallets) {
    let asked = 0;
    const failAt = (at: string) => {
      if (wallet.fails?.at !== at) return;
      const { after = 0, times } = wallet.fails;
      asked += 1;
      if (asked <= after || asked > after + times) return;
      throw Object.assign(new Error(wallet.fails.message), { code: wallet.fails.code });
    };
    if (wallet.kind === 'evm') {
      const provider = {
        request: async (call: { method: string; params?: string[] }) => {
          scope.calls.push(call);
          failAt(call.method === 'personal_sign' ? 'sign' : 'connect');
          if (call.method === 'eth_requestAccounts') return wallet.accounts;
          return signBy(wallet, call.params?.[0] ?? '');
        },
      };
      const info = { uuid: crypto.randomUUID(), name: wallet.name, icon: 'data:image/svg+xml,<svg/>', rdns: 'test' };
      const announce = () =>
        scope.dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail: { info, provider } }));
      scope.addEventListener('eip6963:requestProvider', announce);
      announce();
      continue;
    }
    const accounts = wallet.accounts.map((address) => ({
      address,
      publicKey: new Uint8Array(32),
      chains: [],
      features: [],
    }));
    const standard = {
      version: '1.0.0',
      name: wallet.name,
      icon: 'data:image/svg+xml;base64,',
      chains: ['solana:mainnet'],
      accounts: [],
      features: {
        'standard:connect': {
          connect: async () => {
            scope.calls.push({ method: 'connect' });
            failAt('connect');
            return { accounts };
          },
        },
        'solana:signMessage': {
          signMessage: async ({ account, message }: { account: { address: string }; message: Uint8Array }) => {
            scope.calls.push({ method: 'signMessage', params: [hexOf(message), account.address] });
            failAt('sign');
            const hex = await signBy(wallet, hexOf(message));
            const signature = Uint8Array.from(hex.slice(2).match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
            return [
              { signedMessage: wallet.gives === 'changed' ? Uint8Array.of(255, ...message) : message, signature },
            ];
          },
        },
      },
    };
    const register = (api: { register: (wallet: unknown) => void }) => api.register(standard);
    scope.addEventListener('wallet-standard:app-ready', (event) => register((event as CustomEvent).detail));
    scope.dispatchEvent(new CustomEvent('wallet-standard:register-wallet', { detail: register }));
  }
}

/** A browser whose tabs share what one keeps; of several, in one process, only the first would keep anything. */
export const openTabs = async (): Promise<BrowserContext> => (await openBrowser()).newContext();

/** A tab on the page with these wallets; `calls` are those that the wallets got. */
export async function openWallets(browser: BrowserContext, ui: string, wallets: readonly TestWallet[]) {
  const tab = await browser.newPage();
  await tab.exposeFunction('signHex', signHex);
  await tab.addInitScript(install, wallets);
  const complaints = complaintsOf(tab);
  await tab.goto(ui);
  await tab.getByRole('heading', { level: 2 }).waitFor();
  const calls = () => tab.evaluate<{ method: string; params?: string[] }[]>('window.calls');
  return { tab, complaints, calls };
}

/** Chooses a wallet and presses Sign. */
export async function signOn(tab: Page, name: string): Promise<void> {
  await tab.getByRole('button', { name, exact: true }).click();
  await tab.getByRole('radio').first().waitFor();
  await tab.getByRole('button', { name: 'Sign', exact: true }).click();
}
