import { copyFileSync, cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { brotliCompressSync, constants } from 'node:zlib';
import { defineConfig, type Plugin, rolldown } from 'rolldown';
import { buildLibrary } from './scripts/library/build.ts';

/** Writes which modules each file of the bundle holds, for the tests that say what may be loaded when. */
const contents: Plugin = {
  name: 'contents',
  writeBundle(_, bundle) {
    const chunks = Object.values(bundle).flatMap((file) =>
      file.type === 'chunk' ? [[file.fileName, file.moduleIds.map((id) => relative('.', id))]] : [],
    );
    mkdirSync('node_modules/.cache', { recursive: true });
    writeFileSync('node_modules/.cache/chunks.json', JSON.stringify(Object.fromEntries(chunks)));
  },
};

/** As it lies beside the program, which would be a twelfth larger without. */
const packed = (bytes: Uint8Array) =>
  brotliCompressSync(bytes, {
    params: { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_LGWIN]: 24 },
  });

/** Puts what `--jq` runs on beside the program: in the text of a module it would take half as much again. */
const jq: Plugin = {
  name: 'jq',
  writeBundle({ dir = '' }) {
    writeFileSync(`${dir}/jq.wasm.br`, packed(readFileSync('node_modules/jq-wasm/dist/build/jq.wasm')));
  },
};

/** Writes the database of the demo world beside the program, from which a new sandbox is filled. */
const demo: Plugin = {
  name: 'demo',
  async writeBundle({ dir = '' }) {
    const maker = await rolldown({ input: 'scripts/demo/make.ts', platform: 'node', external: ['libsql'] });
    const file = 'node_modules/.cache/demo.cjs';
    await maker.write({ file, format: 'cjs' });
    const { makeDemo } = await import(pathToFileURL(file).href);
    makeDemo('node_modules/.cache/demo.db');
    writeFileSync(`${dir}/demo.db.br`, packed(readFileSync('node_modules/.cache/demo.db')));
  },
};

/** Puts the topics of `sotra help` beside the program. */
const helpPages: Plugin = {
  name: 'help-pages',
  writeBundle: ({ dir = '' }) => cpSync('src/commands/help/topics', `${dir}/topics`, { recursive: true }),
};

/** Commander imports it for subcommands that are programs of their own, of which there are none: it is a tenth of a start. */
const noPrograms: Plugin = {
  name: 'no-programs',
  resolveId: (id, importer = '') =>
    id === 'node:child_process' && importer.includes('node_modules/commander/') ? '\0no-programs' : null,
  load: (id) => (id === '\0no-programs' ? 'export default {};' : null),
};

/** Writes the library and its types beside the program. */
const library: Plugin = { name: 'library', writeBundle: ({ dir = '' }) => buildLibrary(dir) };

/** Writes the pages that commands serve: a script for each, what they share, their style. */
const pages: Plugin = {
  name: 'pages',
  async writeBundle({ dir = '' }) {
    const page = await rolldown({
      input: {
        ui: 'src/pages/browser/ui.tsx',
        wallet: 'src/pages/browser/wallet.tsx',
      },
      platform: 'browser',
      tsconfig: 'src/pages/browser/tsconfig.json',
    });
    await page.write({
      dir: `${dir}/web`,
      format: 'esm',
      minify: true,
      sourcemap: true,
      sourcemapExcludeSources: true,
      entryFileNames: '[name].js',
      chunkFileNames: 'shared.js',
    });
    for (const file of ['style.css', 'icon.svg']) copyFileSync(`src/pages/browser/${file}`, `${dir}/web/${file}`);
  },
};

const sharedByCommands = /src\/(commands\/endpoint-command|lib\/output\/columns|api\/holding)\.ts$/;
const sharedOfClient = /src\/client\/(secrets|shell|retry|paginate)\.ts$/;

/** The noun of its endpoints or of its commands. */
function nounOf(id: string): string | undefined {
  return /src\/(?:api|commands)\/(leaderboard|profile|follow|feed|position|comment|webhook)(?:\/(?:index|view))?\.ts$/.exec(
    id,
  )?.[1];
}

// One bundle split by command: everything but the database's native package travels inside dist/.
export default defineConfig({
  input: {
    main: 'src/main.ts',
    cli: 'src/cli.ts',
    'jq-thread': 'src/lib/output/jq-thread.ts',
    keyring: 'src/keyring.ts',
    sandbox: 'src/library/sandbox.ts',
  },
  platform: 'node',
  logLevel: 'warn',
  // What one command loads at once, another loads when it is needed.
  checks: { ineffectiveDynamicImport: false },
  // An entry that others import stays one file with them.
  preserveEntrySignatures: 'allow-extension',
  external: ['libsql'],
  plugins: [contents, noPrograms, jq, demo, helpPages, library, pages],
  output: {
    dir: 'dist',
    format: 'cjs',
    entryFileNames: '[name].cjs',
    chunkFileNames: '[name]-[hash].cjs',
    minify: true,
    sourcemap: true,
    sourcemapExcludeSources: true,
    // What is loaded together is one file, with what it imports: each file more costs half a millisecond.
    codeSplitting: {
      groups: [
        { name: 'zod', test: /node_modules\/zod\//, priority: 5 },
        { name: 'start', test: /src\/(cli|lib\/files\/asset)\.ts$/, priority: 4 },
        { name: 'columns', test: sharedByCommands, priority: 3 },
        { name: 'secrets', test: sharedOfClient, priority: 3 },
        { name: 'text-file', test: /src\/lib\/files\/text-file\.ts$/, priority: 3 },
        { name: nounOf, debugName: 'noun', priority: 2 },
        { name: 'call', test: /src\/commands\/(run-command|run-endpoint)\.ts$/, priority: 1 },
        { name: 'sandbox', test: /src\/sandbox\/\S*(answer|leaderboard)\.ts$/ },
      ],
    },
    cleanDir: true,
  },
});
