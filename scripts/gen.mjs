// Writes what is derived from the commands (`npm run gen`), or says what is stale (`npm run gen -- --check`).
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const root = new URL('../', import.meta.url);
const pathOf = (name) => fileURLToPath(new URL(name, root));

function sotra(...argv) {
  const { stdout, stderr, status } = spawnSync(process.execPath, [pathOf('bin/sotra.js'), ...argv], {
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(stderr);
  return stdout;
}

/** What a TypeScript file of this folder exports. */
async function load(input, name) {
  const maker = await rolldown({ input: pathOf(input), platform: 'node' });
  const file = pathOf(`node_modules/.cache/${name}.cjs`);
  await maker.write({ file, format: 'cjs' });
  return import(file);
}

const { completionScripts } = await load('scripts/completions/scripts.ts', 'completions');
const { commandTables, errorTables } = await load('scripts/docs/tables.ts', 'docs');
const { loadProgram } = await import('../dist/cli.cjs');
const out = { width: 80, isTTY: false, colorLevel: 0 };
const program = await loadProgram({ out, err: out, version: '' });
const completions = completionScripts(program);

// As the formatter of the project writes it, so that a hand's touch shows.
function formatted(name, text) {
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    [pathOf('node_modules/@biomejs/biome/bin/biome'), 'format', `--stdin-file-path=${name}`],
    { encoding: 'utf8', input: text, cwd: pathOf('.') },
  );
  if (status !== 0) throw new Error(stderr);
  return stdout;
}

/** Below the words that a person wrote. */
function replaceGenerated(text, content) {
  const start = '<!-- generated -->\n';
  const from = text.indexOf(start);
  if (from === -1) throw new Error(`no line ${start.trim()} to write below`);
  return `${text.slice(0, from + start.length)}${content}`;
}

const generated = {
  'src/api/openapi.json': () => formatted('src/api/openapi.json', sotra('openapi')),
  'completions/sotra.bash': () => completions.bash,
  'completions/_sotra': () => completions.zsh,
  'completions/sotra.fish': () => completions.fish,
  'completions/sotra.ps1': () => completions.powershell,
  'docs/commands.md': (now) => replaceGenerated(now, commandTables(program)),
  'docs/errors.md': (now) => replaceGenerated(now, errorTables()),
  'docs/scaling.md': (now) => replaceGenerated(now, `\`\`\`text\n${sotra('help', 'scaling')}\`\`\`\n`),
};

const stale = Object.entries(generated).filter(([name, make]) => {
  const now = existsSync(pathOf(name)) ? readFileSync(pathOf(name), 'utf8') : '';
  const next = make(now);
  if (next === now) return false;
  if (!process.argv.includes('--check')) writeFileSync(pathOf(name), next);
  return true;
});
const names = stale.map(([name]) => name).join(', ');
if (!process.argv.includes('--check')) process.stdout.write(`written: ${names || 'nothing, all up to date'}\n`);
else if (names !== '') {
  process.stderr.write(`stale: ${names}; run npm run gen\n`);
  process.exitCode = 1;
}
