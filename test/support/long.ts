import { test } from 'vitest';
import { size } from './size.ts';

/** A test that takes long, of `npm run prove` alone. */
export const long: (name: string, run: () => void | Promise<void>) => void = size(0, 1) === 1 ? test : () => undefined;
