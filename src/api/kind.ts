import { z } from 'zod';

/** What a schema asks for, in the few kinds that flags and query strings can carry. */
export interface Kind {
  type: 'text' | 'integer' | 'number' | 'boolean' | 'choice' | 'json';
  list: boolean;
  nullable: boolean;
  optional: boolean;
  choices: readonly string[];
  /** The choices are numbers. */
  numeric?: boolean;
  min?: number;
  max?: number;
  minLength?: number;
  maxLength?: number;
  maxItems?: number;
}

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
};

/** The kind of a parameter's schema, read through the public JSON Schema of its input side. Never throws. */
export function kindOf(schema: z.ZodType): Kind {
  const json = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as JsonSchema;
  const optional = schema.safeParse(undefined).success;
  const variants = (json.anyOf ?? [json]).flatMap(oneTypeEach);
  const nullable = variants.some((variant) => variant.type === 'null');
  const main = variants.find((variant) => variant.type !== 'null') ?? {};
  const list = main.type === 'array';
  const item = list ? (main.items ?? {}) : main;
  return {
    type: typeOf(item),
    list,
    nullable,
    optional,
    choices: (item.enum ?? []).map(String),
    ...(item.enum?.every((choice) => typeof choice === 'number') ? { numeric: true } : {}),
    ...pick('min', item.minimum ?? (item.exclusiveMinimum === undefined ? undefined : item.exclusiveMinimum + 1)),
    ...pick('max', item.maximum === Number.MAX_SAFE_INTEGER ? undefined : item.maximum),
    ...pick('minLength', item.minLength),
    ...pick('maxLength', item.maxLength),
    ...pick('maxItems', list ? main.maxItems : undefined),
  };
}

/** `type: ['string', 'null']` as two variants. */
function oneTypeEach(json: JsonSchema): JsonSchema[] {
  return Array.isArray(json.type) ? json.type.map((type) => ({ ...json, type })) : [json];
}

function pick(key: string, value: number | undefined): Record<string, number> {
  return value === undefined || value === Number.MIN_SAFE_INTEGER ? {} : { [key]: value };
}

function typeOf(json: JsonSchema): Kind['type'] {
  if (json.enum) return 'choice';
  if (json.type === 'integer') return 'integer';
  if (json.type === 'number') return 'number';
  if (json.type === 'boolean') return 'boolean';
  if (json.type === 'string') return 'text';
  return 'json';
}

/** The kind in words, to end "must be ...": `a whole number from 1 to 250`, `one of 7d, 30d`. Never throws. */
export function describeKind(kind: Kind): string {
  const one = describeItem(kind);
  const orNull = kind.nullable ? `${one}, or null` : one;
  return kind.maxItems === undefined ? orNull : `${orNull} (at most ${kind.maxItems} of them)`;
}

function describeItem({ type, choices, min, max, minLength, maxLength }: Kind): string {
  const range =
    min !== undefined && max !== undefined
      ? ` from ${min} to ${max}`
      : min !== undefined
        ? ` of at least ${min}`
        : max !== undefined
          ? ` of at most ${max}`
          : '';
  const length =
    minLength !== undefined && maxLength !== undefined
      ? `${minLength} to ${maxLength} characters`
      : minLength === 1
        ? 'text that is not empty'
        : 'text';
  switch (type) {
    case 'choice':
      return choices.length === 1 ? String(choices[0]) : `one of ${choices.join(', ')}`;
    case 'integer':
      return `a whole number${range}`;
    case 'number':
      return `a number${range}`;
    case 'boolean':
      return 'true or false';
    case 'json':
      return 'JSON';
    default:
      return length;
  }
}

/**
 * One item of text as the value its kind asks for; `undefined` where the text is not of that kind. Text and choices come
 * back as they are, choices among numbers as numbers: whether they are allowed is the schema's question. Never throws.
 */
export function readItem(kind: Kind, text: string): string | number | boolean | object | undefined {
  switch (kind.type) {
    case 'integer':
      return /^-?\d{1,15}$/.test(text) ? Number(text) : undefined;
    case 'choice':
      return kind.numeric ? (kind.choices.includes(text) ? Number(text) : undefined) : text;
    case 'number':
      return /^-?(\d+\.?\d*|\.\d+)(e[+-]?\d{1,3})?$/i.test(text) ? Number(text) : undefined;
    case 'boolean':
      return text === 'true' ? true : text === 'false' ? false : undefined;
    case 'json':
      return readJson(text);
    default:
      return text;
  }
}

function readJson(text: string): object | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
