// How large the program is and how long `npm install -g` of its tarball takes, beside resend-cli if the registry has it. Both come
// from npm's cache: a first round that is not counted fills it. Needs `npm run build` before.
import { spawnSync } from 'node:child_process';
import { lstatSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Row, report } from './measure/row.ts';

const rounds = 3;
const folder = mkdtempSync(join(tmpdir(), 'sotra-bench-'));
try {
  measureInstalls();
} finally {
  rmSync(folder, { recursive: true, force: true });
}

interface Installation {
  seconds: number;
  mb: number;
  packages: number;
}

function measureInstalls(): void {
  const packed: [{ filename: string; size: number }] = JSON.parse(npm('pack', '--json', '--ignore-scripts'));
  const tarball = join(folder, packed[0].filename);
  const taken: Record<'ours' | 'other', Installation[]> = { ours: [], other: [] };
  let other: string | undefined = 'resend-cli';
  for (let round = 0; round <= rounds; round += 1) {
    const ours = install(tarball);
    if (round > 0) taken.ours.push(ours);
    try {
      const theirs = other === undefined ? undefined : install(other);
      if (round > 0 && theirs !== undefined) taken.other.push(theirs);
    } catch (error) {
      process.stderr.write(`without resend-cli: ${String(error)}\n`);
      other = undefined;
    }
  }
  const row = (what: string, unit: Row['unit'], figure: keyof Installation): Row => ({
    what: `npm install -g, ${what}`,
    unit,
    measured: taken.ours.map((each) => each[figure]),
  });
  const beside = (each: Row, figure: keyof Installation): Row[] =>
    other === undefined
      ? []
      : [{ ...each, what: `${each.what}, resend-cli`, floor: taken.other.map((one) => one[figure]) }];
  const [disk, packages, time] = [
    row('on disk', 'MB', 'mb'),
    row('packages', 'packages', 'packages'),
    row('time', 's', 'seconds'),
  ];
  report([
    { what: 'tarball', unit: 'MB', measured: [packed[0].size / 2 ** 20] },
    { ...disk, atMost: 25 },
    ...beside(disk, 'mb'),
    { ...packages, atMost: 15 },
    ...beside(packages, 'packages'),
    time,
    ...beside(time, 'seconds'),
  ]);
}

/** Installs a package into a prefix of its own, measures it there and takes it away again. */
function install(what: string): Installation {
  const prefix = mkdtempSync(join(folder, 'prefix-'));
  const started = performance.now();
  npm('install', '--global', '--prefix', prefix, '--prefer-offline', '--no-audit', '--no-fund', what);
  const seconds = (performance.now() - started) / 1000;
  const { bytes, packages } = sizeOf(prefix);
  rmSync(prefix, { recursive: true, force: true });
  return { seconds, mb: bytes / 2 ** 20, packages };
}

/** Bytes of all files below a folder, and how many packages lie in its folders of packages. */
function sizeOf(path: string): { bytes: number; packages: number } {
  const sum = { bytes: 0, packages: 0 };
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    const below = join(path, entry.name);
    if (!entry.isDirectory()) sum.bytes += lstatSync(below).size;
    else {
      const { bytes, packages } = sizeOf(below);
      const isPackage = /node_modules[\\/](@[^\\/]+[\\/])?[^@.\\/][^\\/]*$/.test(below);
      sum.bytes += bytes;
      sum.packages += packages + (isPackage ? 1 : 0);
    }
  }
  return sum;
}

function npm(...argv: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(
    'npm',
    [...argv, ...(argv[0] === 'pack' ? ['--pack-destination', folder] : [])],
    {
      encoding: 'utf8',
      shell: process.platform === 'win32',
    },
  );
  if (status !== 0) throw new Error(`npm ${argv.join(' ')} ended with ${status}: ${stderr.slice(-300)}`);
  return stdout;
}
