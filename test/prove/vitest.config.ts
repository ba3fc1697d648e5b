import { readdirSync, readFileSync } from 'node:fs';
import { defineConfig } from 'vitest/config';

/** Tests that `npm test` runs a part of, and those that use what does so. */
const sized = readdirSync('test', { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.test.ts'))
  .map((name) => `test/${name}`)
  .filter((name) => /support\/(size|naughty|draw)\.ts'/.test(readFileSync(name, 'utf8')));

// All that takes longer than the next edit may wait: `npm run prove`.
export default defineConfig({
  test: {
    root: '.',
    include: ['test/prove/**/*.prove.ts', ...sized],
    env: { SOTRA_PROVE: '1' },
    globalSetup: 'test/support/packed.ts',
    testTimeout: 600_000,
    hookTimeout: 60_000,
    expect: { poll: { interval: 5, timeout: 120_000 } },
    pool: 'forks',
    maxWorkers: 2,
    reporters: ['default', ['json', { outputFile: 'node_modules/.cache/prove-report.json' }]],
  },
});
