import type { JsonSchema } from '../cli/input-schema.ts';
import type { Tool } from './tool.ts';

/** A tool as clients are told of it. */
export function definitionOf({ name, description, access, inputSchema, ...tool }: Tool) {
  return {
    name,
    description,
    inputSchema: sharedShapes(inputSchema) as { type: 'object' },
    ...(access === 'read' && { outputSchema: answerSchema as { type: 'object' } }),
    annotations: {
      readOnlyHint: access === 'read',
      destructiveHint: tool.isDestructive === true,
      idempotentHint: tool.isIdempotent === true,
      openWorldHint: tool.isLocal !== true,
    },
  };
}

/** What the answer of a tool that reads looks like. */
const answerSchema: JsonSchema = {
  type: 'object',
  properties: { rows: { type: 'array' }, complete: { type: 'boolean' } },
  required: ['rows', 'complete'],
};

/** Shorter shapes cost less than a reference to them. */
const minLength = 40;

/** The same schema, in which the shapes of several inputs stand once, in `$defs`. Bounds of texts are left to the check of the input. */
function sharedShapes(schema: JsonSchema): JsonSchema {
  const inputs = Object.entries(schema['properties'] as Record<string, JsonSchema>).map(([name, input]) => {
    const { description, minLength: _, ...shape } = input;
    return { name, shape, text: JSON.stringify(shape), more: description === undefined ? {} : { description } };
  });
  const isShared = (text: string) =>
    text.length >= minLength && inputs.filter((input) => input.text === text).length > 1;
  const names = new Map(inputs.filter(({ text }) => isShared(text)).map(({ name, text }) => [text, name]));
  const properties = inputs.map(({ name, shape, text, more }): [string, JsonSchema] => {
    const shared = names.get(text);
    return [name, { ...(shared === undefined ? shape : { $ref: `#/$defs/${shared}` }), ...more }];
  });
  const shared = [...names].map(([text, name]) => [name, inputs.find((input) => input.text === text)?.shape]);
  return {
    ...schema,
    properties: Object.fromEntries(properties),
    ...(shared.length === 0 ? {} : { $defs: Object.fromEntries(shared) }),
  };
}
