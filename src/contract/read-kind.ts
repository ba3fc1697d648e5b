import { z } from 'zod';
import type { Kind } from './kind.ts';

type JsonSchema = {
  type?: string | string[];
  enum?: unknown[];
  anyOf?: JsonSchema[];
  items?: JsonSchema;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  minLength?: number;
  maxLength?: number;
  maxItems?: number;
  'x-open'?: boolean;
};

/** The kind of a parameter's schema, read from the JSON Schema of its input side. */
export function readKind(schema: z.ZodType): Kind {
  const json = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as JsonSchema;
  const optional = schema.safeParse(undefined).success;
  const variants = (json.anyOf ?? [json]).flatMap(oneTypeEach);
  const nullable = variants.some((variant) => variant.type === 'null');
  const main = variants.find((variant) => variant.type !== 'null') ?? {};
  const list = main.type === 'array';
  const held = list ? (main.items ?? {}) : json;
  // A list of choices that a service may know more of stands beside any text.
  const choice = held['x-open'] === true ? held.anyOf?.find((each) => each.enum !== undefined) : undefined;
  const item = choice ?? (list ? held : main);
  return {
    type: readType(item),
    list,
    nullable,
    optional,
    choices: (item.enum ?? []).map(String),
    ...(choice === undefined ? {} : { open: true }),
    ...(item.enum?.every((choice) => typeof choice === 'number') ? { numeric: true } : {}),
    ...pickNumber('min', item.minimum ?? (item.exclusiveMinimum === undefined ? undefined : item.exclusiveMinimum + 1)),
    ...pickNumber('max', item.maximum === Number.MAX_SAFE_INTEGER ? undefined : item.maximum),
    ...pickNumber('minLength', item.minLength),
    ...pickNumber('maxLength', item.maxLength),
    ...pickNumber('maxItems', list ? main.maxItems : undefined),
  };
}

/** `type: ['string', 'null']` as two variants. */
function oneTypeEach(json: JsonSchema): JsonSchema[] {
  return Array.isArray(json.type) ? json.type.map((type) => ({ ...json, type })) : [json];
}

function pickNumber(key: string, value: number | undefined): Record<string, number> {
  return value === undefined || value === Number.MIN_SAFE_INTEGER ? {} : { [key]: value };
}

function readType(json: JsonSchema): Kind['type'] {
  if (json.enum) return 'choice';
  if (json.type === 'integer') return 'integer';
  if (json.type === 'number') return 'number';
  if (json.type === 'boolean') return 'boolean';
  if (json.type === 'string') return 'text';
  return 'json';
}
