import { test } from 'vitest';
import { fuzzFiles } from '../support/fuzz-files.ts';

// FUZZ_RUNS=20000 runs more of them.
const numRuns = Number(process.env['FUZZ_RUNS'] ?? 50);

test('whatever stands in the files it reads and in its variables, it says so and changes nothing', () =>
  fuzzFiles({ numRuns }));
