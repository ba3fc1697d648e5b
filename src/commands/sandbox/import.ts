import { writeSync } from 'node:fs';
import type { Context } from '../../context.ts';
import { SotraError } from '../../errors.ts';
import { openOutput, openSource } from '../../lib/files/source.ts';
import { splitPair } from '../../lib/list.ts';
import { confirmReplace } from '../../lib/output/confirm.ts';
import { counted, formatCount } from '../../lib/output/format.ts';
import { type Progress, showProgress } from '../../lib/output/progress.ts';
import type { Result } from '../../lib/output/result.ts';
import { sandboxNow } from '../../sandbox/db/settings.ts';
import { openDb } from '../../sandbox/db/store.ts';
import { importTrades } from '../../sandbox/ledger/import-trades.ts';
import type { RejectedRow } from '../../sandbox/ledger/read-rows.ts';
import { readTrades } from '../../sandbox/ledger/read-trades.ts';
import type { ImportInput } from './params.ts';
import { importView } from './view.ts';

/** Rejected rows that stderr shows; `--rejects` writes all. */
const maxShown = 10;

/** Errors, with nothing changed: `local-file` for a missing file; `usage` for one without trades. */
export async function importFile(input: ImportInput, context: Context, dbFile: string): Promise<Result> {
  const source = openSource(input.file, context.io, input.file);
  const map = Object.fromEntries((input.map ?? []).map(splitPair));
  const rejects = await openOutput(
    '--rejects',
    context.options.dryRun ? undefined : input.rejects,
    [input.file, dbFile],
    (path) => confirmReplace('--rejects', path, context),
  );
  const db = openDb(dbFile);
  const shown = await showProgress(context);
  const { signal, sleep } = context.io;
  const progress: ImportProgress = { shown, signal, row: 0, stored: 0 };
  try {
    const rejectedRows: RejectedRow[] = [];
    const report = await importTrades({
      db,
      name: input.file === '-' ? 'stdin' : input.file,
      nowMs: sandboxNow(db, context.io.now()),
      events: withProgress(readTrades(source, { chain: input.chain, preset: input.preset, map }), progress),
      onRejected: (row) => {
        if (rejectedRows.length < maxShown) rejectedRows.push(row);
        if (rejects !== undefined) writeSync(rejects.fd, `${JSON.stringify(row)}\n`);
      },
      onStored: async (trades) => {
        progress.stored = trades;
        await sleep(0, signal).catch(() => undefined);
        throwIfInterrupted(progress);
      },
      ownTime: input.ownTime === true,
    });
    for (const { place, reason } of rejectedRows) context.warn(`${place}: ${reason}`);
    const more = report.rejected - rejectedRows.length;
    if (more > 0) context.warn(`${counted(more, 'more row')} rejected; --rejects <file> writes all of them`);
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
      progress.shown.step(`${counted(shownRow, 'row')} read, ${counted(progress.stored, 'trade')} stored`);
    }
    yield batch;
  }
}

function throwIfInterrupted({ signal, row, stored }: ImportProgress): void {
  if (!signal.aborted) return;
  const where = `interrupted at row ${formatCount(row)}; trades stored: ${formatCount(stored)}`;
  throw new SotraError('interrupted', where, { hint: 'Run the same command again to import the rest.' });
}
