import { z } from 'zod';
import type { WireNames } from '../contract/endpoint.ts';
import { tryParseJson } from '../model/json.ts';
import { getMeta, setMeta } from './db/clock.ts';
import type { Db } from './db/store.ts';

/** The form of answers that the service is known to give, where the interface document says something else. Source: wire-facts N3. */
const clickerWire = 'clicker';

/** Other names for parameters, by `operation.parameter` or `*.parameter`, or a known form of answers. */
export type Wire = WireNames | typeof clickerWire;

const namesSchema = z.record(z.string(), z.string());

export const wireForm = 'must be clicker, or names for parameters as JSON such as {"*.limit":"count"}';

/** Reads a `--wire`; `undefined` for other text. */
export function readWire(text: string): Wire | undefined {
  return text === clickerWire ? text : namesSchema.safeParse(tryParseJson(text)).data;
}

/** The names for parameters that a sandbox started so goes by. */
export function wireNamesOf(wire: Wire = {}): WireNames {
  return wire === clickerWire ? {} : wire;
}

const metaKey = 'answers';

/** Keeps the form of answers until the next start. */
export function keepAnswerForm(db: Db, wire: Wire | undefined): void {
  const form = wire === clickerWire ? clickerWire : 'document';
  if ((getMeta(db, metaKey) ?? 'document') !== form) setMeta(db, metaKey, form);
}

export function answersAsClicker(db: Db): boolean {
  return getMeta(db, metaKey) === clickerWire;
}
