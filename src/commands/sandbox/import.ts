import { writeSync } from 'node:fs';
import type { Result } from '../../cli/command.ts';
import type { Context } from '../../context.ts';
import { SotraError, usageError } from '../../errors.ts';
import { openOutput, openSource } from '../../files/source.ts';
import { dayMs } from '../../model/duration.ts';
import { splitPair } from '../../model/list.ts';
import { column, recordView } from '../../output/columns.ts';
import { counted, formatCount } from '../../output/format.ts';
import { type Progress, showProgress } from '../../output/progress.ts';
import { sandboxNow } from '../../sandbox/db/settings.ts';
import { openDb } from '../../sandbox/db/store.ts';
import { type ImportReport, importTrades } from '../../sandbox/trades/import-trades.ts';
import type { RejectedRow } from '../../sandbox/trades/read-rows.ts';
import { readTrades } from '../../sandbox/trades/read-trades.ts';
import type { ImportInput } from './params.ts';

/** Rejected rows that are shown on stderr; the rest is counted, and written with `--rejects`. */
const maxShown = 10;

/** Errors: `usage` for a file that is missing or cannot be read as trades, with nothing changed. */
export async function importFile(input: ImportInput, context: Context, dbFile: string): Promise<Result> {
  const source = openSource(input.file, context.io, input.file);
  const map = Object.fromEntries((input.map ?? []).map(splitPair));
  const rejects = await openOutput('--rejects', context.options.dryRun ? undefined : input.rejects, [
    input.file,
    dbFile,
  ]);
  const db = openDb(dbFile);
  const shown = await showProgress(context);
  const { signal, sleep } = context.io;
  const progress: ImportProgress = { shown, signal, row: 0, stored: 0 };
  try {
    const rejectedRows: RejectedRow[] = [];
    const report = await importTrades({
      db,
      nowMs: sandboxNow(db, context.io.now()),
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
