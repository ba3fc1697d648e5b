import * as endpoints from '../../api/leaderboard.ts';
import type { Command } from '../command.ts';
import { addEndpointCommand, chartParam } from '../endpoint-command.ts';
import { copytraded, list, makeList, makeRank, rank, sections, sections7d } from './view.ts';

export function addLeaderboard(leaderboard: Command): void {
  addEndpointCommand(leaderboard, 'list', endpoints.list, {
    view: list,
    params: { chart: chartParam },
    chooseView: makeList,
  }).shares('showNsfw');
  addEndpointCommand(leaderboard, 'rank', endpoints.rank, { view: rank, chooseView: makeRank });
  addEndpointCommand(leaderboard, 'copytraded', endpoints.copytraded, { view: copytraded }).shares('showNsfw');
  addEndpointCommand(leaderboard, 'sections', endpoints.sections, {
    view: sections,
    chooseView: ({ timeframe }) => (timeframe === '7d' ? sections7d : sections),
  }).shares('showNsfw');
}
