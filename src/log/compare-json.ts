import { isObject } from '../model/json.ts';

/** What differs between two JSON values, a line for each place: `traders[0].pnl.total: 12 then, 13 now`. */
export function compareJson(before: unknown, after: unknown, place = ''): string[] {
  if (Object.is(before, after)) return [];
  const isList = Array.isArray(before) && Array.isArray(after);
  if (!isList && !(isObject(before) && isObject(after)))
    return [`${place || 'the answer'}: ${shorten(before)} then, ${shorten(after)} now`];
  const [old, now] = [before, after] as Record<string, unknown>[];
  return [...new Set([...Object.keys(old ?? {}), ...Object.keys(now ?? {})])].flatMap((key) =>
    compareJson(old?.[key], now?.[key], isList ? `${place}[${key}]` : place === '' ? key : `${place}.${key}`),
  );
}

const maxLength = 60;

function shorten(value: unknown): string {
  if (value === undefined) return 'nothing';
  const text = JSON.stringify(value);
  return text.length > maxLength ? `${text.slice(0, maxLength)}...` : text;
}
