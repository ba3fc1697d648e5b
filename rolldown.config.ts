import { defineConfig } from 'rolldown';

// One bundle split by command: everything but the database's native package travels inside dist/.
export default defineConfig({
  input: { main: 'src/main.ts' },
  platform: 'node',
  external: ['libsql'],
  output: {
    dir: 'dist',
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: '[name]-[hash].js',
    minify: true,
    cleanDir: true,
  },
});
