import { writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { defineConfig } from 'rolldown';

/** Writes what help and completion say of the commands beside the program, taken from the commands it has just built. */
const outlines = {
  name: 'outlines',
  async writeBundle({ dir = '' }: { dir?: string }) {
    const { outlineAll } = await import(pathToFileURL(`${dir}/program.cjs`).href);
    writeFileSync(`${dir}/outlines.json`, JSON.stringify(await outlineAll()));
  },
};

// One bundle split by command: everything but the database's native package travels inside dist/.
export default defineConfig({
  input: { main: 'src/main.ts', program: 'src/program.ts' },
  platform: 'node',
  external: ['libsql'],
  plugins: [outlines],
  output: {
    dir: 'dist',
    format: 'cjs',
    entryFileNames: '[name].cjs',
    chunkFileNames: '[name]-[hash].cjs',
    minify: true,
    // What every start needs is one file: each file more costs half a millisecond.
    codeSplitting: { groups: [{ name: 'start', test: /src\/(run|program)\.ts$/ }] },
    cleanDir: true,
  },
});
