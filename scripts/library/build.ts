import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Plugin, rolldown } from 'rolldown';
import { isolatedDeclarationSync, parseSync } from 'rolldown/experimental';
import { chainDeclarations, methodDeclarations } from './declarations.ts';

/** Takes the words for people out of the endpoints: half of what a client would weigh. */
const unsaid: Plugin = {
  name: 'unsaid',
  transform: {
    filter: { id: /src\/api\/(?:comment|feed|follow|leaderboard|position|profile|webhook)\.ts$/ },
    handler: (code, id) => ({ code: blankProperties(code, id, ['examples', 'summary', 'description']), map: null }),
  },
};

interface Node {
  type: string;
  start: number;
  end: number;
  key?: { name?: string };
}

/** In their place are blanks, so that every place stays where it is. */
function blankProperties(code: string, id: string, names: readonly string[]): string {
  const found: Node[] = [];
  const look = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    const node = value as Node;
    if (node.type === 'Property' && names.includes(node.key?.name ?? '')) found.push(node);
    else Object.values(value).forEach(look);
  };
  look(parseSync(id, code).program);
  const blank = (text: string) => text.replaceAll(/\S/g, ' ');
  return found.reduce(
    (text, { start, end }) => text.slice(0, start) + blank(text.slice(start, end)) + text.slice(end).replace(/^,/, ' '),
    code,
  );
}

/** The entries that run everywhere: `sotra`, `sotra/webhook`, `sotra/signing`. */
const entries: readonly Record<string, string>[] = [
  { index: 'src/library/client.ts', signing: 'src/library/signing.ts' },
  // Shares nothing: it must be small.
  { webhook: 'src/library/webhook.ts' },
];

/** Writes the library beside the program. What is left to `sandbox` is in the program's own files. */
export async function buildLibrary(dir: string): Promise<void> {
  for (const input of entries) {
    const library = await rolldown({
      input,
      platform: 'browser',
      plugins: [unsaid],
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
  await writeTypes(`${dir}/types`, [...entries.flatMap((input) => Object.values(input)), 'src/library/sandbox.ts']);
}

/** Declarations that cannot be written from one file alone. */
const written: Readonly<Record<string, () => string | Promise<string>>> = {
  'src/library/methods.ts': methodDeclarations,
  'src/api/chain.ts': chainDeclarations,
};

/** Writes the declarations of these files and of all that they speak of. */
async function writeTypes(dir: string, files: readonly string[]): Promise<void> {
  const known = new Set(files);
  for (const file of known) {
    const text = (await written[file]?.()) ?? declarationsOf(file);
    for (const [, path = ''] of text.matchAll(/from ['"](\.[^'"]+)\.js['"]/g))
      known.add(join(dirname(file), `${path}.ts`));
    const target = join(dir, file.replace(/^src\//, '').replace(/\.ts$/, '.d.ts'));
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, text);
  }
}

function declarationsOf(file: string): string {
  const { code, errors } = isolatedDeclarationSync(file, readFileSync(file, 'utf8'), { stripInternal: true });
  if (errors.length > 0) throw new Error(`${file}: ${errors.map(({ message }) => message).join('; ')}`);
  return code.replaceAll(/(from ['"]\.[^'"]+)\.ts(['"])/g, '$1.js$2');
}
