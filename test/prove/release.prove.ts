import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';

const folder = mkdtempSync(join(tmpdir(), 'sotra-release-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const { version } = JSON.parse(readFileSync('package.json', 'utf8'));

test('two builds of the package, in other folders, homes, time zones, languages and rights, are the same bytes', () => {
  const { status, stdout, stderr } = spawnSync('bash', ['scripts/build-twice.sh', 'package'], { encoding: 'utf8' });
  expect([status, stderr]).toMatchObject([0, expect.not.stringContaining('other bytes')]);
  expect(stdout).toMatch(new RegExp(`^two builds give the same bytes:\\n[0-9a-f]{64}  sotra-${version}\\.tgz\\n$`));
});

test('a download is known as what its source gives, and as another where one byte differs', () => {
  execFileSync('git', ['clone', '--quiet', '.', join(folder, 'source')]);
  const source = join(folder, 'source');
  execFileSync('cp', ['-a', 'node_modules', source]);
  rmSync(join(source, 'node_modules', '.cache'), { recursive: true, force: true });
  execFileSync('bash', ['scripts/release.sh', 'package'], { cwd: source, stdio: 'ignore' });
  const built = readFileSync(join(source, 'release', `sotra-${version}.tgz`));
  const sum = createHash('sha256').update(built).digest('hex');
  const file = join(folder, `sotra-${version}.tgz`);
  built[built.length - 20] = (built.at(-20) ?? 0) ^ 1;
  writeFileSync(file, built);
  const verified = spawnSync('bash', ['scripts/verify-release', '--source', 'HEAD', file], { encoding: 'utf8' });
  // What it built from the source has the bytes of the download before one was changed.
  expect(verified).toMatchObject({
    status: 1,
    stdout: expect.stringMatching(new RegExp(`^other bytes: .*\\.tgz \\([0-9a-f]{64}\\), built: ${sum}\\n$`)),
  });
});

test('the package is installed without a warning, and npx shows a board of the sandbox', () => {
  execFileSync('npm', ['pack', '--silent', '--pack-destination', folder, '--ignore-scripts']);
  const tarball = join(folder, `sotra-${version}.tgz`);
  const env = { ...process.env, npm_config_cache: join(folder, 'cache'), npm_config_loglevel: 'notice' };
  const install = ['install', '--global', '--no-progress', '--prefix', join(folder, 'installed'), tarball];
  const { status, stdout, stderr } = spawnSync('npm', install, { env, encoding: 'utf8' });
  expect([status, stderr]).toEqual([0, '']);
  expect(stdout).toMatch(/added \d+ packages/);
  const argv = ['--yes', '--package', tarball, 'sotra', '--sandbox', 'leaderboard', 'list', '--limit', '3'];
  const ran = spawnSync('npx', argv, { cwd: folder, env, encoding: 'utf8' });
  expect([ran.status, ran.stdout.trimEnd().split('\n').length]).toEqual([0, 3]);
});
