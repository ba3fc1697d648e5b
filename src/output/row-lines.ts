import { compactJson, jsonTokens } from './json.ts';

/** An answer, and the JSON text it was parsed from. */
interface Source {
  value: unknown;
  text: string | undefined;
}

/**
 * One line of JSON a row, without its end; a row that is part of the source stands as it came, numbers above 2^53 and all. Takes valid JSON
 * text; never throws.
 */
export function rowLines(rows: readonly unknown[], { value, text }: Source): readonly string[] {
  const came = text === undefined ? undefined : textsOf(new Set(rows), value, text);
  return rows.map((row) => came?.get(row) ?? JSON.stringify(row ?? null));
}

interface Place {
  value: unknown;
  /** The key or index that the next value stands at. */
  at: string | number;
  /** How many tokens came before it. */
  start: number;
}

/** The texts of the wanted objects and lists; of a repeated key it is the last value, as when parsed. */
function textsOf(wanted: ReadonlySet<unknown>, value: unknown, text: string): ReadonlyMap<unknown, string> {
  if (wanted.has(value)) return new Map([[value, compactJson(text)]]);
  const found = new Map<unknown, string>();
  const tokens: string[] = [];
  const open: Place[] = [];
  for (const token of jsonTokens(text)) {
    const top = open.at(-1);
    if (token === '{' || token === '[') {
      const held =
        top === undefined ? value : (top.value as Record<string | number, unknown> | null | undefined)?.[top.at];
      open.push({ value: held, at: token === '[' ? 0 : '', start: tokens.length });
    } else if (token === ',' && typeof top?.at === 'number') top.at += 1;
    else if (token.startsWith('"') && typeof top?.at === 'string' && tokens.at(-1) !== ':') top.at = JSON.parse(token);
    tokens.push(token);
    if (token !== '}' && token !== ']') continue;
    const done = open.pop();
    if (done !== undefined && wanted.has(done.value)) found.set(done.value, tokens.slice(done.start).join(''));
  }
  return found;
}
