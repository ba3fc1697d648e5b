import { writeSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import type { Result } from '../../cli/command.ts';
import type { Context } from '../../context.ts';
import { SotraError, usageError } from '../../errors.ts';
import { openRejects, openTwice } from '../../files/source.ts';
import type { Chain } from '../../model/chain.ts';
import { formatCount } from '../../output/format.ts';
import { type Progress, showProgress } from '../../output/progress.ts';
import { sandboxNow } from '../db/clock.ts';
import { openDb } from '../db/store.ts';
import { importTrades } from '../trades/import-trades.ts';
import type { RejectedRow } from '../trades/read-rows.ts';
import { type PresetName, readTrades } from '../trades/read-trades.ts';
import { importView } from './view.ts';

interface ImportInput {
  file: string;
  chain?: Chain | undefined;
  preset?: PresetName | undefined;
  map?: string[] | undefined;
  rejects?: string | undefined;
  ownTime?: boolean | undefined;
}

/** Rejected rows that are shown on stderr; the rest is counted, and written with `--rejects`. */
const shownRejects = 10;

/** Errors: `usage` for a file that is missing or cannot be read as trades, with nothing changed. */
export async function importFile(input: ImportInput, context: Context, dbFile: string): Promise<Result> {
  const content = await openTwice(input.file, context, input.file);
  const map = Object.fromEntries((input.map ?? []).map((pair) => splitPair(pair)));
  const rejects = await openRejects(context.options.dryRun ? undefined : input.rejects, [input.file, dbFile]);
  const db = openDb(dbFile);
  const progress = await showProgress(context);
  // The file is read twice: first all of it is looked at.
  const passes = ['checked', 'read in'];
  const watching = { progress, signal: context.world.signal, row: 0, stored: 0 };
  try {
    const shown: RejectedRow[] = [];
    const report = await importTrades({
      db,
      nowMs: sandboxNow(db, context.world.now()),
      read: () => {
        const events = readTrades(content.open(), { chain: input.chain, preset: input.preset, map });
        return watched(events, passes.shift() ?? '', watching);
      },
      onRejected: (row) => {
        if (shown.length < shownRejects) shown.push(row);
        if (rejects !== undefined) writeSync(rejects.fd, `${JSON.stringify(row)}\n`);
      },
      onStored: (trades) => {
        watching.stored += trades;
      },
      onStep: async (what) => {
        progress.step(what);
        await setImmediate(); // Ctrl-C is heard
        giveUpIfTold(watching);
      },
      ownTime: input.ownTime === true,
    });
    if ('kind' in report) throw usageError(`${input.file}: ${report.message}`, report.hint);
    for (const { place, reason } of shown) context.warn(`${place}: ${reason}`);
    const more = report.rejected - shown.length;
    if (more > 0) context.warn(`${more} more rows were rejected; --rejects <file> writes them all`);
    return { kind: 'answer', answer: report, view: importView, exitCode: report.rejected > 0 ? 10 : 0 };
  } finally {
    progress.stop();
    content.remove();
    await rejects?.close();
    db.close();
  }
}

interface Watching {
  progress: Progress;
  signal: AbortSignal;
  /** Rows seen in this pass. */
  row: number;
  /** Trades that stay, whatever happens next. */
  stored: number;
}

/** The same batches of rows, told of as they come. */
async function* watched<Event>(
  batches: AsyncIterable<readonly Event[]>,
  what: string,
  watching: Watching,
): AsyncGenerator<readonly Event[]> {
  const { progress } = watching;
  const step = progress.live ? 5000 : 100_000;
  watching.row = 0;
  let told = 0;
  for await (const batch of batches) {
    watching.row += batch.length;
    giveUpIfTold(watching);
    if (watching.row >= told + step) {
      told = watching.row - (watching.row % step);
      progress.step(`${formatCount(told)} rows ${what}`);
    }
    yield batch;
  }
}

/** Errors: `interrupted` where the user gave up, with what is stored by now. */
function giveUpIfTold({ signal, row, stored }: Watching): void {
  if (!signal.aborted) return;
  const where = `interrupted at row ${formatCount(row)}; trades stored: ${formatCount(stored)}`;
  throw new SotraError('interrupted', where, { hint: 'The same command again imports what is missing.' });
}

function splitPair(pair: string): [string, string] {
  const at = pair.indexOf('=');
  return [pair.slice(0, at), pair.slice(at + 1)];
}
