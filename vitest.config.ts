import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

// Most code runs a few times: collecting garbage less often and in one thread, keeping what is compiled, and optimizing later is less work.
const workerFlags = [
  '--min-semi-space-size=32',
  '--max-semi-space-size=64',
  '--no-flush-bytecode',
  '--single-threaded-gc',
];
// Node 22 has no such budget any more.
if (Number.parseInt(process.versions.node, 10) < 22) workerFlags.push('--interrupt-budget=1000000');

/** Files that start processes come first: a start takes the longer the more memory a worker holds, and workers grow. */
class ProcessesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLater = ({ moduleId }: TestSpecification) =>
      Number(!/node:child_process|support\/processes/.test(readFileSync(moduleId, 'utf8')));
    return (await super.sort(files)).toSorted((one, other) => isLater(one) - isLater(other));
  }
}

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts', 'examples/*.test.ts'],
    globalSetup: 'test/support/build.ts',
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { interval: 5, timeout: 30_000 } },
    pool: 'forks',
    // What files load is loaded once: no test changes what others share.
    isolate: false,
    sequence: { sequencer: ProcessesFirst },
    // Of what did not change since the last run, the script is kept: 1.5 s of a file of tests.
    experimental: { fsModuleCache: true, fsModuleCachePath: 'node_modules/.cache/vitest' },
    // Each loads all of the source for itself.
    maxWorkers: availableParallelism(),
    execArgv: workerFlags,
    reporters: ['default', 'json'],
    outputFile: { json: 'node_modules/.cache/test-report.json' },
  },
});
