// Bundles every bench/*.ts, runs them one after another (`npm run bench [-- [--node <path>] name...]`), each on this same Node or on the
// one at that path, and prints one table of the rows they report; fails on nothing.
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const root = fileURLToPath(new URL('../', import.meta.url));
const out = `${root}node_modules/.cache/bench`;
const { positionals: asked, values } = parseArgs({ allowPositionals: true, options: { node: { type: 'string' } } });
const node = values.node ?? process.execPath;
const known = readdirSync(`${root}bench`)
  .filter((name) => name.endsWith('.ts'))
  .map((name) => name.slice(0, -'.ts'.length));
const names = known.filter((name) => asked.length === 0 || asked.includes(name));
const strangers = asked.filter((name) => !known.includes(name));
if (strangers.length > 0)
  process.stderr.write(`no such bench: ${strangers.join(', ')} (there are ${known.join(', ')})\n`);

const inputs = [...names.map((name) => `bench/${name}.ts`), 'bench/measure/table.ts'];
const flags = ['-d', out, '-p', 'node', '-f', 'esm', '-e', 'libsql', '--cleanDir', '--logLevel', 'silent'];
const bundled = spawnSync(process.execPath, ['node_modules/rolldown/bin/cli.mjs', ...inputs, ...flags], {
  cwd: root,
  stdio: ['ignore', 'ignore', 'inherit'],
});

if (bundled.status === 0) {
  const rows = names.flatMap((name) => {
    process.stderr.write(`# ${name}\n`);
    const { stdout } = spawnSync(node, [`${out}/${name}.js`], {
      cwd: root,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
      maxBuffer: 2 ** 26,
    });
    return rowsIn(stdout);
  });
  const { formatTable } = await import(`${out}/table.js`);
  const version = spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout.trim();
  process.stdout.write(`\nNode ${version}, ${process.platform}, ${cpus().length} processors\n`);
  process.stdout.write(formatTable(rows));
}

/** The rows among the lines a bench printed; what is none is passed on as it is. */
function rowsIn(text) {
  return text.split('\n').flatMap((line) => {
    try {
      return [JSON.parse(line)].filter((row) => Array.isArray(row?.measured));
    } catch {
      if (line !== '') process.stderr.write(`${line}\n`);
      return [];
    }
  });
}
