import type { IncomingHttpHeaders } from 'node:http';
import type { Db } from '../files/database.ts';
import { parseTime } from '../model/duration.ts';
import { allRoutes, routesUnder } from '../resources/routes.ts';
import { freezeClock, moreChainsKey, setMeta } from './db/clock.ts';
import { ensureWorld } from './db/world.ts';
import { startDeliverer } from './deliver/deliver.ts';
import { answerer } from './http/answer.ts';
import { type Fault, parseFault } from './http/fault.ts';
import { type ListenOptions, listen } from './http/listen.ts';
import type { Answer, IncomingRequest } from './http/service.ts';
import { keepAnswerForm, type Wire, wireNamesOf } from './wire.ts';

export interface WorldOptions {
  empty?: boolean | undefined;
  /** A time at which the clock is frozen. */
  asOf?: string | undefined;
  eligibility?: 'any' | 'public' | undefined;
  serviceName?: string | undefined;
  layout?: string | undefined;
  /** Chains that it takes beside those of the document. */
  chains?: readonly string[] | undefined;
  /** How it answers. */
  wire?: Wire | undefined;
}

/** Fills a new database, and keeps what a sandbox is started with. */
export function setUpWorld(db: Db, options: WorldOptions, realNowMs: number): void {
  const { empty, asOf } = options;
  const frozenMs = asOf === undefined ? undefined : parseTime(asOf);
  if (frozenMs !== undefined) freezeClock(db, frozenMs);
  ensureWorld(db, realNowMs, empty ? 'empty' : 'demo');
  keepSettings(db, options);
}

/** Keeps what does not change with the world: call it again where the world is replaced. */
export function keepSettings(db: Db, { eligibility, serviceName, layout, chains, wire }: WorldOptions): void {
  keepAnswerForm(db, wire);
  if (eligibility !== undefined) setMeta(db, 'eligibility', eligibility);
  if (serviceName !== undefined) setMeta(db, 'signing.serviceName', serviceName);
  if (layout !== undefined) setMeta(db, 'signing.layout', layout);
  if (chains !== undefined) setMeta(db, moreChainsKey, chains.join(','));
}

interface ServeOptions {
  db: Db;
  port: number;
  wire: Wire;
  /** Each in the form of `--fault`; asked for at each request. */
  faults: () => readonly string[];
  world: {
    now: () => number;
    sleep: (ms: number, signal: AbortSignal) => Promise<void>;
    pid: number;
    isAlive: (pid: number) => boolean;
    warn: (text: string) => void;
  };
  /** Answers a request in place of the service. */
  control?: (request: IncomingRequest, headers: IncomingHttpHeaders) => Promise<Answer> | undefined;
  onAnswered?: ListenOptions['onAnswered'];
  isOwn?: ListenOptions['isOwn'];
  cors?: ListenOptions['cors'];
}

/** Serves a database on this machine, and delivers to its webhooks. `close` closes the database too. */
export async function serve(options: ServeOptions): Promise<{ url: string; close: () => Promise<void> }> {
  const { db, port, wire, faults, world, control, onAnswered, isOwn, cors } = options;
  // From here on requests wait for other processes' writes one by one.
  db.setBusyTimeout(0);
  const stop = new AbortController();
  const sleep = (ms: number) => world.sleep(ms, stop.signal);
  // Now, as an update of the program replaces its files while this runs.
  await allRoutes();
  const answer = answerer({ db, routesUnder, now: world.now, wire: wireNamesOf(wire), sleep });
  const server = await listen(async (request, headers) => control?.(request, headers) ?? answer(request), port, {
    faulty: { faults: parsedOnce(faults), sleep },
    ...(isOwn && { isOwn }),
    ...(onAnswered && { onAnswered }),
    ...(cors !== undefined && { cors }),
  });
  const deliverer = startDeliverer({ db, ...world });
  return {
    url: server.url,
    close: async () => {
      stop.abort();
      await server.close();
      await deliverer.stop();
      db.close();
    },
  };
}

/** The faults of the latest texts, which count what they met as long as the texts stay. */
function parsedOnce(textsNow: () => readonly string[]): () => readonly Fault[] {
  let texts: readonly string[] = [];
  let faults: readonly Fault[] = [];
  return () => {
    if (texts !== textsNow()) {
      texts = textsNow();
      faults = texts.flatMap((text) => parseFault(text) ?? []);
    }
    return faults;
  };
}
