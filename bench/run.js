// Bundles every bench/*.ts and runs them one after another (`npm run bench [-- name...]`); prints ratios, fails on nothing.
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../', import.meta.url));
const out = `${root}node_modules/.cache/bench`;
const asked = process.argv.slice(2);
const names = readdirSync(`${root}bench`)
  .filter((name) => name.endsWith('.ts'))
  .map((name) => name.slice(0, -'.ts'.length))
  .filter((name) => asked.length === 0 || asked.includes(name));

function node(...argv) {
  return spawnSync(process.execPath, argv, { cwd: root, stdio: 'inherit' }).status;
}

const inputs = names.map((name) => `bench/${name}.ts`);
const rolldown = 'node_modules/rolldown/bin/cli.mjs';
if (node(rolldown, ...inputs, '-d', out, '-p', 'node', '-f', 'esm', '-e', 'libsql', '--logLevel', 'silent') !== 0)
  process.exitCode = 1;
else
  for (const name of names) {
    process.stdout.write(`\n# ${name}\n`);
    node(`${out}/${name}.js`);
  }
