import { setTimeout as sleep } from 'node:timers/promises';
import { parseDuration, parseTime } from '../api/duration.ts';
import { checkWireNames, local } from '../api/endpoint.ts';
import { endpoints } from '../api/endpoints.ts';
import { layouts, matching } from '../api/formats.ts';
import { isOrigin, originForm } from '../api/http-address.ts';
import { choice, formatted, integer, json, listOf, optional, text } from '../api/kind.ts';
import { checkInput } from '../api/request.ts';
import { usageError, withoutHint, withoutHints } from '../errors.ts';
import { readWire, readWireNames, sandboxNow, storedNow, wireForm } from '../sandbox/db/settings.ts';
import { openDb } from '../sandbox/db/store.ts';
import { advanceClock, sandboxPartners } from '../sandbox/db/world.ts';
import { addTradeNow, checkLiveTrade } from '../sandbox/ledger/live-trades.ts';
import { type LiveTrade, type MadeTrade, tradeParams } from '../sandbox/ledger/trade.ts';
import { faultForm, parseFault } from '../sandbox/serve/fault.ts';
import { serve, setUpWorld } from '../sandbox/serve/serve.ts';

export type { LiveTrade, MadeTrade };

/** How a sandbox starts. */
export interface SandboxOptions {
  /** Port on 127.0.0.1; default 0, which takes a free one. */
  port?: number | undefined;
  /** Its first contents: the demo world (the default), or nothing. */
  seed?: 'demo' | 'empty' | undefined;
  /** A time at which the clock is frozen, such as `2026-11-20T12:00:00Z`; default: the real time. */
  asOf?: string | Date | undefined;
  /** Faults to inject, in the form of `sotra sandbox start --fault`: `503:every=3:GET /v1/feed/**`. */
  faults?: readonly string[] | undefined;
  /** First word of the signed texts that it accepts; default `Sandbox`. */
  serviceName?: string | undefined;
  /** Layout of those texts; default `five-line`. */
  layout?: 'five-line' | 'blank-line' | undefined;
  /** The origins of pages that may call it from a browser, such as `http://localhost:5173`; default: none. */
  cors?: string | readonly string[] | undefined;
  /** Other names for parameters, or `clicker`: perps without a sign, closed ones with the amount that they last had. */
  wire?: Readonly<Record<string, string>> | 'clicker' | undefined;
}

/** A sandbox that runs in this process; each is a world of its own, in memory. */
export interface Sandbox {
  /** The base URL. */
  url: string;
  /** The keys of its two partners. */
  keys: [string, string];
  /** Moves its clock forward, by milliseconds or a text such as `8d`; returns its new time. Errors: SotraError `usage`. */
  advance: (by: number | string) => Date;
  /** Makes a trade happen now, with everything that follows: position, feed, webhooks. Errors: SotraError `usage`. */
  trade: (trade: LiveTrade) => MadeTrade;
  /** Stops it; nothing of it remains. */
  close: () => Promise<void>;
}

/** Starts a sandbox for tests. Errors: SotraError `usage` for a wrong option, `config` for a port that is taken. */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const { port = 0, seed = 'demo', asOf, faults = [], serviceName, layout, cors = [], wire = {} } = options;
  check(options);
  const db = openDb(':memory:');
  try {
    const atText = asOf instanceof Date ? asOf.toISOString() : asOf;
    setUpWorld(db, { empty: seed === 'empty', asOf: atText, serviceName, layout, wire }, Date.now());
    const io = { now: Date.now, sleep: (ms: number, signal: AbortSignal) => sleep(ms, undefined, { signal }) };
    const parsed = faults.flatMap((text) => parseFault(text) ?? []);
    const { url, close } = await serve({
      db,
      port,
      wire,
      faults: parsed,
      io,
      warn: () => undefined,
      cors: [cors].flat(),
    });
    let closing: Promise<void> | undefined;
    const whileOpen = <T>(act: () => T): T => {
      if (closing !== undefined) throw usageError('the sandbox is closed');
      return withoutHints(act);
    };
    return {
      url,
      keys: [sandboxPartners[0].key, sandboxPartners[1].key],
      advance: (by) =>
        whileOpen(() => {
          const byMs = typeof by === 'number' ? by : parseDuration(by);
          if (byMs === undefined || !(byMs >= 0))
            throw usageError(`advance ${JSON.stringify(by)}: must be milliseconds, or a time such as 90s, 12h or 8d`);
          advanceClock(db, byMs, Date.now());
          return new Date(sandboxNow(db, Date.now()));
        }),
      trade: (trade) =>
        whileOpen(() => {
          checkInput({ id: 'trade', params: tradeParams }, { ...trade });
          checkLiveTrade(trade);
          return addTradeNow(db, trade, storedNow(db, Date.now()));
        }),
      close: () => {
        closing ??= close();
        return closing;
      },
    };
  } catch (thrown) {
    db.close();
    throw withoutHint(thrown);
  }
}

const kinds = {
  port: integer(0, 65_535),
  seed: choice(['demo', 'empty']),
  asOf: formatted(matching((typed) => parseTime(typed) !== undefined, 'must be a time such as 2026-11-20T12:00:00Z')),
  faults: listOf(formatted(matching((typed) => parseFault(typed) !== undefined, faultForm))),
  serviceName: text({ minLength: 0 }),
  layout: choice(layouts),
  cors: listOf(formatted(matching(isOrigin, originForm))),
  wire: json({}, (wire) => (readOptionWire(wire) === undefined ? wireForm : undefined)),
};

const optionParams = Object.fromEntries(Object.entries(kinds).map(([key, kind]) => [key, local(optional(kind), '')]));

function check(options: SandboxOptions): void {
  const { asOf, cors, wire = {} } = options;
  const atText = asOf instanceof Date ? asOf.toJSON() : asOf;
  const given = { ...options, asOf: atText, cors: cors === undefined ? undefined : [cors].flat() };
  checkInput({ id: 'startSandbox', params: optionParams }, given);
  checkWireNames(readWireNames(readOptionWire(wire)), endpoints, 'wire');
}

function readOptionWire(wire: unknown) {
  return readWire(typeof wire === 'string' ? wire : JSON.stringify(wire));
}
