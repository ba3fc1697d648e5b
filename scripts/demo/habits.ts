import type { LeaderboardChain } from '../../src/api/chain.ts';

/** How one person trades. */
export interface Habit {
  /** Key of the person in the cast. */
  key: string;
  /** `swing`: hours to days, in a few clips; `flip`: minutes; `hold`: buys for weeks, never sells. */
  style: 'swing' | 'flip' | 'hold';
  chains: readonly LeaderboardChain[];
  /** Usual USD value of one buy; on hyperliquid the notional. */
  sizeUsd: number;
  /** Round trips (or, for `hold`, series of buys) over the whole time. */
  rounds: number;
  /** How well they choose, before the last eight days and in them: 0 is luck, 3 the best of four tries, -2 the worst of three. */
  skill: readonly [earlier: number, lately: number];
}

type Row = readonly [key: string, style: Habit['style'], chains: string, sizeUsd: number, rounds: number, string];

const chainLetters: Readonly<Record<string, LeaderboardChain>> = {
  b: 'base',
  s: 'solana',
  e: 'ethereum',
  h: 'hyperliquid',
};

const rows: readonly Row[] = [
  ['mossyledger', 'swing', 'bse', 110_000, 34, '6 6'],
  ['saltmarsh', 'swing', 'b', 6_500, 18, '3 -5'],
  ['ines', 'swing', 'bs', 11_000, 20, '3 2'],
  ['quietbid', 'hold', 'be', 2_500, 5, '0 0'],
  ['wickhunter', 'flip', 's', 1_800, 34, '1 1'],
  ['jun', 'swing', 'es', 32_000, 16, '3 1'],
  ['ondine', 'swing', 'b', 3_000, 14, '0 0'],
  ['larry', 'flip', 'bs', 45, 36, '0 0'],
  ['petrichor', 'swing', 's', 4_000, 22, '-2 7'],
  ['bagel', 'swing', 'bes', 30_000, 23, '-4 -2'],
  ['tilde', 'hold', 'e', 5_000, 4, '0 0'],
  ['ninelives', 'swing', 's', 900, 18, '1 0'],
  ['dunebuggy', 'swing', 'bs', 2_200, 22, '-1 5'],
  ['grandma', 'hold', 'b', 60, 4, '0 0'],
  ['mikan', 'swing', 'bs', 1_200, 16, '1 1'],
  ['kestrel', 'flip', 's', 5_500, 28, '2 2'],
  ['rui', 'swing', 'sb', 650, 18, '0 -1'],
  ['priya', 'swing', 'e', 12_000, 14, '2 -3'],
  ['oats', 'swing', 'bs', 3_200, 24, '-3 7'],
  ['lukasz', 'swing', 'be', 4_800, 15, '0 0'],
  ['tamarind', 'swing', 's', 2_600, 16, '1 3'],
  ['cobalt', 'swing', 'he', 80_000, 20, '2 2'],
  ['sundial', 'hold', 'bs', 400, 7, '0 0'],
  ['fennel', 'swing', 'be', 7_000, 13, '1 0'],
  ['northbound', 'swing', 'h', 35_000, 20, '2 1'],
  ['twice', 'swing', 'h', 130_000, 18, '-3 -1'],
  ['nan', 'swing', 'hs', 22_000, 18, '1 0'],
  ['marginalia', 'swing', 'hb', 8_000, 20, '0 1'],
  ['candlewax', 'swing', 'bs', 500, 18, '0 0'],
  ['hodge', 'swing', 's', 700, 9, '0 0'],
  ['plain1', 'flip', 'b', 2_400, 26, '1 0'],
  ['plain2', 'swing', 's', 5_200, 14, '1 1'],
  ['plain3', 'swing', 'bs', 1_500, 13, '0 0'],
  ['plain4', 'swing', 'e', 3_400, 9, '-1 -1'],
  ['plain5', 'flip', 's', 700, 24, '-1 0'],
  ['plain6', 'swing', 'h', 15_000, 14, '-1 1'],
  ['plain7', 'hold', 's', 250, 4, '0 0'],
  ['plain8', 'swing', 'b', 850, 11, '0 -1'],
  ['plain9', 'swing', 'be', 2_000, 12, '1 1'],
];

/** How the traders of the cast trade, in the order of the table; the cast's two who only copy are not in it. */
export const habits: readonly Habit[] = rows.map(([key, style, letters, sizeUsd, rounds, skill]) => {
  const [earlier = 0, lately = 0] = skill.split(' ').map(Number);
  const chains = [...letters].flatMap((letter) => chainLetters[letter] ?? []);
  return { key, style, chains, sizeUsd, rounds, skill: [earlier, lately] };
});
