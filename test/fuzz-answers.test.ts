import { test } from 'vitest';
import { fuzzAnswers } from './fuzz-answers.ts';

// FUZZ_RUNS=20000 runs more of them, FUZZ_SEED=... those of a failure again.
const runs = Number(process.env['FUZZ_RUNS'] ?? 400);
const given = process.env['FUZZ_SEED'];
const seeds = given === undefined ? { 'the same': 1, 'ever new': undefined } : { given: Number(given) };

test.each(Object.entries(seeds))(
  'whatever the service answers (%s answers), it is shown or told, and steers no terminal',
  async (_, seed) => {
    const numRuns = Math.ceil(runs / Object.keys(seeds).length);
    await fuzzAnswers(seed === undefined ? { numRuns } : { numRuns, seed });
  },
  36_000_000,
);
