import type { z } from 'zod';
import { isObject } from '../model/json.ts';

/** What is wrong with a value, and where; the first issue only: the schema would report each of a million items. */
export function firstIssue(schema: z.ZodType, value: unknown): Pick<z.core.$ZodIssue, 'path' | 'message'> | undefined {
  if (isSchema(schema, 'array') && Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      const issue = firstIssue(schema.element as z.ZodType, item);
      if (issue !== undefined) return { ...issue, path: [index, ...issue.path] };
    }
    return schema.safeParse(value.slice(0, 1)).error?.issues[0];
  }
  if (!isSchema(schema, 'object') || !isObject(value)) return schema.safeParse(value).error?.issues[0];
  const lists = Object.keys(schema.shape).filter((key) => Array.isArray(value[key]));
  for (const key of lists) {
    const issue = firstIssue(schema.shape[key] as z.ZodType, value[key]);
    if (issue !== undefined) return { ...issue, path: [key, ...issue.path] };
  }
  return schema.safeParse({ ...value, ...Object.fromEntries(lists.map((key) => [key, []])) }).error?.issues[0];
}

interface Schemas {
  array: z.ZodArray;
  object: z.ZodObject;
}

function isSchema<T extends keyof Schemas>(schema: z.ZodType, type: T): schema is z.ZodType & Schemas[T] {
  return schema.type === type;
}
