// Keeps what a release promises to scripts and code, for the law that compares the next one with it (test/law/released.test.ts). Once a release, after
// its version is set and it is built: node bin/released.mjs
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';

/** What the built program promises: its version, the exit codes of its errors, its commands, the interface that it speaks, the types of its library. */
export async function readPromises() {
  const maker = await rolldown({ input: 'src/errors.ts', logLevel: 'silent' });
  const file = 'node_modules/.cache/errors.mjs';
  await maker.write({ file, format: 'esm' });
  const { errorExitCodes } = await import(pathToFileURL(file).href);
  const declarations = readdirSync('dist/types', { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.d.ts'),
  );
  return {
    version: JSON.parse(readFileSync('package.json', 'utf8')).version,
    errors: errorExitCodes,
    commands: keepCommands(sotra('commands', '--json')),
    openapi: keepOpenapi(sotra('openapi')),
    types: Object.fromEntries(
      declarations
        .sort()
        .map((name) => [name.replaceAll('\\', '/'), keepTypes(readFileSync(`dist/types/${name}`, 'utf8'))]),
    ),
  };
}

function sotra(...argv) {
  return JSON.parse(
    execFileSync(process.execPath, ['bin/sotra.js', ...argv], { encoding: 'utf8', maxBuffer: 2 ** 28 }),
  );
}

/** No texts, and nothing that follows from the rest. */
function keepCommands({ schemaVersion, commands }) {
  const kept = commands.map(({ command, inputs, globalFlags }) => [
    command,
    {
      globalFlags,
      inputs: Object.fromEntries(
        inputs.map(({ label, type, list, required, choices, min, max }) => [
          label,
          {
            type,
            list,
            required,
            ...(choices.length > 0 && { choices }),
            min: min ?? undefined,
            max: max ?? undefined,
          },
        ]),
      ),
    },
  ]);
  return { schemaVersion, commands: Object.fromEntries(kept) };
}

/** Without its texts. Below some keys are names, of which `description` may be one. */
function keepOpenapi(value, keysAreNames = false) {
  if (Array.isArray(value)) return value.map((each) => keepOpenapi(each));
  if (typeof value !== 'object' || value === null) return value;
  const texts = ['description', 'summary', 'example', 'examples', 'title', 'info', 'servers', 'tags'];
  const kept = Object.entries(value).filter(([key]) => keysAreNames || !(texts.includes(key) || key.startsWith('x-')));
  const names = ['properties', 'schemas', 'responses', 'paths'];
  return Object.fromEntries(kept.map(([key, each]) => [key, keepOpenapi(each, !keysAreNames && names.includes(key))]));
}

/** Without its comments. */
function keepTypes(text) {
  return text.replaceAll(/^\s*\/\*\*[\s\S]*?\*\/\n/gm, '');
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const file = 'test/data/released.json';
  const biome = ['node_modules/@biomejs/biome/bin/biome', 'format', `--stdin-file-path=${file}`];
  const input = JSON.stringify(await readPromises());
  writeFileSync(file, execFileSync(process.execPath, biome, { encoding: 'utf8', input }));
}
