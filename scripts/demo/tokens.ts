import type { LeaderboardChain } from '../../src/api/chain.ts';

/** One token the people of the demo world trade; on hyperliquid a perp, whose address is its coin. */
export interface DemoToken {
  chain: LeaderboardChain;
  symbol: string;
  name: string;
  /** Contract address (EVM lowercase), mint, or coin. */
  address: string;
  /** Price in USD around which the generated walk is laid. */
  priceUsd: number;
  /** Share (0..1) by which the price usually moves in three hours. */
  stepMove: number;
  /** Tokens in existence, in round figures; `null` on perps. */
  supply: number | null;
}

const calm = 0.015;
const meme = 0.036;
const wild = 0.058;

/**
 * The tokens of the demo world, in a fixed order. Symbols, names and addresses are real; prices and supplies are round
 * made-up figures of the right size. EVM addresses: public contract addresses. Solana mints: spl-token-registry 0.2.4574
 * (Apache-2.0), copied by hand. Two chains hold a UNI, two a VIRTUAL: a symbol alone does not name a token. Perp prices
 * are those of the recorded fills of May 2023, so that both make one market.
 */
export const demoTokens: readonly DemoToken[] = [
  spot('base', 'DEGEN', 'Degen', '0x4ed4e862860bed51a9570b96d89af5e1b0efefed', 0.0041, wild, 36.9e9),
  spot('base', 'BRETT', 'Brett', '0x532f27101965dd16442e59d40670faf5ebb142e4', 0.052, meme, 9.91e9),
  spot('base', 'TOSHI', 'Toshi', '0xac1bd2486aaf3b5c0fc3fd868558b082a531b2b4', 0.00062, wild, 420.69e9),
  spot('base', 'AERO', 'Aerodrome Finance', '0x940181a94a35a4569e4529a3cdfb74e38fd98631', 0.94, calm, 1.6e9),
  spot('base', 'VIRTUAL', 'Virtuals Protocol', '0x0b3e328455c4059eeb9e3f84b5543f74e24e7e1b', 1.27, meme, 1e9),
  spot('base', 'KEYCAT', 'Keyboard Cat', '0x9a26f5433671751c3276a065f57e5a02d2817973', 0.0031, wild, 10e9),
  spot('base', 'ZORA', 'Zora', '0x1111111111166b7fe7bd91427724b487980afc69', 0.074, meme, 10e9),
  spot('base', 'CLANKER', 'tokenbot', '0x1bc0c42215582d5a085795f4badbac3ff36d1bcb', 31.5, meme, 1e6),
  spot('base', 'UNI', 'Uniswap', '0xc3de830ea07524a0761646a6a4e4be0e114a3c83', 6.9, calm, 1e9),
  spot('solana', 'RAY', 'Raydium', '4k3Dyjzvzp8eMZWUXbBCjEvwSkkk59S5iCNLY3QrkX6R', 1.83, calm, 555e6),
  spot('solana', 'ORCA', 'Orca', 'orcaEKTdK7LKz57vaAYr9QeNsVEPfiu6QeMU1kektZE', 1.62, calm, 75e6),
  spot('solana', 'SAMO', 'Samoyed Coin', '7xKXtg2CW87d97TXJSDpbD5jBkheTqA83TZRuJosgAsU', 0.0028, wild, 12.8e9),
  spot('solana', 'ATLAS', 'Star Atlas', 'ATLASXmbPQxBUYbxPsV97usA3fPQYEqzQBUHgiFCUsXx', 0.00071, meme, 36e9),
  spot('solana', 'SHDW', 'Shadow Token', 'SHDWyBxihqiCj6YekG2GUr7wqKLeLAMK1gHZck9pL6y', 0.047, meme, 169e6),
  spot('solana', 'FOXY', 'Famous Fox Federation', 'FoXyMu5xwXre7zEoSvzViRk3nGawHUp9kUh97y2NDhcq', 0.0019, wild, 2.4e9),
  spot('solana', 'DUST', 'DUST Protocol', 'DUSTawucrTsGU8hcqRdHDCbuYhCPADMLM2VcCb8VnFnQ', 0.018, wild, 33.3e6),
  spot('solana', 'FORGE', 'FORGE', 'FoRGERiW7odcCBGU1bztZi16osPBHjxharvDathL5eds', 0.00029, wild, 250e6),
  spot('solana', 'LOVE', 'B ❤ P', '4G85c5aUsRTrRPqE5VjY7ebD9b2ktTF6NEVGiCddRBDX', 0.0064, wild, 88e6),
  spot('ethereum', 'PEPE', 'Pepe', '0x6982508145454ce325ddbe47a25d4ec3d2311933', 0.0000071, meme, 420.69e12),
  spot('ethereum', 'SHIB', 'Shiba Inu', '0x95ad61b0a150d79219dcf64e1e6cc01f0b64c4ce', 0.0000103, calm, 589.2e12),
  spot('ethereum', 'MOG', 'Mog Coin', '0xaaee1a9723aadb7afa2810263653a34ba2c21c7a', 0.00000046, wild, 390.5e12),
  spot('ethereum', 'LINK', 'ChainLink Token', '0x514910771af9ca656af840dff83e8264ecf986ca', 15.7, calm, 1e9),
  spot('ethereum', 'UNI', 'Uniswap', '0x1f9840a85d5af5bf1d1762f925bdaddc4201f984', 6.9, calm, 1e9),
  spot('ethereum', 'VIRTUAL', 'Virtuals Protocol', '0x44ff8620b8ca30902395a7bd3f2407e1a091bf73', 1.27, meme, 1e9),
  perp('BTC', 'Bitcoin', 28815, 0.007),
  perp('ETH', 'Ether', 1875.3, 0.009),
  perp('SOL', 'Solana', 21.66, 0.014),
  perp('SUI', 'Sui', 1.3189, 0.021),
  perp('ARB', 'Arbitrum', 1.3154, 0.016),
  perp('DOGE', 'Dogecoin', 0.07825, 0.014),
  perp('AVAX', 'Avalanche', 16.94, 0.012),
  perp('INJ', 'Injective', 7.3505, 0.019),
];

function spot(
  chain: LeaderboardChain,
  symbol: string,
  name: string,
  address: string,
  priceUsd: number,
  stepMove: number,
  supply: number,
): DemoToken {
  return { chain, symbol, name, address, priceUsd, stepMove, supply };
}

function perp(coin: string, name: string, priceUsd: number, stepMove: number): DemoToken {
  return { chain: 'hyperliquid', symbol: coin, name, address: coin, priceUsd, stepMove, supply: null };
}
