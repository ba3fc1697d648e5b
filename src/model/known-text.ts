import { z } from 'zod';

/** A text of which the interface document lists the values; others are taken too, unless `--strict` is given. */
export function knownText(values: readonly string[]) {
  return z.string().meta({ 'x-known-values': [...values] });
}
