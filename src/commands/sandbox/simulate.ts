import type { Chain } from '../../api/chain.ts';
import type { Context } from '../../context.ts';
import { SotraError, stopExitCode } from '../../errors.ts';
import { sandboxFile } from '../../lib/config/config.ts';
import type { Io } from '../../lib/io.ts';
import { settleOutbox } from '../../lib/outbox.ts';
import { showPlan } from '../../lib/output/confirm.ts';
import { counted } from '../../lib/output/format.ts';
import { showProgress } from '../../lib/output/progress.ts';
import type { Result } from '../../lib/output/view.ts';
import { storedNow } from '../../sandbox/db/settings.ts';
import type { Db } from '../../sandbox/db/store.ts';
import { countDeliveries, startDeliverer, stopDeliverer } from '../../sandbox/deliver/deliver.ts';
import { addLiveTrades, addTradeNow, checkLiveTrade, liveTrade } from '../../sandbox/ledger/live-trades.ts';
import type { LiveTrade, Trade } from '../../sandbox/ledger/trade.ts';
import { type Random, randomFrom } from '../../sandbox/serve/fault.ts';
import { withSandbox } from './open-sandbox.ts';
import type { SimulateInput } from './params.ts';
import type { SimulationReport } from './view.ts';

export async function tradeNow(input: LiveTrade & { db?: string | undefined }, context: Context): Promise<Result> {
  checkLiveTrade(input, '--');
  return withSandbox(context, { db: input.db }, async (db) => {
    const made = addTradeNow(db, input, storedNow(db, context.io.now()));
    if (made.isRepeated) context.note('This trade already exists: nothing was added.');
    await withDeliverer(db, context, async () => undefined);
    return { kind: 'answer', answer: { ...made, waiting: countDeliveries(db, 'waiting') } };
  });
}

/** Makes trades until the time is over or a signal comes, which sets the exit code. */
export async function simulate(input: SimulateInput, context: Context): Promise<Result> {
  const { io, options } = context;
  if (options.dryRun) return showSimulatePlan(input, context);
  return withSandbox(context, { db: input.db }, async (db) => {
    const batches = madeTrades(db, input, io);
    const sum: SimulationReport = { trades: 0, deliveries: 0, waiting: 0, seconds: 0 };
    await withDeliverer(db, context, () => addBatches(db, batches, sum, context));
    sum.waiting = countDeliveries(db, 'waiting');
    return { kind: 'answer', answer: sum, exitCode: io.signal.aborted ? stopExitCode(io.signal) : 0 };
  });
}

function showSimulatePlan({ db, rate, for: forMs = usualForMs }: SimulateInput, { io }: Context): Result {
  const what = `trades for ${forMs / 1000} s, ${rate?.perSec ?? 1} a second`;
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
    await settleOutbox(deliverer.outbox, io.signal);
  } finally {
    await stopDeliverer(deliverer);
  }
}

/** How long trades are made up if no time is given. */
const usualForMs = 60_000;

/** Batches of made-up trades as they are due, until the time is over or the signal aborts. Errors: `not-found` in a sandbox without trades. */
async function* madeTrades(db: Db, input: SimulateInput, io: Io): AsyncGenerator<Trade[]> {
  const markets = knownMarkets(db);
  if (markets.length === 0)
    throw new SotraError('not-found', 'the sandbox has no trades to continue from', {
      hint: 'Import trades first (sotra sandbox import), or use the built-in data (sotra sandbox reset).',
    });
  const random = randomFrom(input.seed ?? String(io.random()));
  const { rate: { perSec } = { perSec: 1 }, for: forMs = usualForMs } = input;
  const startMs = io.now();
  let made = 0;
  while (!io.signal.aborted) {
    const elapsedMs = Math.min(io.now() - startMs, forMs);
    const left = Math.max(0, Math.floor((elapsedMs / 1000) * perSec) - made);
    if (left === 0 && elapsedMs === forMs) return;
    const due = Math.min(left, maxAtOnce);
    made += due;
    if (due > 0)
      yield Array.from({ length: due }, () => liveTrade(makeTrade(db, random.pick(markets), random), io.now()));
    await io.sleep(due < maxAtOnce ? tickMs : 0, io.signal).catch(() => undefined);
  }
}

const tickMs = 20;
/** Most trades of one batch: after a jump of the clock many are due, and signals and deliveries get their turn between batches. */
const maxAtOnce = 1000;

interface Market {
  chain: Chain;
  trader: string;
  token: string;
  direction: '' | 'long' | 'short';
  price: number;
}

function knownMarkets(db: Db): Market[] {
  return db.all<Market>(
    `SELECT p.chain, p.wallet AS trader, p.token, p.direction, k.price FROM position p JOIN token k ON k.chain = p.chain AND k.address = p.token
     WHERE p.superseded = 0 AND k.price > 0 ORDER BY p.latest_ms DESC, p.id LIMIT 2000`,
  );
}

const buyShare = 0.65;

/** A made-up trade in one of the markets: mostly buys, at a price near the last; a sell sells a part of the holding. */
function makeTrade(db: Db, { chain, trader, token, direction, price }: Market, random: Random): LiveTrade {
  const held = db.value<number>(
    'SELECT amount FROM position WHERE wallet = ? AND chain = ? AND token = ? AND direction = ? AND superseded = 0',
    [trader, chain, token, direction],
  );
  const isShort = direction === 'short';
  const enters = random.chance(buyShare) || held === undefined || held * price < 1;
  const at = price * random.between(0.97, 1.03);
  const amount = enters ? random.between(20, 2500) / at : held * random.between(0.2, 1);
  const side = enters !== isShort ? 'buy' : 'sell';
  return {
    chain,
    trader,
    token,
    side,
    amount,
    usd: amount * at,
    direction: direction || undefined,
    leverage: direction === '' ? 1 : random.whole(1, 10),
  };
}
