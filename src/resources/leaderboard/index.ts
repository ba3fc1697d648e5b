import { z } from 'zod';
import { type Command, defineCommand } from '../../cli/command.ts';
import { chartParam, commandsOf, endpointCommand, serviceExitCodes } from '../../cli/endpoint-command.ts';
import type { Context } from '../../context.ts';
import { type InputOf, local } from '../../contract/endpoint.ts';
import { SotraError, usageError } from '../../errors.ts';
import { leaderboardChains } from '../../model/chain.ts';
import { parseMoment } from '../../model/duration.ts';
import type { BoardDiff } from './diff.ts';
import * as endpoints from './endpoints.ts';
import type { Board } from './saved-boards.ts';

const view = () => import('./view.ts');

/** How the answer of each endpoint is shown, in the order of help. */
export const views = {
  list: async () => (await view()).list,
  rank: async () => (await view()).rank,
  copytraded: async () => (await view()).copytraded,
  sections: async () => (await view()).sections,
};

const savedBoards = () => import('./saved-boards.ts');

/** The service's default (wire-facts 3.2). */
const defaultLimit = 50;

type Filters = Omit<InputOf<typeof endpoints.list.params>, 'viewerAddresses'>;

const plainList = endpointCommand(endpoints.list, views.list, {
  params: { chart: chartParam, save: local(z.boolean().optional(), 'save this board, for leaderboard diff') },
});

const list: Command = {
  ...plainList,
  exitCodes: [3, ...plainList.exitCodes],
  run: async (typed: Filters & { save?: boolean }, context: Context) => {
    const result = await plainList.run(typed as never, context);
    if (typed.save !== true || result.kind !== 'answer') return result;
    const board = await boardOf(result.answer as endpoints.LeaderboardAnswer, typed, context);
    await saveFor(board, context);
    context.note(
      `Saved the board of ${board.traders.length} traders. Compare with it: ${commandLine('diff', typed, context)}`,
    );
    return result;
  },
};

const { chains, onlyWithComments, timeframe, limit } = endpoints.list.params;

const diff = defineCommand({
  words: ['leaderboard', 'diff'],
  summary: 'What changed on a leaderboard since it was saved: who entered, left or moved, and PnL',
  description:
    'Compares the current board with one saved by leaderboard list --save for the same service and filters: the last one, or with --since\n' +
    'an older one. Boards are saved on this machine, the last 200 for each set of filters.',
  params: {
    since: local(z.string().optional(), 'compare with the board of that long ago (24h, 7d), or of an ISO time'),
    save: local(z.boolean().optional(), 'save the current board too'),
    chains,
    onlyWithComments,
    timeframe,
    limit,
  },
  examples: [
    { argv: '--sandbox leaderboard diff --save', says: 'what changed since the last time this was run' },
    { argv: '--sandbox leaderboard diff --chains solana --since 24h --save', says: 'what changed on Solana in a day' },
  ],
  uses: ['requests'],
  exitCodes: [3, ...serviceExitCodes],
  view: async () => (await import('./diff.ts')).diff,
  run: async ({ since, save, ...filters }, context) => {
    const { boardFolder, pickTime, readBoard, savedTimes, wholeFilters } = await savedBoards();
    const { baseUrl: service } = await context.service();
    const targetMs = since === undefined ? undefined : sinceMs(since, context.world.now());
    const folder = boardFolder(await context.dataDirectory(), { service, filters: wholeFilters(filters) });
    const atMs = pickTime(savedTimes(folder), targetMs);
    if (atMs === undefined && save !== true) throw noSavedBoard(filters, context);
    const before = atMs === undefined ? undefined : readBoard(folder, atMs);
    // As many traders as the saved board, unless --limit says otherwise.
    const input = filters.limit === undefined && before !== undefined ? { ...filters, limit: before.limit } : filters;
    const { data } = await context.call(endpoints.list, input);
    const now = await boardOf(data, input, context);
    if (save === true) await saveFor(now, context);
    if (atMs !== undefined && targetMs !== undefined && atMs > targetMs)
      context.note(`No saved board is that old: compared with the oldest one, of ${new Date(atMs).toISOString()}.`);
    const { compareBoards } = await import('./diff.ts');
    const first: BoardDiff = { before: null, now: now.savedAt, depth: null, unchanged: 0, changes: [] };
    return {
      kind: 'answer',
      answer: before === undefined ? first : compareBoards(before, now),
      view: (await import('./diff.ts')).diff,
    };
  },
});

async function boardOf({ traders }: endpoints.LeaderboardAnswer, filters: Filters, context: Context): Promise<Board> {
  return {
    savedAt: new Date(context.world.now()).toISOString(),
    service: (await context.service()).baseUrl,
    filters: (await savedBoards()).wholeFilters(filters),
    limit: filters.limit ?? defaultLimit,
    traders: traders.map(({ profile, pnl }) => ({
      profileId: profile.id,
      name: profile.name,
      address: profile.addresses[0] ?? null,
      pnlUsd: pnl.total,
    })),
  };
}

async function saveFor(board: Board, { dataDirectory }: Context): Promise<void> {
  const { boardFolder, saveBoard } = await savedBoards();
  saveBoard(boardFolder(await dataDirectory(), board), board);
}

function sinceMs(since: string, nowMs: number): number {
  const atMs = parseMoment(since, nowMs, 'ago');
  if (atMs !== undefined) return atMs;
  throw usageError(`--since ${since}: must be a length of time such as 24h or 7d, or a time such as 2026-11-20`);
}

function noSavedBoard(filters: Filters, context: Context): SotraError {
  return new SotraError('config', 'no board is saved for this service and these filters', {
    hint: `Save one first: ${commandLine('list', filters, context)} --save`,
  });
}

/** The command to type for the same service and filters. */
function commandLine(verb: 'list' | 'diff', filters: Filters, { options }: Context): string {
  const { context, sandbox, baseUrl } = options;
  return [
    'sotra',
    sandbox ? '--sandbox' : [],
    context === undefined ? [] : `--context ${context}`,
    baseUrl === undefined ? [] : `--base-url ${baseUrl}`,
    `leaderboard ${verb}`,
    filters.chains === undefined ? [] : `--chains ${filters.chains.join(',')}`,
    filters.onlyWithComments === true ? '--only-with-comments' : [],
    filters.timeframe === undefined ? [] : `--timeframe ${filters.timeframe}`,
    verb === 'diff' || filters.limit === undefined ? [] : `--limit ${filters.limit}`,
  ]
    .flat()
    .join(' ');
}

/** Also says which V2 commands give the same. */
const sections = endpointCommand(endpoints.sections, views.sections, {
  prepare: (typed, context) => {
    for (const line of equivalents(typed)) context.note(line);
    return typed;
  },
});

interface SectionsInput {
  sections?: readonly string[] | undefined;
  limit?: number | undefined;
  timeframe?: string | undefined;
}

/** The V2 command for each section. Source: section "GET /v2/leaderboard", equivalents. */
function equivalents({ sections, limit, timeframe }: SectionsInput): string[] {
  const rest = [
    limit === undefined ? '' : ` --limit ${limit}`,
    timeframe === undefined ? '' : ` --timeframe ${timeframe}`,
  ].join('');
  const command = 'sotra leaderboard list';
  if (sections === undefined)
    return [
      `Section all is now: ${command}${rest}`,
      `The sections of one chain are now: ${command} --chains <chain>${rest} (${leaderboardChains.join(', ')})`,
    ];
  return [...new Set(sections)].map((key) => {
    const chain = leaderboardChains.find((name) => key === `chain-${name}`);
    if (chain === undefined && key !== 'all') return `Section ${key} has no equivalent in V2.`;
    return `Section ${key} is now: ${command}${chain === undefined ? '' : ` --chains ${chain}`}${rest}`;
  });
}

/** Every command of this noun. */
export const commands = commandsOf(endpoints, views, [list, sections, diff]);
