import { defineConfig } from 'vitest/config';

// The long proofs: `npm run prove`.
export default defineConfig({
  test: {
    root: '.',
    include: ['test/prove/**/*.prove.ts'],
    globalSetup: 'test/support/packed.ts',
    pool: 'forks',
    fileParallelism: false,
  },
});
