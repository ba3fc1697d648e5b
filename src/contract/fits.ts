import type { z } from 'zod';
import { isObject } from '../model/json.ts';

type Check = (value: unknown) => boolean;

/**
 * A quick check of JSON values: true only where the schema surely accepts the value; false means that the schema has to decide. Zod compiles a
 * schema when it reads its first value, which takes 10 ms for that of a profile.
 */
export function createFitCheck(): (schema: z.ZodType, value: unknown) => boolean {
  const known = new Map<z.ZodType, Check>();
  return (schema, value) => {
    const check = known.get(schema) ?? checkOf(schema);
    known.set(schema, check);
    return check(value);
  };
}

/** Knows types without further rules, defaults or transformations; the rest is left to zod. */
function checkOf(schema: z.core.$ZodType): Check {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  if (hasRules(def)) return unsure;
  switch (def.type) {
    case 'object':
      return checkOfObject(def);
    case 'array':
      return checkOfArray(checkOf(def.element));
    case 'record':
      return checkOfRecord(def);
    case 'union':
      return checkOfUnion(def.options.map(checkOf));
    case 'nullable':
      return checkOfNullable(checkOf(def.innerType));
    case 'enum':
      return checkOfValues(Object.values(def.entries));
    case 'literal':
      return checkOfValues(def.values);
    case 'string':
      return isPlain(def) ? (value) => typeof value === 'string' : unsure;
    case 'number':
      return isPlain(def) ? Number.isFinite : unsure;
    case 'boolean':
      return isPlain(def) ? (value) => typeof value === 'boolean' : unsure;
    default:
      return unsure;
  }
}

const unsure: Check = () => false;

/** Limits and refinements. */
function hasRules({ checks = [] }: z.core.$ZodTypeDef): boolean {
  return checks.length > 0;
}

/** `z.int()` and `z.email()` have a format; a coercing schema changes the value. */
function isPlain(def: { format?: unknown; coerce?: boolean }): boolean {
  return def.format === undefined && def.coerce !== true;
}

function checkOfNullable(check: Check): Check {
  return (value) => value === null || check(value);
}

function checkOfUnion([first = unsure, second = unsure, ...others]: readonly Check[]): Check {
  return others.length > 0 ? unsure : (value) => first(value) || second(value);
}

function checkOfValues(values: readonly unknown[]): Check {
  return (value) => values.includes(value);
}

function checkOfArray(item: Check): Check {
  return (value) => Array.isArray(value) && value.every(item);
}

function checkOfRecord({ keyType, valueType }: z.core.$ZodRecordDef): Check {
  const key = (keyType as z.core.$ZodTypes)._zod.def;
  if (key.type !== 'string' || !isPlain(key) || hasRules(key)) return unsure;
  const check = checkOf(valueType);
  return (value) => isObject(value) && Object.values(value).every(check);
}

/** Only of a loose object, which keeps fields that it does not know. */
function checkOfObject({ shape, catchall }: z.core.$ZodObjectDef): Check {
  if (catchall?._zod.def.type !== 'unknown') return unsure;
  const fields = Object.entries(shape).map(([key, schema]) => {
    const { def } = (schema as z.core.$ZodTypes)._zod;
    return def.type === 'optional' && !hasRules(def)
      ? { key, isOptional: true, check: checkOf(def.innerType) }
      : { key, isOptional: false, check: checkOf(schema) };
  });
  return (value) => {
    if (!isObject(value)) return false;
    for (const { key, isOptional, check } of fields) {
      const held = value[key];
      if (held === undefined ? !isOptional : !check(held)) return false;
    }
    return true;
  };
}

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
