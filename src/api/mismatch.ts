import type { z } from 'zod';
import { isObject, shortJson } from './json.ts';

/**
 * The first place where a value does not fit its schema, in words that follow "answered with"; `strict`: or has a value that the document
 * does not list.
 */
export function findMismatch(schema: z.ZodType, value: unknown, strict = false): string | undefined {
  for (const { path, issue } of listIssues(schema, value)) {
    const isUnknown = isUnknownValue(issue);
    const what = isUnknown ? 'an unknown value' : 'an unexpected shape';
    if (!strict && isUnknown) continue;
    const found = describeType(pickValue(value, path));
    const wrong = 'expected' in issue ? `expected ${issue.expected}, found ${found}` : issue.message;
    return `${what} at ${path.join('.') || 'the answer'}: ${wrong}`;
  }
  return undefined;
}

/** Where an answer does not match the interface; `count`: in how many items of lists. */
export interface Difference {
  at: string;
  expected: string;
  found: string;
  count: number;
}

const maxDifferences = 20;

/** Where an answer does not match its schema, the same field of many items once. Values that the document does not list are none. */
export function findDifferences(schema: z.ZodType, data: unknown): Difference[] {
  const differences = new Map<string, Difference>();
  for (const { path, issue } of listIssues(schema, data)) {
    if (isUnknownValue(issue)) continue;
    const place = path.map((part) => (typeof part === 'number' ? '[]' : `.${String(part)}`)).join('');
    const at = place.replace(/^\./, '') || 'the answer';
    const expected = 'expected' in issue ? String(issue.expected) : issue.message;
    const known = differences.get(`${at} ${expected}`);
    if (known !== undefined) known.count += 1;
    else if (differences.size < maxDifferences)
      differences.set(`${at} ${expected}`, { at, expected, found: describeValue(pickValue(data, path)), count: 1 });
  }
  return [...differences.values()];
}

function pickValue(data: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((value, key) => (value as Record<PropertyKey, unknown> | null | undefined)?.[key], data);
}

function describeType(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  return Array.isArray(value) ? 'a list' : typeof value;
}

function describeValue(value: unknown): string {
  const type = describeType(value);
  return typeof value === 'object' || value === undefined ? type : `${type} ${shortJson(value)}`;
}

/** All places where a value does not fit its schema, lists item by item: the schema as a whole would report each of a million at once. */
function* listIssues(
  schema: z.ZodType,
  value: unknown,
  path: readonly PropertyKey[] = [],
): Generator<{ path: readonly PropertyKey[]; issue: z.core.$ZodIssue }> {
  let whole = value;
  if (isSchema(schema, 'array') && Array.isArray(value)) {
    for (const [index, item] of value.entries())
      yield* listIssues(schema.def.element as z.ZodType, item, [...path, index]);
    whole = [];
  } else if (isSchema(schema, 'object') && isObject(value)) {
    const lists = Object.keys(schema.def.shape).filter((key) => Array.isArray(value[key]));
    for (const key of lists) yield* listIssues(schema.def.shape[key] as z.ZodType, value[key], [...path, key]);
    whole = { ...value, ...Object.fromEntries(lists.map((key) => [key, []])) };
  }
  for (const issue of schema.safeParse(whole).error?.issues ?? []) yield { path: [...path, ...issue.path], issue };
}

/** Whether an issue is about a value that the document does not list. */
function isUnknownValue(issue: z.core.$ZodIssue): boolean {
  return issue.code === 'custom' && issue.params?.['isUnknownValue'] === true;
}

interface Schemas {
  array: z.ZodArray;
  object: z.ZodObject;
}

function isSchema<T extends keyof Schemas>(schema: z.ZodType, type: T): schema is z.ZodType & Schemas[T] {
  return schema.def.type === type;
}
