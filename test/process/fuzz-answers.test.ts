import { test } from 'vitest';
import { fuzzAnswers } from '../support/fuzz-answers.ts';
import { size } from '../support/size.ts';

// FUZZ_RUNS=20000 runs more of them.
const numRuns = Number(process.env['FUZZ_RUNS'] ?? size(20, 60));

test('whatever the service answers, it is shown or told, and steers no terminal', () => fuzzAnswers({ numRuns }));

test('so are long answers, errors among them', () => fuzzAnswers({ numRuns: Math.ceil(numRuns / 20), bytes: 30_000 }));
