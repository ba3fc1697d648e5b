import type { Context } from '../../context.ts';
import { stopExitCode } from '../../errors.ts';
import { sandboxFile } from '../../lib/config/directories.ts';
import { openSource } from '../../lib/files/source.ts';
import { showPlan } from '../../lib/output/confirm.ts';
import { counted } from '../../lib/output/format.ts';
import { showProgress } from '../../lib/output/progress.ts';
import type { Result } from '../../lib/output/result.ts';
import { storedNow } from '../../sandbox/db/settings.ts';
import type { Db } from '../../sandbox/db/store.ts';
import { countDeliveries, startDeliverer } from '../../sandbox/deliver/deliver.ts';
import { addLiveTrades, addTradeNow, checkLiveTrade } from '../../sandbox/ledger/live-trades.ts';
import type { LiveTrade, Trade } from '../../sandbox/ledger/trade.ts';
import { withSandbox } from './open-sandbox.ts';
import type { SimulateInput } from './params.ts';
import { madeTrades, replayedTrades, usualForMs } from './trade-batches.ts';
import { type SimulationReport, simulated, traded } from './view.ts';

export async function tradeNow(input: LiveTrade & { db?: string | undefined }, context: Context): Promise<Result> {
  checkLiveTrade(input, '--');
  return withSandbox(context, { db: input.db }, async (db) => {
    const made = addTradeNow(db, input, storedNow(db, context.io.now()));
    if (made.isRepeated) context.note('This trade exists already: nothing was added.');
    await withDeliverer(db, context, async () => undefined);
    return { kind: 'answer', answer: { ...made, waiting: countDeliveries(db, 'waiting') }, view: traded };
  });
}

/** Makes trades until the time is over, the file ends or a signal comes, which sets the exit code. */
export async function simulate(input: SimulateInput, context: Context): Promise<Result> {
  const { io, options } = context;
  const { replay } = input;
  const source = replay === undefined ? undefined : openSource(replay, io, `--replay ${replay}`);
  if (options.dryRun) return showSimulatePlan(input, context);
  return withSandbox(context, { db: input.db }, async (db) => {
    const batches = source === undefined ? madeTrades(db, input, io) : replayedTrades(input, source, context);
    const sum: SimulationReport = { trades: 0, deliveries: 0, waiting: 0, seconds: 0 };
    await withDeliverer(db, context, () => addBatches(db, batches, sum, context));
    sum.waiting = countDeliveries(db, 'waiting');
    return { kind: 'answer', answer: sum, view: simulated, exitCode: io.signal.aborted ? stopExitCode(io.signal) : 0 };
  });
}

function showSimulatePlan({ db, replay, speed, rate, for: forMs }: SimulateInput, { io }: Context): Result {
  const length = forMs === undefined ? '' : ` for ${forMs / 1000} s`;
  const what =
    replay === undefined
      ? `trades for ${(forMs ?? usualForMs) / 1000} s, ${rate?.perSec ?? 1} a second`
      : `the trades of ${replay}, ${speed ?? 1} times as fast${length}`;
  return showPlan([{ action: 'make', what, detail: db ?? sandboxFile(io) }]);
}

const betweenLinesMs = 10_000;

/** Stores trades as they come and counts them in `sum`. */
async function addBatches(
  db: Db,
  batches: AsyncIterable<readonly Trade[]>,
  sum: SimulationReport,
  context: Context,
): Promise<void> {
  const { now } = context.io;
  const progress = await showProgress(context);
  const startMs = now();
  let shownMs = startMs;
  try {
    for await (const trades of batches) {
      const added = addLiveTrades(db, trades, storedNow(db, now()));
      sum.trades += added.trades;
      sum.deliveries += added.deliveries;
      if (!progress.live && now() - shownMs < betweenLinesMs) continue;
      shownMs = now();
      progress.step(`${counted(sum.trades, 'trade')}, ${counted(sum.deliveries, 'delivery')}`);
    }
  } finally {
    progress.stop();
  }
  sum.seconds = Math.round((now() - startMs) / 100) / 10;
}

/** Delivers what `act` made to the webhooks; deliveries that wait for a retry may remain. */
export async function withDeliverer(db: Db, { io, warn, options }: Context, act: () => Promise<void>): Promise<void> {
  if (options.dryRun) return act();
  const deliverer = startDeliverer({ db, now: io.now, sleep: io.sleep, warn });
  try {
    await act();
    await deliverer.settled(io.signal);
  } finally {
    await deliverer.stop();
  }
}
