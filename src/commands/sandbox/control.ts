import type { IncomingHttpHeaders } from 'node:http';
import { parseDuration, parseRate } from '../../api/duration.ts';
import { isObject, tryParseJson } from '../../api/json.ts';
import { checkInput } from '../../api/request.ts';
import { sameText } from '../../api/webhook-signature.ts';
import type { Context } from '../../context.ts';
import { SotraError, usageError } from '../../errors.ts';
import { newRunToken } from '../../pages/guard.ts';
import { storedNow } from '../../sandbox/db/settings.ts';
import type { Db } from '../../sandbox/db/store.ts';
import { advanceClock, resetWorld } from '../../sandbox/db/world.ts';
import { addLiveTrades, addTradeNow, checkLiveTrade } from '../../sandbox/ledger/live-trades.ts';
import type { LiveTrade } from '../../sandbox/ledger/trade.ts';
import { tradeParams } from '../../sandbox/ledger/trade-params.ts';
import { type Fault, faultForm, parseFault } from '../../sandbox/serve/fault.ts';
import { type createRequestLog, maxLogged } from '../../sandbox/serve/request-log.ts';
import {
  controlHeader,
  cutQuery,
  type IncomingRequest,
  makeAnswer,
  readBearer,
  refused,
  type ServedAnswer,
  ServiceRefusal,
} from '../../sandbox/service/handler.ts';
import { madeTrades } from './made-trades.ts';
import { describeState } from './state.ts';

const root = '/_sandbox/';

interface ControlOptions {
  db: Db;
  io: Context['io'];
  warn: (text: string) => void;
  /** Those it was started with. */
  faults: readonly Fault[];
  status: unknown;
  log: ReturnType<typeof createRequestLog>;
  /** Restores the settings that the sandbox was started with. */
  onReset: () => void;
  stop: () => void;
}

type Action = (body: Readonly<Record<string, unknown>>, query: URLSearchParams) => unknown;

/** The control API of a served sandbox under /_sandbox/, which needs the token. */
export function createControl({ db, io, warn, faults: first, status, log, onReset, stop }: ControlOptions) {
  const { now } = io;
  const token = newRunToken();
  let faults = first;
  let simulation: { rate: string; stop: AbortController } | undefined;
  const describe = () => ({
    ...describeState(db, now()),
    faults: faults.map(({ text }) => text),
    simulation: simulation?.rate ?? null,
  });

  const simulate = async (rate: string, perSec: number): Promise<void> => {
    simulation?.stop.abort();
    const own = { rate, stop: new AbortController() };
    simulation = own;
    const signal = AbortSignal.any([own.stop.signal, io.signal]);
    const input = { perSec, forMs: Number.POSITIVE_INFINITY };
    try {
      for await (const trades of madeTrades(db, input, { ...io, signal })) {
        addLiveTrades(db, trades, storedNow(db, now()));
      }
    } catch (error) {
      warn(`the simulation ended: ${(error as Error).message}`);
    } finally {
      if (simulation === own) simulation = undefined;
    }
  };

  const mutating =
    (act: Action): Action =>
    async (...given) =>
      (await act(...given)) ?? describe();
  const actions: Readonly<Record<string, Action>> = {
    'GET world': describe,
    'GET status': () => status,
    'GET log': (_, query) => log.latest(Math.max(1, Number(query.get('limit')) || maxLogged)),
    'POST stop': () => {
      setImmediate(stop);
      return {};
    },
    'POST trade': mutating((body) => {
      const input = checkInput({ id: 'trade', params: tradeParams }, body) as unknown as LiveTrade;
      checkLiveTrade(input);
      return addTradeNow(db, input, storedNow(db, now()));
    }),
    'POST advance': mutating(({ duration }) => {
      const byMs = parseDuration(String(duration));
      if (byMs === undefined) throw usageError(`duration ${duration}: must be a time such as 12h or 8d`);
      advanceClock(db, byMs, now());
    }),
    'POST simulate': mutating(({ rate }) => {
      if (rate === null) return void simulation?.stop.abort();
      const perSec = parseRate(String(rate))?.perSec;
      if (perSec === undefined) throw usageError(`rate ${rate}: must be a rate such as 20/s or 300/m, at most 5000/s`);
      void simulate(String(rate), perSec);
    }),
    'POST faults': mutating(({ faults: given }) => {
      faults = readFaults([given].flat().map(String), 'fault');
    }),
    'POST reset': mutating(({ empty }) => {
      simulation?.stop.abort();
      resetWorld(db, now(), empty === true ? 'empty' : 'demo');
      onReset();
    }),
  };

  const respond = async (request: IncomingRequest, given: string): Promise<ServedAnswer> => {
    const { method, target } = request;
    if (!sameText(given, token)) throw new ServiceRefusal(401, 'wrong control token');
    const path = cutQuery(target);
    const name = path.slice(root.length);
    const known = Object.keys(actions).filter((key) => key.split(' ')[1] === name);
    if (known.length === 0) throw new ServiceRefusal(404, `no such endpoint: ${method} ${path}`);
    const act = actions[`${method} ${name}`];
    const allow = known[0]?.split(' ')[0] ?? '';
    if (act === undefined) throw new ServiceRefusal(405, `${path} takes ${allow}, not ${method}`, { allow });
    const body = method === 'GET' ? undefined : tryParseJson(await request.body());
    const query = new URLSearchParams(target.slice(path.length));
    return makeAnswer(200, JSON.stringify(await act(isObject(body) ? body : {}, query)));
  };
  return {
    token,
    faults: () => faults,
    /** Whether a request comes from the control API or the page, not from a user of the service. */
    isOwn: ({ target }: IncomingRequest, headers: IncomingHttpHeaders): boolean =>
      target.startsWith(root) || headers[controlHeader] === token,
    /** `undefined` for a request to the service. */
    answer: (request: IncomingRequest, headers: IncomingHttpHeaders): Promise<ServedAnswer> | undefined =>
      request.target.startsWith(root)
        ? respond(request, String(headers[controlHeader] ?? readBearer(request.authorization) ?? '')).catch(refuse)
        : undefined,
    stop: () => simulation?.stop.abort(),
  };
}

function refuse(thrown: unknown): ServedAnswer {
  if (!(thrown instanceof SotraError)) return refused(thrown);
  return refused(new ServiceRefusal(400, [thrown.message, thrown.hint].filter(Boolean).join('. ')));
}

/** Errors: `usage` for an invalid fault. */
export function readFaults(texts: readonly string[], label: string): readonly Fault[] {
  return texts.map((text) => {
    const fault = parseFault(text);
    if (fault === undefined) throw usageError(`${label} ${text}: ${faultForm}`);
    return fault;
  });
}
