import { isObject } from '../api/json.ts';

/** A place where two JSON values differ, such as `traders[0].pnl.total`; `undefined` for a missing value. */
export interface JsonDifference {
  /** Empty for the whole. */
  place: string;
  before: unknown;
  after: unknown;
}

export function compareJson(before: unknown, after: unknown, place = ''): JsonDifference[] {
  if (Object.is(before, after)) return [];
  const isList = Array.isArray(before) && Array.isArray(after);
  if (!isList && !(isObject(before) && isObject(after))) return [{ place, before, after }];
  const [old, now] = [before, after] as Record<string, unknown>[];
  return [...new Set([...Object.keys(old ?? {}), ...Object.keys(now ?? {})])].flatMap((key) =>
    compareJson(old?.[key], now?.[key], isList ? `${place}[${key}]` : place === '' ? key : `${place}.${key}`),
  );
}
