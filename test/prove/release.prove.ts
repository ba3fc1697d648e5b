import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../support/harness.ts';

const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
const canPack = spawnSync('sh', ['-c', 'command -v xz']).status === 0 && process.platform === 'linux';

const built = `exec '${process.execPath}' '${resolve('bin/sotra.js')}' "$@"`;

/** A release of one platform, of the program just built or of another. */
function makeRelease(platform: string, program = built) {
  const folder = temporaryFolder();
  const name = `sotra-${version}-${platform}`;
  mkdirSync(join(folder, name));
  writeFileSync(join(folder, name, 'sotra'), `#!/bin/sh\n${program}\n`, { mode: 0o755 });
  execFileSync('tar', ['-cJf', `${name}.tar.xz`, name], { cwd: folder });
  const sum = createHash('sha256')
    .update(readFileSync(join(folder, `${name}.tar.xz`)))
    .digest('hex');
  writeFileSync(join(folder, 'SHA256SUMS'), `${'0'.repeat(64)}  other\n${sum}  ${name}.tar.xz\n`);
  return folder;
}

const smokeTest = (folder: string) =>
  spawnSync('bash', ['scripts/smoke-test.sh', folder, 'linux-x64'], { encoding: 'utf8' });

test.runIf(canPack)('the smoke test passes a program that works, and leaves nothing', () => {
  const folder = makeRelease('linux-x64');
  const before = readdirSync(folder);
  const { status, stdout, stderr } = smokeTest(folder);
  expect([status, stderr.replaceAll(/^(Showing \d+;|The sandbox listens on).*\n/gm, '')]).toEqual([0, '']);
  expect(stdout).toMatch(new RegExp(`\\nsotra-${version}-linux-x64\\.tar\\.xz works\\n$`));
  expect(readdirSync(folder)).toEqual(before);
});

test.runIf(canPack)('the smoke test fails for another version, and for another archive than the sums say', () => {
  const other = smokeTest(makeRelease('linux-x64', 'echo 0.0.9'));
  expect([other.status, other.stderr]).toEqual([1, `says it is 0.0.9, not ${version}\n`]);
  const changed = makeRelease('linux-x64');
  cpSync(join(changed, 'SHA256SUMS'), join(changed, `sotra-${version}-linux-x64.tar.xz`));
  expect(smokeTest(changed).status).not.toBe(0);
});

test.runIf(canPack)('the archives for macOS are packed again with what was signed', () => {
  const folder = temporaryFolder();
  for (const platform of ['darwin-arm64', 'darwin-x64']) {
    const name = `sotra-${version}-${platform}`;
    mkdirSync(join(folder, name));
    writeFileSync(join(folder, name, 'sotra'), platform, { mode: 0o755 });
    execFileSync('tar', ['-cJf', `${name}.tar.xz`, name], { cwd: folder });
    execFileSync('rm', ['-r', name], { cwd: folder });
  }
  writeFileSync(join(folder, `sotra-${version}-linux-x64.tar.xz`), 'as it was');
  const tools = temporaryFolder();
  const sign =
    '[ "$1" = --verify ] && exec grep -q signed "$3"\n[ "$1 $2 $3" = "--force --sign -" ] && echo signed >> "$4"';
  writeFileSync(join(tools, 'codesign'), `#!/bin/sh\n${sign}\n`, { mode: 0o755 });
  const env = { PATH: `${tools}:${process.env['PATH']}` };
  expect(spawnSync('bash', ['scripts/sign-macos.sh', folder], { env, encoding: 'utf8' })).toMatchObject({
    status: 0,
    stderr: '',
  });
  expect(readdirSync(folder)).toEqual(
    ['darwin-arm64', 'darwin-x64', 'linux-x64'].map((platform) => `sotra-${version}-${platform}.tar.xz`),
  );
  const name = `sotra-${version}-darwin-arm64`;
  const list = execFileSync('tar', ['-tvJf', `${name}.tar.xz`], { cwd: folder, encoding: 'utf8' });
  expect(list).toMatch(/^-rwxr-xr-x .*\/sotra$/m);
  expect(execFileSync('tar', ['-xJOf', `${name}.tar.xz`, `${name}/sotra`], { cwd: folder, encoding: 'utf8' })).toBe(
    'darwin-arm64signed\n',
  );
  expect(readFileSync(join(folder, `sotra-${version}-linux-x64.tar.xz`), 'utf8')).toBe('as it was');
});
