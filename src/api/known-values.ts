import { z } from 'zod';
import { isObject } from './json.ts';
import type { Mismatch } from './mismatch.ts';

const keyword = 'x-known-values';

/** A text of which the interface document lists the values; others are accepted too, unless `--strict` is given. */
export function knownText(values: readonly string[]) {
  return z.string().meta({ [keyword]: [...values] });
}

interface Json {
  [keyword]?: readonly string[];
  properties?: Readonly<Record<string, Json>>;
  items?: Json;
  additionalProperties?: Json | boolean;
  anyOf?: readonly Json[];
}

/** The first value of an answer that the document does not list; for `--strict`. */
export function findUnknownValue(schema: z.ZodType, answer: unknown): Mismatch | undefined {
  return findValueIn(z.toJSONSchema(schema, { unrepresentable: 'any', reused: 'inline' }) as Json, answer, []);
}

function findValueIn(json: Json, value: unknown, path: readonly PropertyKey[]): Mismatch | undefined {
  const known = json[keyword];
  if (known !== undefined && typeof value === 'string' && !known.includes(value))
    return { what: 'an unknown value', path, message: `${JSON.stringify(value)} is none of ${known.join(', ')}` };
  for (const variant of json.anyOf ?? []) {
    const found = findValueIn(variant, value, path);
    if (found !== undefined) return found;
  }
  const members = Array.isArray(value) ? value.entries() : isObject(value) ? Object.entries(value) : [];
  for (const [key, member] of members) {
    const other = typeof json.additionalProperties === 'object' ? json.additionalProperties : undefined;
    const held = typeof key === 'number' ? json.items : (json.properties?.[key] ?? other);
    const found = held && findValueIn(held, member, [...path, key]);
    if (found !== undefined) return found;
  }
  return undefined;
}
