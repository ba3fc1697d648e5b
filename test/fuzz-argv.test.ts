import { test } from 'vitest';
import { fuzzLines } from './fuzz-lines.ts';

// FUZZ_RUNS=20000 runs more of them, FUZZ_SEED=... those of a failure again.
const runs = Number(process.env['FUZZ_RUNS'] ?? 1500);
const given = process.env['FUZZ_SEED'];
const seeds = given === undefined ? { 'the same': 1, 'ever new': undefined } : { given: Number(given) };

test.each(Object.entries(seeds))(
  'no command line (%s ones) ends in a fault of ours, and JSON mode keeps its word',
  async (_, seed) => {
    const numRuns = Math.ceil(runs / Object.keys(seeds).length);
    await fuzzLines(seed === undefined ? { numRuns } : { numRuns, seed });
  },
  36_000_000,
);
