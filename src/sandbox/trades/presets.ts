import type { Chain } from '../../model/chain.ts';
import { duneReader } from './dune.ts';
import { hyperliquidFillsReader } from './hyperliquid-fills.ts';
import { pumpfunReader } from './pumpfun.ts';
import type { RowReader } from './read-trades.ts';

/** Files that import as they are, by what they hold. */
export const presets = {
  'hyperliquid-fills': {
    summary: 'Hyperliquid fills: a CSV export, or the recorded answers of userFills as JSON',
    chain: 'hyperliquid',
    reader: hyperliquidFillsReader,
  },
  pumpfun: {
    summary: 'pump.fun swaps on Solana: ts, trader, mint, side, token_amount, usd_value, signature',
    chain: 'solana',
    reader: pumpfunReader,
  },
  dune: {
    summary: "Dune's dex.trades: block_time, token_a and token_b with amounts, usd_amount, trader_a",
    chain: undefined,
    reader: duneReader,
  },
} as const satisfies Record<string, Preset>;

export type PresetName = keyof typeof presets;

interface Preset {
  summary: string;
  /** The chain of all its trades; absent where each row names its own. */
  chain: Chain | undefined;
  reader: (chain: Chain | undefined) => RowReader;
}
