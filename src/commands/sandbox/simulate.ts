import { existsSync } from 'node:fs';
import type { Result } from '../../cli/command.ts';
import type { Context } from '../../context.ts';
import { stopExitCode, usageError } from '../../errors.ts';
import { openSource } from '../../files/source.ts';
import { parseDuration, parseRate } from '../../model/duration.ts';
import { column, recordView } from '../../output/columns.ts';
import { showPlan } from '../../output/confirm.ts';
import { counted, formatCount } from '../../output/format.ts';
import { showProgress } from '../../output/progress.ts';
import { sandboxNow } from '../../sandbox/db/settings.ts';
import type { Db } from '../../sandbox/db/store.ts';
import { countDeliveries, startDeliverer } from '../../sandbox/deliver/deliver.ts';
import { readTradeRows } from '../../sandbox/trades/import-trades.ts';
import {
  addLiveTrades,
  addTradeNow,
  checkLiveTrade,
  madeTrades,
  maxAtOnce,
  paceTrades,
} from '../../sandbox/trades/live-trades.ts';
import { readTrades } from '../../sandbox/trades/read-trades.ts';
import type { LiveTrade, MadeTrade, Trade } from '../../sandbox/trades/trade.ts';
import { readSpeed, type SimulateInput } from './params.ts';
import { withWorld } from './state.ts';

export async function tradeNow(input: LiveTrade & { db?: string | undefined }, context: Context): Promise<Result> {
  checkLiveTrade(input, '--');
  return withWorld(input.db, context, async (db) => {
    const made = addTradeNow(db, input, sandboxNow(db, context.io.now()));
    if (made.isRepeated) context.note('This trade was there already: nothing was added.');
    await withDeliverer(db, context, async () => undefined);
    return { kind: 'answer', answer: { ...made, waiting: countDeliveries(db, 'waiting') }, view: traded };
  });
}

/**
 * Makes trades until the time is over, the file has ended or a signal comes, whose exit code it has where `--for` set the time. Errors:
 * `usage` for contradicting flags.
 */
export async function simulate(typed: SimulateInput, context: Context): Promise<Result> {
  const input = readPace(typed);
  if (input.replay !== undefined && input.perSec !== undefined)
    throw usageError('--replay has its own times: --rate does not apply', 'Use --speed.');
  if (input.replay === undefined && input.speed !== undefined)
    throw usageError('--speed is for --replay', 'Use --rate.');
  if (input.replay !== undefined && !existsSync(input.replay))
    throw usageError(`--replay ${input.replay}: no such file`);
  if (context.options.dryRun) return showSimulatePlan(input, context);
  return withWorld(input.db, context, async (db) => {
    const sum: SimulationReport = { trades: 0, deliveries: 0, waiting: 0, seconds: 0 };
    await withDeliverer(db, context, () => addBatches(db, input, sum, context));
    const { signal } = context.io;
    const exitCode = input.forMs !== undefined && signal.aborted ? stopExitCode(signal) : 0;
    return { kind: 'answer', answer: { ...sum, waiting: countDeliveries(db, 'waiting') }, view: simulated, exitCode };
  });
}

function readPace({ rate = '', for: length = '', speed = '', ...input }: SimulateInput) {
  return { ...input, perSec: parseRate(rate)?.perSec, forMs: parseDuration(length), speed: readSpeed(speed) };
}

type Simulation = ReturnType<typeof readPace>;

async function addBatches(db: Db, input: Simulation, sum: SimulationReport, context: Context): Promise<void> {
  const { io } = context;
  const progress = await showProgress(context);
  const startMs = io.now();
  let saidMs = startMs;
  try {
    for await (const trades of input.replay === undefined
      ? madeTrades(db, input, io)
      : replayedTrades(input, input.replay, context)) {
      const added = addLiveTrades(db, trades, sandboxNow(db, io.now()));
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
  return showPlan([{ action: 'make', what, detail: db ?? (await context.sandboxFile()) }]);
}

const betweenLinesMs = 10_000;

async function* replayedTrades(input: Simulation, file: string, context: Context): AsyncGenerator<Trade[]> {
  const { io, warn } = context;
  const options = { chain: input.chain, preset: input.preset, map: {} };
  const trades: Trade[] = [];
  const onTrades = (batch: readonly Trade[]): void => {
    trades.push(...batch);
  };
  const read = await readTradeRows(readTrades(openSource(file, io, `--replay ${file}`), options), { onTrades });
  if ('kind' in read) throw usageError(`--replay ${file}: ${read.message}`, read.hint);
  trades.sort((a, b) => a.atMs - b.atMs);
  const { rejected } = read;
  if (rejected > 0) warn(`rejected ${counted(rejected, 'row')} of ${file}; sotra sandbox import says why`);
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

/** Makes what `act` did arrive at the webhooks; what waits for a later try may remain. */
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

type TradeReport = MadeTrade & { waiting: number };

export const traded = recordView<TradeReport>(
  [
    column.text('chain', 'Chain', 'where'),
    column.text('trader', 'Trader', 'wallet'),
    column.text('token', 'Token', 'contract address, mint or symbol'),
    column.text('side', 'Side', 'buy or sell'),
    column.amount('amount', 'Amount', 'tokens'),
    column.usd('usd', 'Value', 'US dollars'),
    column.time('timestamp', 'Time', "by the sandbox's clock, Unix seconds"),
    column.text('transactionHash', 'Transaction', 'hash, or order id on hyperliquid'),
    column.text('positionId', 'Position', 'for position get'),
    column.count('deliveries', 'Deliveries', 'deliveries it made for webhooks'),
    column.count('waiting', 'Waiting', 'deliveries that wait for a later try'),
  ],
  { notes: deliveryNotes },
);

interface SimulationReport {
  trades: number;
  deliveries: number;
  waiting: number;
  seconds: number;
}

export const simulated = recordView<SimulationReport>(
  [
    column.count('trades', 'Trades', 'trades made'),
    column.count('deliveries', 'Deliveries', 'deliveries they made for webhooks'),
    column.count('waiting', 'Waiting', 'deliveries that wait for a later try'),
    column.text('seconds', 'Seconds', 'how long it took'),
  ],
  { notes: deliveryNotes },
);

function deliveryNotes({ waiting }: { waiting: number }): string[] {
  if (waiting === 0) return [];
  return [
    `${formatCount(waiting)} ${waiting === 1 ? 'delivery waits' : 'deliveries wait'} for a later try: sotra sandbox start makes it, or the next trade.`,
  ];
}
