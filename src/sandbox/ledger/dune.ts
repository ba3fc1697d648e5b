import { hash } from 'node:crypto';
import type { Chain } from '../../api/chain.ts';
import { type FileRow, missingColumns, type ReadEvent, type RowReader, rejected } from './read-rows.ts';
import { groupBy } from './trade.ts';
import { readTradeText, type TradeText } from './trade-text.ts';

const columns =
  'block_time chain project category token_a_symbol token_b_symbol token_a_amount token_b_amount usd_amount trader_a'.split(
    ' ',
  );

/** Money rather than tokens, the most money-like first: the side of a swap that is named here is what was paid with. */
const quotes = 'USDC USDT DAI BUSD TUSD GUSD LUSD FRAX UST sUSD OUSD USDN FEI WETH'.split(' ');

/**
 * Token a is what the trader got, but in rows of the 0x family what the trader gave: told by rows that describe one swap twice (against
 * Sushiswap, Curve and Balancer 1inch agrees in all, 0x API and Matcha in none).
 */
const projectsGivingTokenA = new Set(['0x API', '0x Native', 'Matcha', 'Tokenlon']);

interface Leg {
  symbol: string;
  amount: string;
}

interface Swap {
  row: FileRow;
  got: Leg;
  gave: Leg;
}

/**
 * Reads Dune's dex.trades, rows in order of time. A row is a buy or sell of the token against money; a swap of one token for another is
 * both. The table names no addresses, so a token's is made from its symbol; ETH is read as WETH. A swap that several layers report (same
 * second, trader and pair) counts once: as its DEX rows, or as those of the first project where there is no DEX.
 */
export function duneReader(chain: Chain | undefined): RowReader {
  let second = '';
  let waiting: Swap[] = [];
  function flush(): ReadEvent[] {
    const events = readSecond(waiting, chain);
    waiting = [];
    return events;
  }
  return {
    start: (found) => missingColumns('dune', columns, found),
    read(row) {
      const time = row.cells['block_time'] ?? '';
      const events = time === second ? [] : flush();
      second = time;
      waiting.push(makeSwap(row));
      return events;
    },
    finish: flush,
  };
}

function makeSwap(row: FileRow): Swap {
  const cell = (name: string) => row.cells[name]?.trim() ?? '';
  const leg = (letter: 'a' | 'b'): Leg => {
    const symbol = cell(`token_${letter}_symbol`);
    return { symbol: symbol === 'ETH' ? 'WETH' : symbol, amount: cell(`token_${letter}_amount`) };
  };
  const [a, b] = [leg('a'), leg('b')];
  return projectsGivingTokenA.has(cell('project')) ? { row, got: b, gave: a } : { row, got: a, gave: b };
}

function readSecond(swaps: Swap[], chain: Chain | undefined): ReadEvent[] {
  const groups = groupBy(swaps, sameSwapKey);
  return swaps.flatMap((swap): ReadEvent[] => {
    const layers = groups.get(sameSwapKey(swap)) ?? [];
    const first = layers.find(isDex) ?? layers[0] ?? swap;
    const isCounted = isDex(first) ? isDex(swap) : swap.row.cells['project'] === first.row.cells['project'];
    if (isCounted) return readSwap(swap, chain);
    const reason = `the same swap as in line ${first.row.line}, by another layer`;
    return [{ kind: 'skipped', line: swap.row.line, reason }];
  });
}

function sameSwapKey({ row, got, gave }: Swap): string {
  return [row.cells['trader_a']?.toLowerCase(), ...[got.symbol, gave.symbol].sort()].join('\n');
}

function isDex({ row }: Swap): boolean {
  return row.cells['category'] === 'DEX';
}

function readSwap({ row, got, gave }: Swap, chain: Chain | undefined): ReadEvent[] {
  const { line, cells } = row;
  const own = cells['chain']?.trim().toLowerCase() ?? '';
  if (chain !== undefined && own !== chain) return [rejected(row, `chain "${own}": must be ${chain}, as --chain says`)];
  if (got.symbol === gave.symbol)
    return [rejected(row, `token_b_symbol "${gave.symbol}": must differ from token_a_symbol`)];
  const shared: TradeText = { chain: own, time: cells['block_time'] ?? '', trader: cells['trader_a'] ?? '' };
  const keyParts = [cells['project'] ?? '', got.symbol, got.amount, gave.symbol, gave.amount];
  const events: ReadEvent[] = [];
  for (const { leg, side } of tradedLegs(got, gave)) {
    if (leg.symbol === '') return [rejected(row, 'token_a_symbol or token_b_symbol is empty: must name the token')];
    const token = standInAddress(leg.symbol);
    const text = { ...shared, ...leg, side, token, usd: cells['usd_amount'] ?? '' };
    const read = readTradeText(text, keyParts);
    if ('reason' in read) return [rejected(row, read.reason)];
    events.push({ kind: 'trade', line, trade: read.trade });
  }
  return events;
}

/** The address that stands for a symbol: 20 bytes of its SHA-256, so the same in every file. */
function standInAddress(symbol: string): string {
  return `0x${hash('sha256', symbol).slice(0, 40)}`;
}

function tradedLegs(got: Leg, gave: Leg): { leg: Leg; side: 'buy' | 'sell' }[] {
  const rank = ({ symbol }: Leg) => (quotes.includes(symbol) ? quotes.indexOf(symbol) : quotes.length);
  const sold = { leg: gave, side: 'sell' } as const;
  const bought = { leg: got, side: 'buy' } as const;
  if (rank(gave) === rank(got)) return [sold, bought];
  return rank(gave) < rank(got) ? [bought] : [sold];
}
