import type { IncomingHttpHeaders } from 'node:http';
import { parseTime } from '../../api/duration.ts';
import { readMessage } from '../../errors.ts';
import type { Db } from '../../lib/files/database.ts';
import type { Io } from '../../lib/io.ts';
import { freezeClock, keepSettings, readWireNames, type Settings, storedNow, type Wire } from '../db/settings.ts';
import { ensureWorld } from '../db/world.ts';
import { startDeliverer } from '../deliver/deliver.ts';
import { refreshTotals } from '../ledger/figures.ts';
import type { IncomingRequest, ServedAnswer } from '../service/handler.ts';
import { allRoutes } from '../service/routes.ts';
import { answerer } from './answer.ts';
import type { Fault } from './fault.ts';
import { type ListenOptions, listen } from './listen.ts';

export interface WorldOptions extends Settings {
  empty?: boolean | undefined;
  /** A time at which the clock is frozen. */
  asOf?: string | undefined;
}

/** Fills a new database, and stores the settings that a sandbox is started with. */
export function setUpWorld(db: Db, options: WorldOptions, realNowMs: number): void {
  const frozenMs = options.asOf === undefined ? undefined : parseTime(options.asOf);
  if (frozenMs !== undefined) freezeClock(db, frozenMs);
  ensureWorld(db, realNowMs, options.empty ? 'empty' : 'demo');
  keepSettings(db, { ...options, wire: options.wire ?? {} });
}

interface ServeOptions extends Omit<ListenOptions, 'faulty'> {
  db: Db;
  port: number;
  wire: Wire;
  faults: readonly Fault[];
  io: Pick<Io, 'now' | 'sleep'>;
  warn: (text: string) => void;
  /** Answers a request instead of the service. */
  control?: (request: IncomingRequest, headers: IncomingHttpHeaders) => ServedAnswer | undefined;
}

/** Serves a database on 127.0.0.1, and delivers to its webhooks. `close` closes the database too. */
export async function serve({ db, port, wire, faults, io, warn, control, ...listening }: ServeOptions) {
  const stop = new AbortController();
  const sleep = (ms: number) => io.sleep(ms, stop.signal);
  // Loaded now: an update of the program may replace its files while this runs.
  await allRoutes();
  const answer = answerer({ db, now: io.now, wire: readWireNames(wire) });
  const server = await listen(async (request, headers) => control?.(request, headers) ?? answer(request), port, {
    faulty: { faults, sleep },
    ...listening,
  });
  const deliverer = startDeliverer({ db, now: io.now, sleep: io.sleep, warn });
  const refreshing = refreshOften(db, io, warn, stop.signal);
  return {
    url: server.url,
    close: async (): Promise<void> => {
      stop.abort();
      await server.close();
      await Promise.all([deliverer.stop(), refreshing]);
      db.close();
    },
  };
}

const refreshEveryMs = 5 * 60_000;

/** Keeps leaderboards quick while nothing is written. */
async function refreshOften(
  db: Db,
  { now, sleep }: Pick<Io, 'now' | 'sleep'>,
  warn: (text: string) => void,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      refreshTotals(db, storedNow(db, now()));
    } catch (error) {
      warn(`leaderboards may be slow for now: ${readMessage(error)}`);
    }
    await sleep(refreshEveryMs, signal).catch(() => undefined);
  }
}
