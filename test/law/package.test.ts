import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { publint } from 'publint';
import { expect, test } from 'vitest';
import { long } from '../support/size.ts';

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

/** What `files` of package.json names, and what npm packs always. */
function namedFiles(): string[] {
  const named: string[] = own.files.flatMap((name: string) =>
    statSync(name).isDirectory()
      ? readdirSync(name, { recursive: true, encoding: 'utf8' }).map((inside) => join(name, inside))
      : [name],
  );
  return ['LICENSE', 'README.md', 'package.json', ...named].filter((name) => statSync(name).isFile()).sort();
}

long('npm packs what package.json names, and what it packs always', () => {
  const listed = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [{ files }] = JSON.parse(listed);
  expect(files.map(({ path }: { path: string }) => path).sort()).toEqual(namedFiles());
  const modes = files.filter(({ path }: { path: string }) => path === 'bin/sotra.js');
  expect(modes[0].mode & 0o111).toBe(0o111);
});

test('the package holds the program and completions, and nothing else', () => {
  const paths = namedFiles();
  const kinds = [
    /^bin\/(package\.json|sotra\.js)$/,
    /^dist\/[\w-]+\.(cjs|json)$/,
    /^dist\/(demo\.db|jq\.wasm)\.br$/,
    /^dist\/pages\/[\w-]+\.txt$/,
    /^dist\/web\/[\w-]+\.(js|css|svg)$/,
    /^dist\/library\/[\w-]+\.js(\.map)?$/,
    /^dist\/types\/[\w/-]+\.d\.ts$/,
    /^completions\/(sotra\.(bash|fish|ps1)|_sotra)$/,
    /^(LICENSE|README\.md|package\.json)$/,
  ];
  expect(paths.filter((path) => !kinds.some((kind) => kind.test(path)))).toEqual([]);
  expect(paths).toEqual(
    expect.arrayContaining([
      'bin/sotra.js',
      'dist/demo.db.br',
      'dist/jq.wasm.br',
      'LICENSE',
      'README.md',
      'package.json',
    ]),
  );
  expect(statSync('bin/sotra.js').mode & 0o100).toBe(0o100);
});

test('publint finds nothing in what code imports', async () => {
  expect((await publint({ pkgDir: '.', strict: true, pack: false })).messages).toEqual([]);
});

test('nothing of ours runs when the package is installed, and npm has nothing to warn of', () => {
  const names = [
    'preinstall',
    'install',
    'postinstall',
    'preprepare',
    'prepare',
    'postprepare',
    'prepublish',
    'preuninstall',
  ];
  expect(Object.keys(own.scripts).filter((name) => names.includes(name))).toEqual([]);
});

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
