import type { z } from 'zod';
import { isObject } from './json.ts';

/** Where an answer differs from the contract. */
export interface Mismatch {
  what: 'an unexpected shape' | 'an unknown value';
  path: readonly PropertyKey[];
  message: string;
}

/**
 * The first place where a value does not fit its schema; `strict`: or has a value that the document does not list. Item by item: the schema
 * as a whole would report each of a million.
 */
export function findMismatch(schema: z.ZodType, value: unknown, strict = false): Mismatch | undefined {
  if (isSchema(schema, 'array') && Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      const mismatch = findMismatch(schema.def.element as z.ZodType, item, strict);
      if (mismatch !== undefined) return nestMismatch(index, mismatch);
    }
    return checkWhole(schema, value.slice(0, 1), strict);
  }
  if (!isSchema(schema, 'object') || !isObject(value)) return checkWhole(schema, value, strict);
  const lists = Object.keys(schema.def.shape).filter((key) => Array.isArray(value[key]));
  for (const key of lists) {
    const mismatch = findMismatch(schema.def.shape[key] as z.ZodType, value[key], strict);
    if (mismatch !== undefined) return nestMismatch(key, mismatch);
  }
  return checkWhole(schema, { ...value, ...Object.fromEntries(lists.map((key) => [key, []])) }, strict);
}

/** A mismatch in words, to follow "answered with". */
export function describeMismatch({ what, path, message }: Mismatch): string {
  return `${what} at ${path.join('.') || 'the answer'}: ${message}`;
}

function nestMismatch(key: PropertyKey, mismatch: Mismatch): Mismatch {
  return { ...mismatch, path: [key, ...mismatch.path] };
}

function checkWhole(schema: z.ZodType, value: unknown, strict: boolean): Mismatch | undefined {
  const issue = schema.safeParse(value).error?.issues.find((each) => strict || !isUnknownValue(each));
  const what = issue && isUnknownValue(issue) ? 'an unknown value' : 'an unexpected shape';
  return issue && { what, path: issue.path, message: issue.message };
}

/** Whether an issue is about a value that the document does not list. */
export function isUnknownValue(issue: z.core.$ZodIssue): boolean {
  return issue.code === 'custom' && issue.params?.['isUnknownValue'] === true;
}

interface Schemas {
  array: z.ZodArray;
  object: z.ZodObject;
}

function isSchema<T extends keyof Schemas>(schema: z.ZodType, type: T): schema is z.ZodType & Schemas[T] {
  return schema.def.type === type;
}
