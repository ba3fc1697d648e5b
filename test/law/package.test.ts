import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { formatTable } from '../../bench/measure/table.ts';

interface LockedPackage {
  version: string;
  resolved?: string;
  integrity?: string;
  dev?: boolean;
  optional?: boolean;
  hasInstallScript?: boolean;
}

const own = JSON.parse(readFileSync('package.json', 'utf8'));
const lock: { packages: Record<string, LockedPackage> } = JSON.parse(readFileSync('package-lock.json', 'utf8'));
const locked = Object.entries(lock.packages).filter(([path]) => path !== '');

test('of what users install, nothing has an install script', () => {
  const installed = locked.filter(([, { dev }]) => dev !== true);
  expect(installed.length).toBeGreaterThan(1);
  expect(installed.filter(([, one]) => one.hasInstallScript === true).map(([path]) => path)).toEqual([]);
});

test('the lock file names no addresses, and holds integrity as SHA-512 where it holds any', () => {
  expect(locked.filter(([, { resolved }]) => resolved !== undefined).map(([path]) => path)).toEqual([]);
  const weak = locked.filter(([, { integrity }]) => integrity !== undefined && !integrity.startsWith('sha512-'));
  expect(weak.map(([path]) => path)).toEqual([]);
  const versions = Object.entries({ ...own.dependencies, ...own.devDependencies, ...own.optionalDependencies });
  expect(versions.filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.-]+)?$/.test(String(version)))).toEqual([]);
});

test('the bench table tells medians, their ratio with its spread, the aim and whether it is met', () => {
  const text = formatTable([
    { what: 'upload', unit: 's', floor: [1, 2, 4], measured: [3, 3, 5], atMost: 2 },
    { what: 'stream', unit: 'items/s', floor: [1000, 1000, 1000], measured: [600, 500, 900], atLeast: 0.7 },
    { what: 'memory', unit: 'MB', measured: [119.51, 101.2], atMost: 120 },
    { what: 'bare', unit: 'ms', measured: [41.25] },
  ]);
  expect(text).toBe(
    [
      'what    floor         measured     ratio  spread       aim        met',
      'upload  2 s           3 s          1.50   1.25-3       <= 2x      yes',
      'stream  1000 items/s  600 items/s  0.600  0.500-0.900  >= 0.7x    NO',
      'memory  -             120 MB       -      101-120      <= 120 MB  yes',
      'bare    -             41.3 ms      -      -            -          -',
      '',
    ].join('\n'),
  );
});

test('a bench table of nothing is empty', () => {
  expect(formatTable([])).toBe('');
});
