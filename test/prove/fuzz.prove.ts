import { expect, test } from 'vitest';
import { fuzzFiles } from '../support/hostile/fuzz-files.ts';
import { fuzzLines } from '../support/hostile/fuzz-lines.ts';

// FUZZ_RUNS changes how many, FUZZ_SEED begins where a failure was; FUZZ_FILE=config.json harms only the files with that in their names.
const runs = Number(process.env['FUZZ_RUNS'] ?? 10_000);
const only = process.env['FUZZ_FILE'] ?? '';
const seed = Number(process.env['FUZZ_SEED'] ?? Math.floor(Math.random() * 2 ** 31));

test(`${runs} random command lines`, async () => {
  const started = performance.now();
  const codes = await fuzzLines({ numRuns: runs, seed });
  tell({ lines: runs, codes, seed, seconds: secondsSince(started) });
});

test(`${runs} random files (${only || 'all'}) and variables`, async () => {
  const started = performance.now();
  const tally = await fuzzFiles({ numRuns: runs, seed, only });
  tell({ files: tally, seed, seconds: secondsSince(started) });
  expect(tally.runs).toBe(runs);
});

function secondsSince(started: number): number {
  return Math.round((performance.now() - started) / 1000);
}

function tell(figures: object): void {
  process.stdout.write(`${JSON.stringify(figures)}\n`);
}
