import { outlineAll } from '../../src/program.ts';

/** Every command as data, from its source; made once. */
export const outlines = await outlineAll();
