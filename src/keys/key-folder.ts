import { join } from 'node:path';
import type { Context } from '../context.ts';

/** The folder of the keys that sotra keeps, beside its settings. */
export async function keyFolder({ store }: Pick<Context, 'store'>): Promise<string> {
  return join((await store()).path, '..', 'keys');
}
