import fc from 'fast-check';
import { size } from './size.ts';

// The suite draws the same values each time, so that it tells what a change did; FUZZ_SEED=new draws others, FUZZ_SEED=123 those of a failure.
const given = process.env['FUZZ_SEED'];
fc.configureGlobal({ numRuns: size(40, 100), ...(given !== 'new' && { seed: Number(given ?? 1) }) });

export { fc };
