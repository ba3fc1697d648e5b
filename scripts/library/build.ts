import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { type Plugin, rolldown } from 'rolldown';
import { endpointTable } from '../../src/client/endpoint-table.ts';

/** Puts the table of endpoints into the client, without what it is made from. */
const table: Plugin = {
  name: 'endpoint-table',
  load: {
    filter: { id: /src\/client\/endpoint-table\.ts$/ },
    handler: () => `export const endpointTable = ${JSON.stringify(endpointTable)};`,
  },
};

/** The entries that run everywhere: `sotra`, `sotra/webhook`, `sotra/signing`. */
const entries: readonly Record<string, string>[] = [
  // They share nothing: each must be small.
  { index: 'src/client/create-client.ts' },
  { signing: 'src/library/signing.ts' },
  { webhook: 'src/library/webhook.ts' },
];

/** Writes the library beside the program. What is left to `sandbox` is in the program's own files. */
export async function buildLibrary(dir: string): Promise<void> {
  const types = writeTypes(`${dir}/types`);
  for (const input of entries) {
    const library = await rolldown({
      input,
      platform: 'browser',
      plugins: [table],
      treeshake: { manualPureFunctions: ['param', 'RegExp'] },
      // tweetnacl looks for a generator of random numbers, which a seed does not need.
      transform: { define: { 'typeof require': '"undefined"' } },
    });
    await library.write({
      dir: `${dir}/library`,
      format: 'esm',
      // Whoever reads a stack reads names; a bundler of theirs makes it small.
      sourcemap: true,
      entryFileNames: '[name].js',
      chunkFileNames: '[name]-[hash].js',
    });
  }
  writeFileSync(
    `${dir}/library/sandbox.js`,
    "import sandbox from '../sandbox.cjs';\nexport const { startSandbox } = sandbox;\n",
  );
  await types;
}

/** Writes the declarations of the entries and of what they name. */
async function writeTypes(dir: string): Promise<void> {
  const tsc = 'node_modules/typescript/lib/tsc.js';
  await promisify(execFile)(process.execPath, [tsc, '-p', 'scripts/library', '--outDir', dir]);
  const entryNames = ['client/create-client', 'library/webhook', 'library/signing', 'library/sandbox'];
  const named = new Set(entryNames.map((name) => `${name}.d.ts`));
  for (const file of named) {
    // tsc leaves the endings of imports as they are.
    const text = readFileSync(join(dir, file), 'utf8').replaceAll(/(['"])(\.[^'"]+)\.ts\1/g, '$1$2.js$1');
    writeFileSync(join(dir, file), text);
    for (const [, , path = ''] of text.matchAll(/(['"])(\.[^'"]+)\.js\1/g))
      named.add(join(dirname(file), `${path}.d.ts`));
  }
  for (const file of readdirSync(dir, { recursive: true, encoding: 'utf8' }))
    if (file.endsWith('.d.ts') && !named.has(file)) rmSync(join(dir, file));
}
