import { createHash } from 'node:crypto';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { Result } from '../../cli/command.ts';
import { flagsOf, serviceFlags } from '../../cli/globals.ts';
import type { Context } from '../../context.ts';
import type { InputOf } from '../../contract/endpoint.ts';
import { SotraError, usageError } from '../../errors.ts';
import { readStateFile, replaceFile } from '../../files/durable-file.ts';
import { makeFolder } from '../../files/folder.ts';
import { leaderboardChains } from '../../model/chain.ts';
import { parseMoment } from '../../model/duration.ts';
import { tryParseJson } from '../../model/json.ts';
import { shellLine } from '../../model/shell.ts';
import { withoutFlagged } from '../../output/flagged.ts';
import { compareBoards, diff as diffView } from './diff.ts';
import { type LeaderboardAnswer, list } from './endpoints.ts';

/** For each service and set of filters; the oldest are removed. One an hour lasts for eight days. */
const maxBoards = 200;

/** The service's default (wire-facts 3.2). */
const defaultLimit = 50;

const boardSchema = z.object({
  version: z.literal(1),
  savedAt: z.string(),
  service: z.string(),
  filters: z.object({ chains: z.array(z.string()), onlyWithComments: z.boolean(), timeframe: z.string() }),
  limit: z.number(),
  traders: z.array(
    z.object({ profileId: z.string(), name: z.string(), address: z.string().nullable(), pnlUsd: z.number() }),
  ),
});

type Board = z.output<typeof boardSchema>;

type Filters = Omit<InputOf<typeof list.params>, 'viewerAddresses'>;

export async function saveAnswer(answer: LeaderboardAnswer, filters: Filters, context: Context): Promise<void> {
  const board = await makeBoard(answer, filters, context);
  saveBoard(await boardFolder(filters, context), board);
  const diff = commandLine('diff', filters, context);
  context.note(`Saved the board of ${board.traders.length} traders. Compare with it: ${diff}`);
}

/** What changed since a board was saved. Errors: `config` where none was, `local-file` for a damaged one, `usage`. */
export async function runDiff(
  { since, save, ...filters }: Filters & { since?: string | undefined; save?: boolean | undefined },
  context: Context,
): Promise<Result> {
  const targetMs = since === undefined ? undefined : sinceMs(since, context.world.now());
  const folder = await boardFolder(filters, context);
  const atMs = pickTime(savedTimes(folder), targetMs);
  if (atMs === undefined && save !== true)
    throw new SotraError('config', 'no board is saved for this service and these filters', {
      hint: `Save one first: ${commandLine('list', filters, context)} --save`,
    });
  const before = atMs === undefined ? undefined : readBoard(folder, atMs);
  // As many traders as the saved board, unless --limit says otherwise.
  const input = filters.limit === undefined && before !== undefined ? { ...filters, limit: before.limit } : filters;
  const { data } = await context.call(list, input);
  const now = await makeBoard(data, input, context);
  if (save === true) saveBoard(folder, now);
  if (atMs !== undefined && targetMs !== undefined && atMs > targetMs)
    context.note(`No saved board is that old: compared with the oldest one, of ${new Date(atMs).toISOString()}.`);
  return { kind: 'answer', answer: compareBoards(before, now), view: diffView };
}

async function makeBoard({ traders }: LeaderboardAnswer, filters: Filters, context: Context): Promise<Board> {
  return {
    version: 1,
    savedAt: new Date(context.world.now()).toISOString(),
    service: (await context.service()).baseUrl,
    filters: wholeFilters(filters),
    limit: filters.limit ?? defaultLimit,
    traders: traders.map(({ profile, pnl }) => ({
      profileId: profile.id,
      name: (context.options.showNsfw ? profile : withoutFlagged(profile)).name,
      address: profile.addresses[0] ?? null,
      pnlUsd: pnl.total,
    })),
  };
}

/** The filters with the service's defaults filled in. Source: wire-facts 3.2. */
function wholeFilters({ chains, onlyWithComments, timeframe }: Filters): Board['filters'] {
  return {
    chains: [...new Set(chains ?? leaderboardChains)].sort(),
    onlyWithComments: onlyWithComments === true,
    timeframe: timeframe ?? '30d',
  };
}

/** The folder of the saved boards of a service and filters. */
async function boardFolder(filters: Filters, context: Context): Promise<string> {
  const { chains, onlyWithComments, timeframe } = wholeFilters(filters);
  const name = JSON.stringify([(await context.service()).baseUrl, chains, onlyWithComments, timeframe]);
  return join(await context.dataDirectory(), 'boards', createHash('sha256').update(name).digest('hex').slice(0, 24));
}

function saveBoard(folder: string, board: Board): void {
  makeFolder(folder);
  replaceFile(nameFile(folder, Date.parse(board.savedAt)), `${JSON.stringify(board)}\n`);
  for (const atMs of savedTimes(folder).slice(0, -maxBoards)) rmSync(nameFile(folder, atMs), { force: true });
}

/** When boards were saved, in Unix milliseconds, oldest first. */
function savedTimes(folder: string): number[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .flatMap((name) => /^(\d{1,15})\.json$/.exec(name)?.[1] ?? [])
    .map(Number)
    .sort((a, b) => a - b);
}

function readBoard(folder: string, atMs: number): Board {
  const file = nameFile(folder, atMs);
  const { data, error } = boardSchema.safeParse(tryParseJson(readStateFile(file)));
  if (data !== undefined) return data;
  throw new SotraError('local-file', `${file} is damaged, or written by another version of sotra`, {
    hint: 'Move it away, or choose another folder with SOTRA_DATA_DIR.',
    cause: error,
  });
}

function nameFile(folder: string, atMs: number): string {
  return join(folder, `${atMs}.json`);
}

/** The newest time at or before `targetMs`, else the oldest; without a target the newest. */
function pickTime(times: readonly number[], targetMs: number | undefined): number | undefined {
  if (targetMs === undefined) return times.at(-1);
  return times.findLast((each) => each <= targetMs) ?? times[0];
}

function sinceMs(since: string, nowMs: number): number {
  const atMs = parseMoment(since, nowMs, 'ago');
  if (atMs !== undefined) return atMs;
  throw usageError(`--since ${since}: must be a length of time such as 24h or 7d, or a time such as 2026-11-20`);
}

/** The command to type for the same service and filters. */
function commandLine(verb: 'list' | 'diff', filters: Filters, { options }: Context): string {
  const flags = flagsOf({
    '--chains': filters.chains?.join(','),
    '--only-with-comments': filters.onlyWithComments === true,
    '--timeframe': filters.timeframe,
    '--limit': verb === 'diff' ? undefined : filters.limit,
  });
  return shellLine(['sotra', ...serviceFlags(options), 'leaderboard', verb, ...flags]);
}
