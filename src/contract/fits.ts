import { z } from 'zod';
import { isObject } from '../model/json.ts';

type Check = (value: unknown) => boolean;

/**
 * A quick check of JSON values: true only where the schema surely accepts the value; false means that the schema has to decide. Remembers
 * a schema from its second value on, or its first large one. Ignores refinements: schemas of answers have none.
 */
export function createFitCheck(): (schema: z.ZodType, value: unknown, isLarge?: boolean) => boolean {
  const known = new Map<z.ZodType, Check | undefined>();
  return (schema, value, isLarge = false) => {
    if (!known.has(schema) && !isLarge) {
      known.set(schema, undefined);
      return false;
    }
    const check = known.get(schema) ?? checkOf(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }));
    known.set(schema, check);
    return check(value);
  };
}

interface JsonSchema {
  type?: unknown;
  properties?: Record<string, JsonSchema>;
  required?: readonly string[];
  additionalProperties?: JsonSchema | boolean;
  items?: JsonSchema;
  anyOf?: readonly JsonSchema[];
  enum?: readonly unknown[];
  const?: unknown;
  propertyNames?: JsonSchema;
}

const unsure: Check = () => false;

/** Keywords that each type may have; any other makes the answer "unsure". */
const keywords = {
  object: ['type', 'properties', 'required', 'additionalProperties', 'propertyNames', '$schema'],
  array: ['type', 'items', '$schema'],
  string: ['type', 'enum', '$schema'],
  number: ['type', '$schema'],
  boolean: ['type', 'const', '$schema'],
  null: ['type', '$schema'],
} as const;

function checkOf(schema: object): Check {
  const { type, anyOf } = schema as JsonSchema;
  if (anyOf !== undefined) {
    const [first = unsure, second = unsure, ...more] = anyOf.map(checkOf);
    return Object.keys(schema).length + more.length > 1 ? unsure : (value) => first(value) || second(value);
  }
  if (Array.isArray(type)) return checkOf({ anyOf: type.map((each) => ({ ...schema, type: each })) });
  if (typeof type !== 'string' || !Object.hasOwn(keywords, type)) return unsure;
  const may: readonly string[] = keywords[type as keyof typeof keywords];
  return Object.keys(schema).every((key) => may.includes(key)) ? checkOfType(type, schema) : unsure;
}

function checkOfType(type: string, schema: JsonSchema): Check {
  switch (type) {
    case 'object':
      return schema.properties === undefined ? checkOfRecord(schema) : checkOfObject(schema, schema.properties);
    case 'array':
      return checkOfArray(checkOf(schema.items ?? {}));
    case 'string':
      return schema.enum === undefined
        ? (value) => typeof value === 'string'
        : (value) => schema.enum?.includes(value) === true;
    case 'number':
      return Number.isFinite;
    case 'boolean':
      return Object.hasOwn(schema, 'const') ? (value) => value === schema.const : (value) => typeof value === 'boolean';
    default:
      return (value) => value === null;
  }
}

function checkOfArray(item: Check): Check {
  return (value) => Array.isArray(value) && value.every(item);
}

function checkOfRecord({ propertyNames, additionalProperties }: JsonSchema): Check {
  if (typeof additionalProperties !== 'object' || propertyNames?.type !== 'string') return unsure;
  if (Object.keys(propertyNames).length > 1) return unsure;
  const check = checkOf(additionalProperties);
  return (value) => isObject(value) && Object.values(value).every(check);
}

function checkOfObject(
  { required = [], additionalProperties }: JsonSchema,
  properties: Record<string, JsonSchema>,
): Check {
  if (typeof additionalProperties !== 'object' || Object.keys(additionalProperties).length > 0) return unsure;
  const fields = Object.entries(properties).map(([key, schema]) => ({
    key,
    check: checkOf(schema),
    isRequired: required.includes(key),
  }));
  return (value) => {
    if (!isObject(value)) return false;
    for (const { key, check, isRequired } of fields) {
      const held = value[key];
      if (held === undefined ? isRequired : !check(held)) return false;
    }
    return true;
  };
}
