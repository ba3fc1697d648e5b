// Bundles every bench/*.ts, runs them one after another (`npm run bench [-- [--node <path>] name...]`), each on this same Node or on the
// one at that path, and prints one table of the rows they report; fails on nothing.
import { spawn, spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { rolldown } from 'rolldown';

const root = fileURLToPath(new URL('../', import.meta.url));
const out = `${root}node_modules/.cache/bench`;
const { positionals: asked, values } = parseArgs({ allowPositionals: true, options: { node: { type: 'string' } } });
const node = values.node ?? process.execPath;
const known = readdirSync(`${root}bench`)
  .filter((name) => name.endsWith('.ts'))
  .map((name) => name.slice(0, -'.ts'.length));
const names = known.filter((name) => asked.length === 0 || asked.includes(name));
const unknown = asked.filter((name) => !known.includes(name));
if (unknown.length > 0) process.stderr.write(`no such bench: ${unknown.join(', ')} (there are ${known.join(', ')})\n`);

const inputs = [...names.map((name) => `bench/${name}.ts`), 'bench/measure/table.ts'];
const bundle = await rolldown({ cwd: root, input: inputs, platform: 'node', external: ['libsql'], logLevel: 'silent' });
await bundle.write({ dir: out, format: 'esm', cleanDir: true });

const rows = [];
let [running, isStopped] = [undefined, false];
const stop = () => {
  isStopped = true;
  running?.kill();
};
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, stop);
// Where npm is stopped, it does not tell us.
const parent = process.ppid;
setInterval(() => process.ppid !== parent && stop(), 500).unref();
for (const name of names) {
  if (isStopped) break;
  process.stderr.write(`# ${name}\n`);
  running = spawn(node, [`${out}/${name}.js`], { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  for await (const chunk of running.stdout.setEncoding('utf8')) text += chunk;
  rows.push(...rowsIn(text));
}
const { formatTable } = await import(`${out}/table.js`);
const version = spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout.trim();
process.stdout.write(`\nNode ${version}, ${process.platform}, ${cpus().length} processors\n`);
process.stdout.write(formatTable(rows));

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
