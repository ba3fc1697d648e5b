import type { WireNames } from '../../api/endpoint.ts';
import { isObject, tryParseJson } from '../../api/json.ts';
import type { Db } from './store.ts';

export function getMeta(db: Db, key: string): string | undefined {
  return db.value('SELECT value FROM meta WHERE key = ?', [key]);
}

/** Chains that this world accepts in addition to the documented ones. */
export function moreChains(db: Db): readonly string[] {
  return getMeta(db, 'chains')?.split(',') ?? [];
}

export function setMeta(db: Db, key: string, value: string): void {
  const sql = 'INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value';
  db.run(sql, [key, value]);
}

/** The sandbox's time by the real one, both in Unix milliseconds, as the clock is set now. */
export function sandboxNow(db: Db, realNowMs: number): number {
  const frozen = getMeta(db, 'clock.frozenMs');
  return frozen === undefined ? realNowMs + Number(getMeta(db, 'clock.offsetMs') ?? 0) : Number(frozen);
}

/** What is added to a stored time to get the time of the clock: it moves a world in time without changing rows. */
export function worldOffset(db: Db): number {
  return Number(getMeta(db, offsetKey) ?? 0);
}

export function setWorldOffset(db: Db, offsetMs: number): void {
  setMeta(db, offsetKey, String(offsetMs));
}

export const offsetKey = 'world.offsetMs';

/** The sandbox's time as stored in tables. */
export function storedNow(db: Db, realNowMs: number): number {
  return sandboxNow(db, realNowMs) - worldOffset(db);
}

/** Turns stored times into Unix seconds of the sandbox's clock. */
export function secondsOf(db: Db): (storedMs: number) => number {
  const offsetMs = worldOffset(db);
  return (storedMs) => Math.floor((storedMs + offsetMs) / 1000);
}

export function freezeClock(db: Db, atMs: number): void {
  setMeta(db, 'clock.frozenMs', String(atMs));
}

/** Settings that a sandbox is started with. */
export interface Settings {
  eligibility?: 'any' | 'public' | undefined;
  serviceName?: string | undefined;
  layout?: string | undefined;
  /** Chains that it accepts in addition to the documented ones. */
  chains?: readonly string[] | undefined;
  /** How it answers. */
  wire?: Wire | undefined;
}

/** Keeps settings until others are given. Writes only what differs, so that readers do not wait for writers. */
export function keepSettings(db: Db, { eligibility, serviceName, layout, chains, wire }: Settings): void {
  const kept = {
    eligibility,
    'signing.serviceName': serviceName,
    'signing.layout': layout,
    chains: chains?.join(','),
    answers: wire && (wire === clickerWire ? clickerWire : 'document'),
  };
  for (const [key, value] of Object.entries(kept))
    if (value !== undefined && getMeta(db, key) !== value) setMeta(db, key, value);
}

export function answersAsClicker(db: Db): boolean {
  return getMeta(db, 'answers') === clickerWire;
}

/** Answers in the form of the public deployment, which differs from the interface document. Source: wire-facts N3. */
const clickerWire = 'clicker';

/** Other names for parameters, by `operation.parameter` or `*.parameter`, or a known form of answers. */
export type Wire = WireNames | typeof clickerWire;

export const wireForm = 'must be clicker, or names for parameters as JSON such as {"*.limit":"count"}';

/** Reads a `--wire`; `undefined` for other text. */
export function readWire(text: string): Wire | undefined {
  if (text === clickerWire) return text;
  const names = tryParseJson(text);
  const isWire = isObject(names) && Object.values(names).every((name) => typeof name === 'string');
  return isWire ? (names as WireNames) : undefined;
}

/** The parameter names of a `--wire`. */
export function readWireNames(wire: Wire = {}): WireNames {
  return wire === clickerWire ? {} : wire;
}
