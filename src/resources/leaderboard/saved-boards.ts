import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { SotraError } from '../../errors.ts';
import { readStateFile, replaceFile } from '../../files/durable-file.ts';
import { leaderboardChains } from '../../model/chain.ts';
import { parseJson } from '../../model/json.ts';

/** For each service and set of filters; the oldest are removed. One an hour lasts for eight days. */
const maxBoards = 200;

const version = 1;

export interface BoardFilters {
  chains?: readonly string[] | undefined;
  onlyWithComments?: boolean | undefined;
  timeframe?: string | undefined;
}

const boardSchema = z.object({
  version: z.literal(version),
  /** ISO time. */
  savedAt: z.string(),
  service: z.string(),
  filters: z.object({ chains: z.array(z.string()), onlyWithComments: z.boolean(), timeframe: z.string() }),
  /** How many traders were requested: fewer is the whole board. */
  limit: z.number(),
  traders: z.array(
    z.object({ profileId: z.string(), name: z.string(), address: z.string().nullable(), pnlUsd: z.number() }),
  ),
});

/** A leaderboard as it was, best first; PnL in USD. */
export type Board = Omit<z.output<typeof boardSchema>, 'version'>;

/** The filters with the service's defaults filled in. Source: wire-facts 3.2. */
export function wholeFilters({ chains, onlyWithComments, timeframe }: BoardFilters): Board['filters'] {
  return {
    chains: [...new Set(chains ?? leaderboardChains)].sort(),
    onlyWithComments: onlyWithComments === true,
    timeframe: timeframe ?? '30d',
  };
}

/** The folder of the saved boards of a service and filters. */
export function boardFolder(dataDirectory: string, { service, filters }: Pick<Board, 'service' | 'filters'>): string {
  const { chains, onlyWithComments, timeframe } = filters;
  const name = JSON.stringify([service, chains, onlyWithComments, timeframe]);
  return join(dataDirectory, 'boards', createHash('sha256').update(name).digest('hex').slice(0, 24));
}

/** Saves a board in a file of its own, mode 0600, as a whole or not at all. Errors: `local-file`. */
export function saveBoard(folder: string, board: Board): void {
  const atMs = Date.parse(board.savedAt);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    replaceFile(fileOf(folder, atMs), `${JSON.stringify({ version, ...board })}\n`);
    for (const gone of savedTimes(folder).slice(0, -maxBoards)) rmSync(fileOf(folder, gone), { force: true });
  } catch (cause) {
    if (cause instanceof SotraError) throw cause;
    throw failure('save a board in', folder, cause);
  }
}

/** When boards were saved, in Unix milliseconds, oldest first. Errors: `local-file`. */
export function savedTimes(folder: string): number[] {
  try {
    return readdirSync(folder)
      .flatMap((name) => /^(\d{1,15})\.json$/.exec(name)?.[1] ?? [])
      .map(Number)
      .sort((a, b) => a - b);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw failure('read the saved boards in', folder, cause);
  }
}

/** The board saved at that moment. Errors: `local-file` when it is damaged or of another version. */
export function readBoard(folder: string, atMs: number): Board {
  const file = fileOf(folder, atMs);
  try {
    const stored: unknown = parseJson(readStateFile(file));
    const layout = Number(Object(stored).version);
    if (layout > version) throw new Error(`it was written by a newer sotra (layout ${layout})`);
    const { version: _, ...board } = boardSchema.parse(stored);
    return board;
  } catch (cause) {
    if (!(cause instanceof z.ZodError)) throw failure('read', file, cause);
    const [issue] = cause.issues;
    throw failure('read', file, new Error(`${issue?.path.join('.')}: ${issue?.message}`), cause);
  }
}

/** The newest time at or before `targetMs`, else the oldest; without a target the newest. */
export function pickTime(times: readonly number[], targetMs: number | undefined): number | undefined {
  if (targetMs === undefined) return times.at(-1);
  return times.findLast((each) => each <= targetMs) ?? times[0];
}

function fileOf(folder: string, atMs: number): string {
  return join(folder, `${atMs}.json`);
}

function failure(what: string, path: string, thrown: unknown, cause = thrown): SotraError {
  const why = thrown instanceof Error ? thrown.message : String(thrown);
  return new SotraError('local-file', `cannot ${what} ${path}: ${why}`, {
    hint: 'Move it away, or choose another folder with SOTRA_DATA_DIR.',
    cause,
  });
}
