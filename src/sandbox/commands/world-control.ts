import type { Context } from '../../context.ts';
import { checkInput, explainByKind } from '../../contract/request.ts';
import { usageError } from '../../errors.ts';
import { parseDuration, parseRate } from '../../model/duration.ts';
import { isObject } from '../../model/json.ts';
import { advanceTime, sandboxNow } from '../db/clock.ts';
import type { Db } from '../db/store.ts';
import { resetWorld } from '../db/world.ts';
import { whenFree } from '../http/answer.ts';
import type { ControlAction } from '../http/control.ts';
import { faultForm, parseFault } from '../http/fault.ts';
import { addLiveTrades, addTradeNow, checkLiveTrade, tradeParams } from '../trades/live-trades.ts';
import type { LiveTrade } from '../trades/trade.ts';
import { madeTrades } from './simulate.ts';
import { statusOf } from './state.ts';

interface WorldControlOptions {
  db: Db;
  world: Context['world'];
  warn: (text: string) => void;
  /** Those it was started with. */
  faults: readonly string[];
  onDone: () => void;
  /** Sets again what the sandbox was started with. */
  onReset: () => void;
}

/** What the control token allows to do with the world of a served sandbox; `faults` are those that are set now. */
export function createWorldControl({ db, world, warn, faults: first, onDone, onReset }: WorldControlOptions) {
  const { now } = world;
  let faults = first;
  let simulation: { rate: string; stop: AbortController } | undefined;
  const sleep = (ms: number) => world.sleep(ms, world.signal);
  const change = (act: () => unknown) => whenFree(act, sleep);
  const state = () => ({ ...statusOf(db, now()), faults, simulation: simulation?.rate ?? null });

  const simulate = async (rate: string, perSec: number): Promise<void> => {
    const stop = new AbortController();
    simulation?.stop.abort();
    const own = { rate, stop };
    simulation = own;
    const signal = AbortSignal.any([stop.signal, world.signal]);
    const input = { perSec, forMs: Number.POSITIVE_INFINITY };
    try {
      for await (const batch of madeTrades(db, input, { world: { ...world, signal } })) {
        const nowMs = sandboxNow(db, now());
        const trades = batch.map((trade) => trade(nowMs));
        await change(() => addLiveTrades(db, trades, nowMs));
      }
    } catch (error) {
      warn(`the simulation ended: ${(error as Error).message}`);
    } finally {
      if (simulation === own) simulation = undefined;
    }
  };

  const doing = (act: (body: Readonly<Record<string, unknown>>) => unknown): ControlAction => ({
    method: 'POST',
    act: async (_, body) => {
      const made = await act(isObject(body) ? body : {});
      onDone();
      return made ?? state();
    },
  });
  const actions: Record<string, ControlAction> = {
    world: { method: 'GET', act: state },
    deliveries: { method: 'GET', act: () => latestDeliveries(db) },
    trade: doing(async (body) => {
      const input = checkInput({ id: 'trade', params: tradeParams }, body, explainByKind) as unknown as LiveTrade;
      checkLiveTrade(input);
      return change(() => addTradeNow(db, input, sandboxNow(db, now())));
    }),
    advance: doing(async ({ duration }) => {
      const byMs = parseDuration(String(duration));
      if (byMs === undefined) throw usageError(`duration ${duration}: must be a time such as 12h or 8d`);
      await change(() => advanceTime(db, byMs, now()));
    }),
    simulate: doing(async ({ rate }) => {
      if (rate === null) return void simulation?.stop.abort();
      const perSec = parseRate(String(rate))?.perSec;
      if (perSec === undefined) throw usageError(`rate ${rate}: must be a rate such as 20/s or 300/m, at most 5000/s`);
      void simulate(String(rate), perSec);
    }),
    faults: doing(({ faults: given }) => {
      const texts = [given].flat().map(String);
      const wrong = texts.find((text) => parseFault(text) === undefined);
      if (wrong !== undefined) throw usageError(`fault ${wrong}: ${faultForm}`);
      faults = texts;
    }),
    reset: doing(async ({ empty }) => {
      simulation?.stop.abort();
      await change(() => {
        resetWorld(db, now(), empty === true ? 'empty' : 'demo');
        onReset();
      });
    }),
  };
  return { actions, faults: () => faults, stop: () => simulation?.stop.abort() };
}

const maxDeliveries = 1000;

/** The newest first; without what is sent. */
function latestDeliveries(db: Db) {
  return db.all(
    `SELECT d.seq, d.state, d.tries, d.status, d.error, e.type, e.at_ms AS atMs, e.id AS eventId, w.uid, w.destination_url AS url
     FROM delivery d JOIN event e ON e.id = d.event_id JOIN webhook w ON w.id = d.webhook_id ORDER BY d.seq DESC LIMIT ?`,
    [maxDeliveries],
  );
}
