import { chainTitles, type LeaderboardChain } from '../../model/chain.ts';
import { formatUsd } from '../../output/format.ts';
import type { RankAnswer } from './endpoints.ts';

/** What was asked of `leaderboard rank`. */
export interface RankAsked {
  address: string;
  chains?: readonly LeaderboardChain[];
  onlyWithComments?: boolean;
  timeframe?: '7d' | '30d';
}

/**
 * Why there is no rank, as far as answer and question tell, and what to type to see more; empty where there is one. Source: section
 * "GET /v2/leaderboard/ranking": null when not a trader or below the minimum threshold.
 */
export function explainNoRank({ ranking, pnl }: RankAnswer, asked: RankAsked): string[] {
  if (ranking !== null) return [];
  const { address, chains, onlyWithComments, timeframe } = asked;
  const where = chains === undefined ? 'all chains' : chains.map((chain) => chainTitles[chain]).join(', ');
  const board = `${where}, ${timeframe === '7d' ? '7 days' : '30 days'}${onlyWithComments ? ', traders with comments' : ''}`;
  const total = pnl?.total ?? 0;
  const why =
    total === 0
      ? 'no PnL was realized there: not a trader, nothing sold in that time, or not tracked'
      : `a PnL of ${formatUsd(total, { signed: true })} is counted, so it ${onlyWithComments ? 'has no swap comments or ' : ''}stays below the minimum threshold`;
  const wider = [
    chains === undefined ? '' : 'without --chains',
    onlyWithComments ? 'without --only-with-comments' : '',
    timeframe === '7d' ? 'with --timeframe 30d' : '',
  ].filter((part) => part !== '');
  return [
    `Not on this leaderboard (${board}): ${why}.`,
    ...(wider.length === 0 ? [] : [`A wider one: the same ${wider.join(', ')}.`]),
    `Its status and figures: sotra profile get ${address}`,
  ];
}
