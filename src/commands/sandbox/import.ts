import { writeSync } from 'node:fs';
import type { Context } from '../../context.ts';
import { SotraError } from '../../errors.ts';
import { openOutput, openSource } from '../../lib/files/source.ts';
import { confirmReplace } from '../../lib/output/confirm.ts';
import { counted, formatCount } from '../../lib/output/format.ts';
import { type Progress, showProgress } from '../../lib/output/progress.ts';
import type { Result } from '../../lib/output/view.ts';
import { moreChains, sandboxNow } from '../../sandbox/db/settings.ts';
import { importTrades } from '../../sandbox/ledger/import-trades.ts';
import { readTrades } from '../../sandbox/ledger/read-trades.ts';
import { splitPair } from '../params.ts';
import { withSandbox } from './open-sandbox.ts';
import type { ImportInput } from './params.ts';

/** Rejected rows that stderr shows; `--rejects` writes all. */
const maxShown = 10;

/** Errors, with nothing stored: `local-file` for a missing file; `usage` for one without trades. */
export function importFile(input: ImportInput, context: Context): Promise<Result> {
  const { io, options, warn } = context;
  const source = openSource(input.file, io, input.file);
  const map = Object.fromEntries((input.map ?? []).map(splitPair));
  return withSandbox(context, { db: input.db, keepsEmpty: true }, async (db) => {
    const rejectsFile = options.dryRun ? undefined : input.rejects;
    const rejects = await openOutput('--rejects', rejectsFile, [input.file, db.file], (path) =>
      confirmReplace('--rejects', path, context),
    );
    const shown = await showProgress(context);
    const progress: ImportProgress = { shown, signal: io.signal, row: 0, stored: 0 };
    const reading = { chain: input.chain, preset: input.preset, map, moreChains: moreChains(db) };
    let rejected = 0;
    try {
      const report = await importTrades({
        db,
        name: input.file === '-' ? 'stdin' : input.file,
        nowMs: sandboxNow(db, io.now()),
        events: withProgress(readTrades(source, reading), progress),
        onRejected: (row) => {
          rejected += 1;
          if (rejected <= maxShown) warn(`${row.at}: ${row.reason}`);
          if (rejects !== undefined) writeSync(rejects.fd, `${JSON.stringify(row)}\n`);
        },
        onStored: async (trades) => {
          progress.stored = trades;
          await io.sleep(0, io.signal).catch(() => undefined);
          throwIfInterrupted(progress);
        },
        ownTime: input.ownTime === true,
      });
      const more = rejected - maxShown;
      const all = input.rejects === undefined ? '; --rejects <file> writes all of them' : '';
      if (more > 0) warn(`${counted(more, 'more row')} rejected${all}`);
      return { kind: 'answer', answer: report, exitCode: rejected > 0 ? 10 : 0 };
    } finally {
      shown.stop();
      await rejects?.close();
    }
  });
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
