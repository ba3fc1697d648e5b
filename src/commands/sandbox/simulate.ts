import type { Context } from '../../context.ts';
import { stopExitCode, usageError } from '../../errors.ts';
import { sandboxFile } from '../../lib/config/directories.ts';
import { openSource } from '../../lib/files/source.ts';
import type { FileBytes } from '../../lib/files/text-file.ts';
import { showPlan } from '../../lib/output/confirm.ts';
import { counted } from '../../lib/output/format.ts';
import { showProgress } from '../../lib/output/progress.ts';
import type { Result } from '../../lib/output/result.ts';
import { storedNow } from '../../sandbox/db/settings.ts';
import type { Db } from '../../sandbox/db/store.ts';
import { countDeliveries, startDeliverer } from '../../sandbox/deliver/deliver.ts';
import { readBatches } from '../../sandbox/ledger/import-trades.ts';
import { addLiveTrades, addTradeNow, checkLiveTrade } from '../../sandbox/ledger/live-trades.ts';
import { readTrades } from '../../sandbox/ledger/read-trades.ts';
import type { LiveTrade, Trade } from '../../sandbox/ledger/trade.ts';
import { madeTrades, maxAtOnce, paceTrades } from './made-trades.ts';
import type { SimulateInput } from './params.ts';
import { withWorld } from './state.ts';
import { type SimulationReport, simulated, traded } from './view.ts';

export async function tradeNow(input: LiveTrade & { db?: string | undefined }, context: Context): Promise<Result> {
  checkLiveTrade(input, '--');
  return withWorld(input.db, context, async (db) => {
    const made = addTradeNow(db, input, storedNow(db, context.io.now()));
    if (made.isRepeated) context.note('This trade exists already: nothing was added.');
    await withDeliverer(db, context, async () => undefined);
    return { kind: 'answer', answer: { ...made, waiting: countDeliveries(db, 'waiting') }, view: traded };
  });
}

/** Makes trades until the time is over, the file ends or a signal comes, which sets the exit code. Errors: `usage` for contradicting flags. */
export async function simulate(typed: SimulateInput, context: Context): Promise<Result> {
  const input = readPace(typed);
  if (input.replay !== undefined && input.perSec !== undefined)
    throw usageError('--replay and --rate exclude each other', 'Use --speed.');
  if (input.replay === undefined && input.speed !== undefined)
    throw usageError('--speed needs --replay', 'Use --rate.');
  const source =
    input.replay === undefined ? undefined : openSource(input.replay, context.io, `--replay ${input.replay}`);
  if (context.options.dryRun) return showSimulatePlan(input, context);
  return withWorld(input.db, context, async (db) => {
    const sum: SimulationReport = { trades: 0, deliveries: 0, waiting: 0, seconds: 0 };
    await withDeliverer(db, context, () => addBatches(db, { ...input, source }, sum, context));
    const { signal } = context.io;
    const exitCode = signal.aborted ? stopExitCode(signal) : 0;
    return { kind: 'answer', answer: { ...sum, waiting: countDeliveries(db, 'waiting') }, view: simulated, exitCode };
  });
}

function readPace({ rate, for: forMs, ...input }: SimulateInput) {
  return { ...input, perSec: rate?.perSec, forMs };
}

type Simulation = ReturnType<typeof readPace>;

async function addBatches(
  db: Db,
  input: Simulation & { source: FileBytes | undefined },
  sum: SimulationReport,
  context: Context,
): Promise<void> {
  const { io } = context;
  const progress = await showProgress(context);
  const startMs = io.now();
  let saidMs = startMs;
  try {
    for await (const trades of input.source === undefined
      ? madeTrades(db, input, io)
      : replayedTrades(input, input.source, context)) {
      const added = addLiveTrades(db, trades, storedNow(db, io.now()));
      sum.trades += added.trades;
      sum.deliveries += added.deliveries;
      if (!progress.live && io.now() - saidMs < betweenLinesMs) continue;
      saidMs = io.now();
      progress.step(`${counted(sum.trades, 'trade')}, ${counted(sum.deliveries, 'delivery')}`);
    }
  } finally {
    progress.stop();
  }
  sum.seconds = Math.round((io.now() - startMs) / 100) / 10;
}

async function showSimulatePlan({ db, replay, speed, perSec, forMs }: Simulation, context: Context): Promise<Result> {
  const length = forMs === undefined ? '' : ` for ${forMs / 1000} s`;
  const what =
    replay === undefined
      ? `trades for ${(forMs ?? 60_000) / 1000} s, ${perSec ?? 1} a second`
      : `the trades of ${replay}, ${speed ?? 1} times as fast${length}`;
  return showPlan([{ action: 'make', what, detail: db ?? sandboxFile(context.io) }]);
}

const betweenLinesMs = 10_000;

async function* replayedTrades(input: Simulation, source: FileBytes, context: Context): AsyncGenerator<Trade[]> {
  const { io, warn } = context;
  const options = { chain: input.chain, preset: input.preset, map: {} };
  const trades: Trade[] = [];
  const counts = { rows: 0, rejected: 0 };
  const file = { name: `--replay ${source.name}`, events: readTrades(source, options) };
  for await (const batch of readBatches(file, counts, maxAtOnce)) trades.push(...batch);
  trades.sort((a, b) => a.atMs - b.atMs);
  const { rejected } = counts;
  if (rejected > 0) warn(`rejected ${counted(rejected, 'row')} of ${source.name}; sotra sandbox import shows why`);
  const { forMs = Number.POSITIVE_INFINITY, speed = 1 } = input;
  const firstMs = trades[0]?.atMs ?? 0;
  const run = `replay:${io.now()}:${io.pid}`;
  let next = 0;
  yield* paceTrades(io, (elapsedMs) => {
    if (next >= trades.length || elapsedMs > forMs) return undefined;
    const due: Trade[] = [];
    for (let trade = trades[next]; trade !== undefined && due.length < maxAtOnce; trade = trades[next]) {
      if ((trade.atMs - firstMs) / speed > elapsedMs) break;
      due.push({ ...trade, rowKey: `${run}:${trade.rowKey}` });
      next += 1;
    }
    return due;
  });
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
