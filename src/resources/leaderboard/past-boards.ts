import type { Result } from '../../cli/command.ts';
import type { Context } from '../../context.ts';
import type { InputOf } from '../../contract/endpoint.ts';
import { decodeRequest } from '../../contract/request.ts';
import { SotraError, usageError } from '../../errors.ts';
import { isLogOff } from '../../log/keep-calls.ts';
import { recallAnswer, recallCalls } from '../../log/recall.ts';
import { leaderboardChains } from '../../model/chain.ts';
import { parseMoment } from '../../model/duration.ts';
import { tryParseJson } from '../../model/json.ts';
import { withoutFlagged } from '../../output/flagged.ts';
import { type Board, compareBoards, diff as diffView } from './diff.ts';
import { type LeaderboardAnswer, list } from './endpoints.ts';

/** The service's default (wire-facts 3.2). */
const defaultLimit = 50;

type Filters = Omit<InputOf<typeof list.params>, 'viewerAddresses'>;

/** What changed since a board of the same service and filters was shown. Errors: `config` where the log is off, `usage`. */
export async function runDiff(
  { since, ...filters }: Filters & { since?: string | undefined },
  context: Context,
): Promise<Result> {
  const targetMs = since === undefined ? undefined : readSince(since, context.world.now());
  const before = await findBoard(filters, targetMs, context);
  if (before === undefined && isLogOff(context))
    throw new SotraError('config', 'the history is off: there is no earlier board to compare with', {
      hint: 'Turn it on: sotra history set on, without SOTRA_HISTORY=0 and --no-history.',
    });
  // As many traders as the earlier board, unless --limit says otherwise.
  const input = filters.limit === undefined && before !== undefined ? { ...filters, limit: before.limit } : filters;
  const { data } = await context.call(list, input);
  if (before !== undefined && targetMs !== undefined && Date.parse(before.shownAt) > targetMs)
    context.note(`No board in the history is that old: compared with the oldest one, of ${before.shownAt}.`);
  const now = readBoard(data, input, context.world.now(), context);
  return { kind: 'answer', answer: compareBoards(before, now), view: diffView };
}

/** The newest board in the log; with a moment the newest at or before it, else the oldest. */
async function findBoard(filters: Filters, targetMs: number | undefined, context: Context): Promise<Board | undefined> {
  const { wire } = await context.service();
  let oldest: Board | undefined;
  for await (const entry of recallCalls(context, { method: 'GET', path: /\/v2\/leaderboard$/ })) {
    const parts = { path: {}, query: new URL(entry.request.url).searchParams, body: undefined };
    const asked = decodeRequest(list, parts, wire);
    const answer = tryParseJson(recallAnswer(entry) ?? '') as LeaderboardAnswer | undefined;
    if (!asked.ok || !Array.isArray(answer?.traders) || describeFilters(asked.input) !== describeFilters(filters))
      continue;
    const atMs = Date.parse(entry.startedDateTime);
    oldest = readBoard(answer, asked.input, atMs, context);
    if (targetMs === undefined || atMs <= targetMs) return oldest;
  }
  return oldest;
}

function readBoard(
  { traders }: LeaderboardAnswer,
  { limit = defaultLimit }: Filters,
  atMs: number,
  { options }: Context,
): Board {
  return {
    shownAt: new Date(atMs).toISOString(),
    limit,
    traders: traders.map(({ profile, pnl }) => ({
      profileId: profile.id,
      name: (options.showNsfw ? profile : withoutFlagged(profile)).name,
      address: profile.addresses[0] ?? null,
      pnlUsd: pnl.total,
    })),
  };
}

/** The filters with the service's defaults filled in. Source: wire-facts 3.2. */
function describeFilters({ chains, onlyWithComments, timeframe }: Filters): string {
  return JSON.stringify([
    [...new Set(chains ?? leaderboardChains)].sort(),
    onlyWithComments === true,
    timeframe ?? '30d',
  ]);
}

function readSince(since: string, nowMs: number): number {
  const atMs = parseMoment(since, nowMs, 'ago');
  if (atMs !== undefined) return atMs;
  throw usageError(`--since ${since}: must be a length of time such as 24h or 7d, or a time such as 2026-11-20`);
}
