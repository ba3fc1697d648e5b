import { defineConfig } from 'vitest/config';

// What `npm run mutate` runs against each mutant: tests in this process alone, no build before them, one worker for all of them.
export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    setupFiles: ['test/prove/mutate-setup.ts'],
    isolate: false,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
