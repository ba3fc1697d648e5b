import { writeSync } from 'node:fs';
import { Readable } from 'node:stream';
import { z } from 'zod';
import type { Result } from '../../cli/command.ts';
import { splitPair } from '../../cli/input.ts';
import type { Context } from '../../context.ts';
import { readMessage, SotraError, usageError } from '../../errors.ts';
import { openOutput, openSource } from '../../files/source.ts';
import type { FileBytes } from '../../files/text-file.ts';
import { dayMs } from '../../model/duration.ts';
import { isObject, tryParseJson } from '../../model/json.ts';
import { actorSchema, cardSchema } from '../../model/position.ts';
import { column, recordView } from '../../output/columns.ts';
import { counted, formatCount } from '../../output/format.ts';
import { type Progress, showProgress } from '../../output/progress.ts';
import { sandboxNow } from '../db/settings.ts';
import { openDb } from '../db/store.ts';
import { type ImportReport, importTrades } from '../trades/import-trades.ts';
import type { RejectedRow } from '../trades/read-rows.ts';
import { readTrades } from '../trades/read-trades.ts';
import type { ImportInput } from './params.ts';

/** Rejected rows that are shown on stderr; the rest is counted, and written with `--rejects`. */
const maxShown = 10;

/** Errors: `usage` for a file that is missing or cannot be read as trades, with nothing changed. */
export async function importFile(input: ImportInput, context: Context, dbFile: string): Promise<Result> {
  const source = await openTrades(input, context);
  const map = Object.fromEntries((input.map ?? []).map(splitPair));
  const rejects = await openOutput('--rejects', context.options.dryRun ? undefined : input.rejects, [
    input.file,
    dbFile,
  ]);
  const db = openDb(dbFile);
  const shown = await showProgress(context);
  const { signal, sleep } = context.world;
  const progress: ImportProgress = { shown, signal, row: 0, stored: 0 };
  try {
    const rejectedRows: RejectedRow[] = [];
    const report = await importTrades({
      db,
      nowMs: sandboxNow(db, context.world.now()),
      events: withProgress(readTrades(source, { chain: input.chain, preset: input.preset, map }), progress),
      onRejected: (row) => {
        if (rejectedRows.length < maxShown) rejectedRows.push(row);
        if (rejects !== undefined) writeSync(rejects.fd, `${JSON.stringify(row)}\n`);
      },
      onStored: async (trades) => {
        progress.stored = trades;
        shown.step(`${counted(trades, 'trade')} stored`);
        await sleep(0, signal).catch(() => undefined);
        throwIfInterrupted(progress);
      },
      ownTime: input.ownTime === true,
    });
    if ('kind' in report)
      throw usageError(`${input.file === '-' ? 'stdin' : input.file}: ${report.message}`, report.hint);
    for (const { place, reason } of rejectedRows) context.warn(`${place}: ${reason}`);
    const more = report.rejected - rejectedRows.length;
    if (more > 0) context.warn(`${counted(more, 'more row')} rejected; --rejects <file> writes them all`);
    return { kind: 'answer', answer: report, view: importView, exitCode: report.rejected > 0 ? 10 : 0 };
  } finally {
    shown.stop();
    await rejects?.close();
    db.close();
  }
}

/** The file, or the trades of a recording. Errors: `usage` for flags about the columns of a file. */
async function openTrades({ file, preset, map }: ImportInput, { world }: Context): Promise<FileBytes> {
  if (!/\.har$/i.test(file)) return openSource(file, world, file);
  if (preset !== undefined || map !== undefined)
    throw usageError(
      `${preset === undefined ? '--map' : '--preset'}: ${file} is a recording, which needs none`,
      'Omit it.',
    );
  return { name: file, bytes: Readable.from([Buffer.from(await recordedTrades(file))]) };
}

interface ImportProgress {
  shown: Progress;
  signal: AbortSignal;
  row: number;
  stored: number;
}

async function* withProgress<Event>(batches: AsyncIterable<readonly Event[]>, progress: ImportProgress) {
  const step = progress.shown.live ? 5000 : 100_000;
  let shownRow = 0;
  for await (const batch of batches) {
    progress.row += batch.length;
    throwIfInterrupted(progress);
    if (progress.row >= shownRow + step) {
      shownRow = progress.row - (progress.row % step);
      progress.shown.step(`${counted(shownRow, 'row')} checked`);
    }
    yield batch;
  }
}

function throwIfInterrupted({ signal, row, stored }: ImportProgress): void {
  if (!signal.aborted) return;
  const where = `interrupted at row ${formatCount(row)}; trades stored: ${formatCount(stored)}`;
  throw new SotraError('interrupted', where, { hint: 'The same command again imports what is missing.' });
}

export const importView = recordView<ImportReport>(
  [
    column.count('rows', 'Rows', 'rows of the file'),
    column.count('imported', 'Imported', 'trades that are new in the sandbox'),
    column.count('repeated', 'Repeated', 'rows that were there already'),
    column.count('rejected', 'Rejected', 'rows with an error'),
    column.count('skipped', 'Skipped', 'rows that say the same as another row'),
    column.count('traders', 'Traders', 'wallets in the file'),
    column.count('tokens', 'Tokens', 'tokens in the file'),
    column.text('oldest', 'Oldest trade', "the oldest trade's time in the sandbox"),
    column.text('newest', 'Newest trade', "the newest trade's time in the sandbox"),
  ],
  {
    notes: ({ worldMovedBackMs, newestAgeMs, unavailable }) => [
      ...(unavailable > 0
        ? [`Positions that the file shows only in part: ${formatCount(unavailable)}. Their figures are unavailable.`]
        : []),
      ...(worldMovedBackMs > 0
        ? [`The file is newer than the sandbox: the whole world moved back by ${formatLength(worldMovedBackMs)}.`]
        : []),
      ...(newestAgeMs !== null && newestAgeMs > monthMs
        ? [
            `The file's newest trade is ${formatLength(newestAgeMs)} before now, outside the windows of leaderboards: ` +
              'it keeps its distance to what was imported before. --own-time makes it now.',
          ]
        : []),
    ],
  },
);

const monthMs = 30 * dayMs;

function formatLength(ms: number): string {
  const days = ms / dayMs;
  return days >= 2 ? `${Math.round(days)} days` : `${Math.round(ms / 1000)} s`;
}

/** What of a card a trade needs; positions and feeds have it. */
const cardForm = z.object({
  actor: actorSchema.pick({ address: true }),
  metadata: cardSchema.shape.metadata.omit({ positionStats: true }),
});

/** The trades of all cards in an HTTP archive, each once, oldest first, as NDJSON. Errors: `usage` for another file, and where there are none. */
async function recordedTrades(file: string): Promise<string> {
  const rows = new Map<string, number>();
  for (const text of await readAnswers(file))
    for (const row of tradesIn(tryParseJson(text))) rows.set(JSON.stringify(row), row.time);
  if (rows.size === 0)
    throw usageError(
      `${file}: its answers hold no trades`,
      'Record some: sotra feed actor <address> --all --record <file.har>.',
    );
  const inTime = [...rows].sort(([, a], [, b]) => a - b);
  return inTime.map(([line]) => `${line}\n`).join('');
}

/** The bodies of all answers. Errors: `usage` for another file. */
async function readAnswers(file: string): Promise<string[]> {
  const { readHar, readText } = await import('../../log/har.ts');
  try {
    return readHar(file, file).map(readText);
  } catch (cause) {
    throw usageError(readMessage(cause), 'Name a file of trades, or one that sotra --record <file.har> wrote.');
  }
}

interface TradeRow {
  time: number;
  [field: string]: unknown;
}

function tradesIn(value: unknown): TradeRow[] {
  if (Array.isArray(value)) return value.flatMap(tradesIn);
  if (!isObject(value)) return [];
  const { data: card } = cardForm.safeParse(value);
  return card === undefined ? Object.values(value).flatMap(tradesIn) : cardTrades(card);
}

function cardTrades({ actor, metadata }: z.output<typeof cardForm>): TradeRow[] {
  const { tokenChain: chain, tokenAddress: token, tokenSymbol: symbol, tokenName: name, trades } = metadata;
  return trades.flatMap((trade) => {
    if (!['buy', 'sell'].includes(trade.direction)) return [];
    const { timestamp: time, direction: side, tokenAmount: amount, usdCost: usd, transactionHash: tx } = trade;
    const { perpPositionType: direction, perpLeverage: leverage } = trade;
    return { time, chain, trader: actor.address, token, symbol, name, side, amount, usd, tx, direction, leverage };
  });
}
