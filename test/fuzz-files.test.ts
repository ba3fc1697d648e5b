import { test } from 'vitest';
import { fuzzFiles } from './fuzz-files.ts';

// FUZZ_RUNS=20000 runs more of them, FUZZ_SEED=... those of a failure again.
const runs = Number(process.env['FUZZ_RUNS'] ?? 1500);
const given = process.env['FUZZ_SEED'];
const seeds = given === undefined ? { 'the same': 1, 'ever new': undefined } : { given: Number(given) };

test.each(Object.entries(seeds))(
  'whatever stands in the files it reads and in its variables (%s ones), it says so and changes nothing',
  async (_, seed) => {
    const numRuns = Math.ceil(runs / Object.keys(seeds).length);
    await fuzzFiles(seed === undefined ? { numRuns } : { numRuns, seed });
  },
  36_000_000,
);
