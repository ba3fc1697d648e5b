import { readdirSync, readFileSync } from 'node:fs';
import { defineConfig } from 'vitest/config';

/** Tests that `npm test` runs a part of, and those that use what does so. */
const sized = readdirSync('test', { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.test.ts'))
  .map((name) => `test/${name}`)
  .filter((name) => /support\/(size|draw|hostile\/corpus)\.ts'/.test(readFileSync(name, 'utf8')));

/** What CI proves: secrets, documents, uploads, the listener, a cluster, two pages in a browser, and the package. */
const inCi = [
  'test/prove/kills.prove.ts',
  'test/process/fault-target.test.ts',
  'test/prove/attacks-listener.prove.ts',
  'test/law/canary.test.ts',
  'test/law/documents.test.ts',
  'test/prove/cluster.prove.ts',
  'test/prove/browser-inbox.prove.ts',
  'test/prove/browser-wallet.prove.ts',
  'test/prove/package.prove.ts',
  'test/prove/install.prove.ts',
];

// What takes too long for every edit. `npm run prove` runs what CI proves, `npm run prove -- --all` all of it.
export default defineConfig({
  test: {
    root: '.',
    include: process.env['SOTRA_PROVE_ALL'] === '1' ? ['test/prove/**/*.prove.ts', ...sized] : inCi,
    env: { SOTRA_PROVE: '1' },
    globalSetup: 'test/support/packed.ts',
    // A machine that does much else takes many times as long; only what hangs comes to an end here.
    testTimeout: 1_200_000,
    hookTimeout: 600_000,
    expect: { poll: { interval: 5, timeout: 120_000 } },
    pool: 'forks',
    maxWorkers: 2,
    reporters: ['default', ['json', { outputFile: 'node_modules/.cache/prove-report.json' }]],
  },
});
