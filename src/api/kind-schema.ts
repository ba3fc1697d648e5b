import { z } from 'zod';
import { checkValue, type Kind } from './kind.ts';

/** A kind as part of a schema that checks a file. */
export const kindSchema = <V>(kind: Kind<V>): z.ZodType<V> =>
  z.custom<V>((value) => checkValue(kind, value) === undefined, {
    error: ({ input }) => checkValue(kind, input)?.message ?? 'is not allowed',
  });
