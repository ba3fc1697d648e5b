import { defineConfig } from 'vitest/config';

// What `npm run mutate` runs against each mutant: tests in this process alone, no build before them, one worker for all of them.
export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // What is mutated is loaded before any test: what a module does once, as it is loaded, is not laid to the test that happens to load it first.
    setupFiles: (process.env['SOTRA_MUTATED'] ?? '').split(' '),
    isolate: false,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
