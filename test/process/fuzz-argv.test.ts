import { test } from 'vitest';
import { fuzzLines } from '../support/fuzz-lines.ts';

// FUZZ_RUNS=20000 runs more of them.
const numRuns = Number(process.env['FUZZ_RUNS'] ?? 80);

test('no command line ends in a fault of ours, and JSON mode keeps its word', () => fuzzLines({ numRuns }));
