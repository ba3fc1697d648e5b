/** In place of `zod` in the built library, which would weigh half as much again: zod/mini, with the chained methods that the contract uses. */
import * as mini from 'zod/mini';

mini.config(mini.locales.en());

type Schema = mini.ZodMiniType;
type Shape = Record<string, Schema>;

const sizes = {
  number: { min: mini.minimum, max: mini.maximum },
  text: { min: mini.minLength, max: mini.maxLength },
};

function chain(schema: Schema): Schema {
  const addCheck = (rule: unknown) => chain(schema.check(rule as never));
  const { min, max } = schema.def.type === 'number' ? sizes.number : sizes.text;
  return Object.assign(schema, {
    optional: () => chain(mini.optional(schema)),
    nullable: () => chain(mini.nullable(schema)),
    min: (least: number) => addCheck(min(least)),
    max: (most: number) => addCheck(max(most)),
    refine: (allows: (value: unknown) => boolean, message: string) => addCheck(mini.refine(allows, message)),
    superRefine: (look: Parameters<typeof mini.superRefine>[0]) => addCheck(mini.superRefine(look)),
    // Only JSON Schema holds it, which the library has not.
    meta: () => schema,
    extend: (more: Shape) => chain(mini.extend(schema as mini.ZodMiniObject, more)),
  });
}

export const z = {
  string: (): Schema => chain(mini.string()),
  number: (): Schema => chain(mini.number()),
  int: (): Schema => chain(mini.int()),
  boolean: (): Schema => chain(mini.boolean()),
  array: (item: Schema): Schema => chain(mini.array(item)),
  looseObject: (shape: Shape): Schema => chain(mini.looseObject(shape)),
  record: (key: mini.ZodMiniString, value: Schema): Schema => chain(mini.record(key, value)),
  enum: (values: readonly string[]): Schema => chain(mini.enum(values as string[])),
  literal: (value: string | number | boolean): Schema => chain(mini.literal(value)),
  custom: (allows: (value: unknown) => boolean, message: string): Schema => chain(mini.custom(allows, message)),
  union: (members: readonly Schema[]): Schema => chain(mini.union(members)),
};
