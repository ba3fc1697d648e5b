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

const inputs = names.map((name) => `bench/${name}.ts`);
const bundle = await rolldown({ cwd: root, input: inputs, platform: 'node', external: ['libsql'], logLevel: 'silent' });
await bundle.write({ dir: out, format: 'esm', cleanDir: true });

const heads = ['what', 'floor', 'measured', 'ratio', 'spread', 'aim', 'met'];
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

/**
 * The table of all rows, a line each: medians, their ratio, the smallest and largest ratio of a round (without a floor: the smallest and
 * largest figure), the aim and whether it is met.
 */
function formatTable(rows) {
  const lines = [heads, ...rows.map(cellsOf)];
  const widths = heads.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  const padded = lines.map((line) => line.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join('  '));
  return padded.map((line) => `${line.trimEnd()}\n`).join('');
}

function cellsOf({ what, unit, measured, floor, atMost, atLeast }) {
  const figure = median(measured);
  const ratio = floor === undefined ? undefined : figure / median(floor);
  const judged = ratio ?? figure;
  const each = floor === undefined ? measured : measured.map((one, round) => one / (floor[round] ?? Number.NaN));
  const suffix = ratio === undefined ? ` ${unit}` : 'x';
  const bound = atMost ?? atLeast;
  const isMet = atMost === undefined ? judged >= (atLeast ?? Number.NaN) : judged <= atMost;
  return [
    what,
    floor === undefined ? '-' : `${short(median(floor))} ${unit}`,
    `${short(figure)} ${unit}`,
    ratio === undefined ? '-' : short(ratio),
    each.length < 2 ? '-' : `${short(Math.min(...each))}-${short(Math.max(...each))}`,
    bound === undefined ? '-' : `${atMost === undefined ? '>=' : '<='} ${bound}${suffix}`,
    bound === undefined ? '-' : isMet ? 'yes' : 'NO',
  ];
}

/** Three figures that count; whole numbers as they are. */
function short(figure) {
  if (Number.isInteger(figure) || Math.abs(figure) >= 100) return String(Math.round(figure));
  return figure.toPrecision(3);
}

function median(figures) {
  return [...figures].sort((a, b) => a - b)[figures.length >> 1];
}
