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
import type { Board } from './memory.ts';

const view = () => import('./view.ts');

/** How the answer of each endpoint is shown, in the order of help. */
export const views = {
  list: async () => (await view()).list,
  rank: async () => (await view()).rank,
  copytraded: async () => (await view()).copytraded,
  sections: async () => (await view()).sections,
};

const memory = () => import('./memory.ts');

/** Traders that the service shows when the request does not say how many (wire-facts 3.2). */
const defaultLimit = 50;

type Filters = Omit<InputOf<typeof endpoints.list.params>, 'viewerAddresses'>;

const plainList = endpointCommand(endpoints.list, views.list, {
  params: { chart: chartParam, save: local(z.boolean().optional(), 'keep this board, for leaderboard diff') },
});

/** `leaderboard list`: also as a picture, and kept with `--save`. */
const list: Command = {
  ...plainList,
  exitCodes: [3, ...plainList.exitCodes],
  run: async (typed: Filters & { save?: boolean }, context: Context) => {
    const result = await plainList.run(typed as never, context);
    if (typed.save !== true || result.kind !== 'answer') return result;
    const board = await boardOf(result.answer as endpoints.LeaderboardAnswer, typed, context);
    await keep(board, context);
    context.note(
      `Saved the board of ${board.traders.length} traders. Compare with it: ${commandLine('diff', typed, context)}`,
    );
    return result;
  },
};

const { chains, onlyWithComments, timeframe, limit } = endpoints.list.params;

/** `leaderboard diff`: the board now against a saved one. */
const diff = defineCommand({
  words: ['leaderboard', 'diff'],
  summary: 'What changed on a leaderboard since it was saved: who entered, left or moved, and PnL',
  description:
    'Compares the board of now with one kept by leaderboard list --save with the same service and filters: the last one, or with --since the one that old.\n' +
    'Boards are kept on this machine, the last 200 for each set of filters.',
  params: {
    since: local(z.string().optional(), 'compare with the board of that long ago (24h, 7d), or of an ISO time'),
    save: local(z.boolean().optional(), 'keep the board of now too'),
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
    const { boardFolder, pickTime, readBoard, savedTimes, wholeFilters } = await memory();
    const { baseUrl: service } = await context.service();
    const targetMs = since === undefined ? undefined : momentOf(since, context.world.now());
    const folder = boardFolder(await context.dataDirectory(), { service, filters: wholeFilters(filters) });
    const atMs = pickTime(savedTimes(folder), targetMs);
    if (atMs === undefined && save !== true) throw nothingSaved(filters, context);
    const before = atMs === undefined ? undefined : readBoard(folder, atMs);
    // As long a board as the saved one, unless another length was asked for.
    const asked = filters.limit === undefined && before !== undefined ? { ...filters, limit: before.limit } : filters;
    const { data } = await context.call(endpoints.list, asked);
    const now = await boardOf(data, asked, context);
    if (save === true) await keep(now, context);
    if (atMs !== undefined && targetMs !== undefined && atMs > targetMs)
      context.note(`No board is that old: compared with the oldest one, of ${new Date(atMs).toISOString()}.`);
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
    filters: (await memory()).wholeFilters(filters),
    limit: filters.limit ?? defaultLimit,
    traders: traders.map(({ profile, pnl }) => ({
      profileId: profile.id,
      name: profile.name,
      address: profile.addresses[0] ?? null,
      pnlUsd: pnl.total,
    })),
  };
}

async function keep(board: Board, { dataDirectory }: Context): Promise<void> {
  const { boardFolder, saveBoard } = await memory();
  saveBoard(boardFolder(await dataDirectory(), board), board);
}

function momentOf(since: string, nowMs: number): number {
  const atMs = parseMoment(since, nowMs, 'ago');
  if (atMs !== undefined) return atMs;
  throw usageError(`--since ${since}: must be a length of time such as 24h or 7d, or a time such as 2026-11-20`);
}

function nothingSaved(filters: Filters, context: Context): SotraError {
  return new SotraError('config', 'no board is saved for this service and these filters', {
    hint: `Save one first: ${commandLine('list', filters, context)} --save`,
  });
}

/** The command with the same service and filters, to be typed. */
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

/** `leaderboard sections`: says which V2 commands give the same, for what was typed. */
const sections = endpointCommand(endpoints.sections, views.sections, {
  prepare: (typed, context) => {
    for (const line of equivalents(typed)) context.note(line);
    return typed;
  },
});

interface Asked {
  sections?: readonly string[] | undefined;
  limit?: number | undefined;
  timeframe?: string | undefined;
}

/** The V2 commands that give the same traders, a sentence a section. Source: section "GET /v2/leaderboard", equivalents. */
function equivalents({ sections, limit, timeframe }: Asked): string[] {
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
