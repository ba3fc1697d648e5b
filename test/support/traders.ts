import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { decodeBase58 } from '../../src/api/address.ts';
import { run, temporaryFolder } from './harness.ts';

/** Public test keys: anyone may know them. */
export const evmTrader = {
  key: '0x0000000000000000000000000000000000000000000000000000000000000001',
  address: '0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf',
};

/** RFC 8032, section 7.1, test 1. */
export const solanaTrader = {
  keypair: [
    157, 97, 177, 157, 239, 253, 90, 96, 186, 132, 74, 244, 146, 236, 44, 196, 68, 73, 197, 105, 123, 50, 105, 25, 112,
    59, 172, 3, 28, 174, 127, 96, 215, 90, 152, 1, 130, 177, 10, 183, 213, 75, 254, 211, 201, 100, 7, 58, 14, 225, 114,
    243, 218, 166, 35, 37, 175, 2, 26, 104, 247, 7, 81, 26,
  ],
  address: 'FVen3X669xLzsi6N2V91DoiyzHzg1uAgqiT8jZ9nS96Z',
};

/** A sealed key of that address, as other wallets write one; no password opens it. */
export const keystore = {
  version: 3,
  address: evmTrader.address.slice(2).toLowerCase(),
  crypto: {
    cipher: 'aes-128-ctr',
    cipherparams: { iv: '00'.repeat(16) },
    ciphertext: '00'.repeat(32),
    kdf: 'pbkdf2',
    kdfparams: { dklen: 32, salt: '00'.repeat(32), c: 1000, prf: 'hmac-sha256' },
    mac: '00'.repeat(32),
  },
};

/** A signature in base58, in another encoding. */
export function recode(signature: string, encoding: 'base64' | 'hex'): string {
  return Buffer.from(decodeBase58(signature, 64) ?? []).toString(encoding);
}

export const degen = '0x4ed4e862860bed51a9570b96d89af5e1b0efefed';
export const bonk = 'DezXAZ8z7PnrnRJjz3wXBoRgixCa6xjnB7YaB1pPB263';
const stranger = '0x66dd444dfadf038af0cfc24d958a7585c00307f5';

/** The trades of the test world, by what they are good for. */
export const swaps = {
  good: `0x${'11'.repeat(32)}`,
  small: `0x${'22'.repeat(32)}`,
  foreign: `0x${'33'.repeat(32)}`,
  second: `0x${'44'.repeat(32)}`,
  third: `0x${'55'.repeat(32)}`,
  solana: '5awYiUvGiDFA33EJjj4TXJG44a5afJc8QjWRpGgQiu6b23jCr7yndW2fmp9ujwqJVe32J456wV3VF78Asb1obnTc',
  order: '52012345678',
};

const rows = [
  ['10:00', 'base', evmTrader.address, degen, 'DEGEN', '1000', '50', swaps.good, '', ''],
  ['10:01', 'base', evmTrader.address, degen, 'DEGEN', '1000', '9.99', swaps.small, '', ''],
  ['10:02', 'base', stranger, degen, 'DEGEN', '1000', '50', swaps.foreign, '', ''],
  ['10:03', 'base', evmTrader.address, degen, 'DEGEN', '1000', '60', swaps.second, '', ''],
  ['10:04', 'base', evmTrader.address, degen, 'DEGEN', '1000', '70', swaps.third, '', ''],
  ['10:05', 'solana', solanaTrader.address, bonk, 'BONK', '1000', '80', swaps.solana, '', ''],
  ['10:06', 'hyperliquid', evmTrader.address, 'ETH', 'ETH', '1', '3000', '', swaps.order, 'long'],
];

/** A sandbox with trades of the two test traders, and a folder with their key files (0600). */
export async function tradersWorld(): Promise<{ env: Record<string, string>; folder: string; keys: Keys }> {
  const folder = temporaryFolder();
  const env = { SOTRA_DATA_DIR: join(folder, 'data'), SOTRA_CONFIG_DIR: join(folder, 'config') };
  const lines = rows.map(([time, ...rest]) => [`2026-11-20T${time}:00Z`, 'buy', ...rest].join(','));
  const file = join(folder, 'trades.csv');
  writeFileSync(file, ['time,side,chain,trader,token,symbol,amount,usd,tx,orderId,direction', ...lines, ''].join('\n'));
  const { code, err } = await run(['sandbox', 'import', file], { env });
  if (code !== 0) throw new Error(`the test world did not import: ${err}`);
  return { env, folder, keys: writeKeys(folder) };
}

interface Keys {
  evm: string;
  solana: string;
  password: string;
}

/** The key files of the test traders and a password file, readable by their owner alone. */
export function writeKeys(folder: string): Keys {
  const write = (name: string, text: string) => {
    const file = join(folder, name);
    writeFileSync(file, text);
    chmodSync(file, 0o600);
    return file;
  };
  return {
    evm: write('evm.hex', `${evmTrader.key}\n`),
    solana: write('id.json', JSON.stringify(solanaTrader.keypair)),
    password: write('password', 'correct horse\n'),
  };
}

/** The flags of a comment on the swap on Solana. */
export const solanaComment: readonly string[] = [
  ...['--chain', 'solana', '--tx', swaps.solana, '--token', bonk],
  ...['--text', 'gm', '--service-name', 'Example'],
];
