import { chartParam, deriveCommands, endpointCommand } from '../../cli/endpoint-command.ts';
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

const sections = endpointCommand(endpoints.sections, views.sections, {
  chooseView: async (typed) => (await loadBoardViews())[typed.timeframe === '7d' ? 'sections7d' : 'sections'],
});

const rank = endpointCommand(endpoints.rank, views.rank, {
  chooseView: async (typed) => (await loadBoardViews()).makeRank(typed),
});

export const commands = deriveCommands(endpoints, views, [list, rank, sections]);
