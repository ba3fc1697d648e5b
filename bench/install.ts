// How large the program is and how long `npm install -g` of its tarball takes. Packages come from npm's cache: a first round that is not counted
// fills it. Needs `npm run build` before.
import { execFileSync } from 'node:child_process';
import { lstatSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { report, temporaryFolder } from './measure/measure.ts';

const rounds = 3;
const folder = temporaryFolder();
const npm = (...argv: string[]) => execFileSync('npm', argv, { encoding: 'utf8' });
const [{ filename, size }] = JSON.parse(npm('pack', '--json', '--ignore-scripts', '--pack-destination', folder));
const [seconds, mb, packages]: [number[], number[], number[]] = [[], [], []];
for (let round = 0; round <= rounds; round += 1) {
  const prefix = join(folder, `round-${round}`);
  const started = performance.now();
  npm('install', '--global', '--prefix', prefix, '--prefer-offline', '--no-audit', '--no-fund', join(folder, filename));
  if (round > 0) {
    seconds.push((performance.now() - started) / 1000);
    const files = readdirSync(prefix, { recursive: true, withFileTypes: true });
    const bytes = files.map((file) => (file.isDirectory() ? 0 : lstatSync(join(file.parentPath, file.name)).size));
    mb.push(bytes.reduce((sum, each) => sum + each, 0) / 2 ** 20);
    packages.push(files.filter(({ name, parentPath }) => name === 'package.json' && isPackage(parentPath)).length);
  }
  rmSync(prefix, { recursive: true, force: true });
}
report([
  { what: 'tarball', unit: 'MB', measured: [size / 2 ** 20] },
  { what: 'npm install -g, on disk', unit: 'MB', measured: mb, atMost: 25 },
  { what: 'npm install -g, packages', unit: 'packages', measured: packages, atMost: 15 },
  { what: 'npm install -g, time', unit: 's', measured: seconds },
]);

function isPackage(path: string): boolean {
  return /node_modules\/(@[^/]+\/)?[^@/][^/]*$/.test(path);
}
