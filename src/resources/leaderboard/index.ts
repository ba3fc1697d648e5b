import { z } from 'zod';
import { defineCommand } from '../../cli/command.ts';
import { chartParam, deriveCommands, endpointCommand, serviceExitCodes } from '../../cli/endpoint-command.ts';
import { local } from '../../contract/endpoint.ts';
import * as endpoints from './endpoints.ts';

const loadBoardViews = () => import('./view.ts');

export const views = {
  list: async () => (await loadBoardViews()).list,
  rank: async () => (await loadBoardViews()).rank,
  copytraded: async () => (await loadBoardViews()).copytraded,
  sections: async () => (await loadBoardViews()).sections,
};

const list = endpointCommand(endpoints.list, views.list, {
  params: { chart: chartParam },
  chooseView: async (typed) => (await loadBoardViews()).makeList(typed),
});

const { chains, onlyWithComments, timeframe, limit } = endpoints.list.params;

const diff = defineCommand({
  words: ['leaderboard', 'diff'],
  summary: 'What changed on a leaderboard since it was last shown: who entered, left or moved, and PnL',
  description:
    'Compares the current board with one that the history holds of the same service and filters: the last one, or with --since an older\n' +
    'one. Each board that is shown is in the history; of a long one, of more than some 70 traders, the history has not the whole.',
  params: {
    since: local(z.string().optional(), 'compare with the board of that long ago (24h, 7d), or of an ISO time'),
    chains,
    onlyWithComments,
    timeframe,
    limit,
  },
  examples: [
    { argv: '--sandbox leaderboard diff', says: 'what changed since the board was last shown' },
    { argv: '--sandbox leaderboard diff --chains solana --since 24h', says: 'what changed on Solana in a day' },
  ],
  uses: ['requests'],
  exitCodes: [3, ...serviceExitCodes],
  view: async () => (await import('./diff.ts')).diff,
  run: async (input, context) => (await import('./diff.ts')).runDiff(input, context),
});

const sections = endpointCommand(endpoints.sections, views.sections, {
  chooseView: async (typed) => (await loadBoardViews())[typed.timeframe === '7d' ? 'sections7d' : 'sections'],
});

const rank = endpointCommand(endpoints.rank, views.rank, {
  chooseView: async (typed) => (await loadBoardViews()).makeRank(typed),
});

export const commands = deriveCommands(endpoints, views, [list, rank, sections, diff]);
