import type { Kind } from '../contract/kind.ts';
import { defined } from '../model/json.ts';
import type { Field } from './outline.ts';

export type JsonSchema = Readonly<Record<string, unknown>>;

/** The JSON Schema of an object of these inputs, by their keys. Sources of types and ranges: the schemas of the parameters. */
export function makeInputSchema(fields: readonly Field[]): JsonSchema {
  const required = fields.filter(({ kind }) => !kind.optional).map(({ key }) => key);
  return {
    type: 'object',
    properties: Object.fromEntries(fields.map((field) => [field.key, makeFieldSchema(field)])),
    ...(required.length === 0 ? {} : { required }),
    additionalProperties: false,
  };
}

function makeFieldSchema({ kind, help, serviceDefault }: Field): JsonSchema {
  const description = serviceDefault === undefined ? help : `${help}; default: ${serviceDefault}`;
  const schema = kind.list
    ? { type: 'array', items: makeItemSchema(kind), ...defined({ maxItems: kind.maxItems }) }
    : makeItemSchema(kind);
  return { ...(kind.nullable ? orNull(schema) : schema), description };
}

function makeItemSchema({ type, choices, open, numeric, min, max, minLength, maxLength }: Kind): JsonSchema {
  switch (type) {
    case 'choice':
      if (open) return { type: 'string', examples: choices };
      return numeric ? { type: 'number', enum: choices.map(Number) } : { type: 'string', enum: choices };
    case 'integer':
    case 'number':
      return { type, ...defined({ minimum: min, maximum: max }) };
    case 'boolean':
      return { type };
    case 'json':
      return {};
    default:
      return { type: 'string', ...defined({ minLength, maxLength }) };
  }
}

function orNull(schema: JsonSchema): JsonSchema {
  const { type, enum: choices } = schema;
  return {
    ...schema,
    ...(type === undefined ? {} : { type: [type, 'null'] }),
    ...(Array.isArray(choices) ? { enum: [...choices, null] } : {}),
  };
}
