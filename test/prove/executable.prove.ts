import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { temporaryFolder } from '../support/harness.ts';

/** The one that `npm run executables -- linux-x64 --unpacked` makes. */
function buildExecutable(): string {
  execFileSync(process.execPath, ['scripts/executables.mjs', 'linux-x64', '--unpacked'], { stdio: 'pipe' });
  const [folder = ''] = readdirSync('release').filter((name) => name.endsWith('-linux-x64'));
  return join('release', folder, 'sotra');
}

const isBuiltHere = process.platform === 'linux' && process.arch === 'x64';
const isRoot = process.getuid?.() === 0;
let executable = '';

beforeAll(() => {
  if (isBuiltHere) executable = buildExecutable();
});

/** PROVE_EXECUTABLE=all: every test of processes, the commands of the documents and the laws that start the program, in some 20 minutes. */
const isAll = process.env['PROVE_EXECUTABLE'] === 'all';
const files = isAll
  ? ['test/process', ...['naughty-input', 'screens', 'help'].map((name) => `test/law/${name}.test.ts`)]
  : ['process', 'sandbox-servers', 'state-files'].map((name) => `test/process/${name}.test.ts`);
/** Those of which `npm test` runs a part. */
const whole = [
  'test/process/pipes.test.ts',
  ...(isAll ? ['test/process/state-files.test.ts', 'test/law/documents.test.ts'] : []),
];

test.runIf(isBuiltHere).each([
  ['processes, signals and first use', files, undefined],
  ['pipes, whole', whole, '1'],
])('the tests of %s pass on the executable', (_, names, proves) => {
  const excluded = (proves === undefined ? whole : []).map((name) => `--exclude=${name}`);
  const { status, stdout } = spawnSync(
    process.execPath,
    ['node_modules/vitest/vitest.mjs', 'run', '--reporter=dot', ...excluded, ...names],
    {
      encoding: 'utf8',
      env: { ...process.env, SOTRA_PROVE: proves, SOTRA_BIN: executable },
    },
  );
  expect([status, status === 0 ? '' : stdout]).toEqual([0, '']);
});

test.runIf(isBuiltHere && isRoot)(
  'the executable runs where there is nothing else: no Node, no shell, and leaves no file but its data',
  () => {
    const root = temporaryFolder();
    copyFileSync(executable, join(root, 'sotra'));
    const libraries = execFileSync('ldd', [executable], { encoding: 'utf8' }).match(/\/\S+/g) ?? [];
    for (const library of libraries) {
      mkdirSync(join(root, dirname(library)), { recursive: true });
      copyFileSync(library, join(root, library));
    }
    mkdirSync(join(root, 'tmp'));
    const run = (...argv: string[]) => {
      const { status, stdout, stderr } = spawnSync('/usr/sbin/chroot', [root, '/sotra', ...argv], {
        encoding: 'utf8',
        env: { HOME: '/home' },
      });
      return { status, stdout, stderr };
    };
    const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
    expect(run('--version')).toEqual({ status: 0, stdout: `${version}\n`, stderr: '' });
    expect(run('help', 'signing').stdout).toContain('A comment is signed by the wallet that made the trade.');
    expect(run('completion', 'bash').stdout).toContain('complete -F');
    // A thread, the demo world and the database.
    expect(run('--sandbox', 'leaderboard', 'list', '--limit', '3', '--jq', '.traders | length').stdout).toBe('3\n');
    expect(run('--sandbox', 'webhook', 'list', '--json')).toMatchObject({ status: 0, stdout: '[]\n' });
    expect(readdirSync(join(root, 'tmp'))).toEqual([]);
    expect(readdirSync(root).sort()).toEqual(['home', 'lib', 'lib64', 'sotra', 'tmp']);
  },
);
