import { z } from 'zod';

/** Fields that may be null or absent. */
export const text = z.string().nullable().optional();
export const number = z.number().nullable().optional();

/** A text of which the interface document lists the values; others are accepted too, unless `--strict` is given. */
export function knownText(values: readonly string[]) {
  return z
    .string()
    .refine((text) => values.includes(text), {
      error: ({ input }) => `${JSON.stringify(input)} is not one of ${values.join(', ')}`,
      params: { isUnknownValue: true },
    })
    .meta({ 'x-known-values': [...values] });
}
