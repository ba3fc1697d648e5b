import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../support/harness.ts';
import { isProof } from '../support/size.ts';

const { version, repository } = JSON.parse(readFileSync('package.json', 'utf8'));
const home = repository.url.slice('git+'.length, -'.git'.length);
const archives = {
  'linux-x64.tar.xz': '1',
  'linux-arm64.tar.xz': '2',
  'darwin-arm64.tar.xz': '3',
  'darwin-x64.tar.xz': '4',
  'win-x64.zip': '5',
};
const has = (name: string) => spawnSync('sh', ['-c', `command -v ${name}`]).status === 0;

/** The files that the script writes for a release with sums of one digit each. */
function writePackaging(left: string[] = []): { said: string; read: (name: string) => string } {
  const folder = temporaryFolder();
  const lines = Object.entries(archives)
    .filter(([end]) => !left.includes(end))
    .map(([end, digit]) => `${digit.repeat(64)}  sotra-${version}-${end}\n`);
  writeFileSync(join(folder, 'SHA256SUMS'), lines.join(''));
  const argv = ['scripts/packaging.mjs', join(folder, 'SHA256SUMS'), folder];
  const { stdout, stderr } = spawnSync(process.execPath, argv, { encoding: 'utf8' });
  return { said: stdout + stderr, read: (name) => readFileSync(join(folder, name), 'utf8') };
}

test('a release without a file of a platform makes no packaging', () => {
  const { said } = writePackaging(['darwin-x64.tar.xz']);
  expect(said).toContain(`no SHA-256 of sotra-${version}-darwin-x64.tar.xz in `);
});

test('the formula has for each system and processor its file and its sum', () => {
  const formula = writePackaging().read('sotra.rb');
  const places: Record<string, string[]> = {};
  let depth: string[] = [];
  for (const line of formula.split('\n')) {
    const opened = /^ *(class \w+|on_\w+|def \w+|test)( < Formula| do)?$/.exec(line)?.[1];
    if (opened !== undefined) depth = [...depth, opened];
    else if (line.trim() === 'end') depth = depth.slice(0, -1);
    else if (/^ *(url|sha256) /.test(line)) {
      const [, value = ''] = /"(.*)"$/.exec(line) ?? [];
      const place = depth.slice(1).join(' ');
      places[place] = [...(places[place] ?? []), value];
    }
  }
  expect(depth).toEqual([]);
  const download = `${home}/releases/download/v${version}/sotra-${version}`;
  expect(places).toEqual({
    'on_macos on_arm': [`${download}-darwin-arm64.tar.xz`, '3'.repeat(64)],
    'on_macos on_intel': [`${download}-darwin-x64.tar.xz`, '4'.repeat(64)],
    'on_linux on_arm': [`${download}-linux-arm64.tar.xz`, '2'.repeat(64)],
    'on_linux on_intel': [`${download}-linux-x64.tar.xz`, '1'.repeat(64)],
  });
  // The order and the form that `brew style` asks for.
  const order = ['desc', 'homepage', 'version', 'license', 'on_macos', 'on_linux', 'def install', 'test do'];
  const found = order.map((word) => formula.indexOf(`\n  ${word}`));
  expect(found.every((at) => at > 0)).toBe(true);
  expect(found).toEqual(found.toSorted((one, other) => one - other));
  const [, desc = ''] = /desc "(.*)"/.exec(formula) ?? [];
  expect(desc.length).toBeLessThan(80);
  expect(desc).not.toMatch(/^(a|an|the|sotra)\b|\.$/i);
  expect(formula).toMatch(/^class Sotra < Formula\n/);
});

test.skipIf(!has('ruby'))('the formula is Ruby', () => {
  expect(spawnSync('ruby', ['-c'], { input: writePackaging().read('sotra.rb') }).status).toBe(0);
});

test('the Scoop manifest has what Scoop reads, and finds the next release', () => {
  const download = `${home}/releases/download`;
  expect(JSON.parse(writePackaging().read('sotra.json'))).toEqual({
    version,
    description: 'Command-line tool and sandbox for the Social Trading Data Service',
    homepage: home,
    license: 'MIT',
    architecture: {
      '64bit': {
        url: `${download}/v${version}/sotra-${version}-win-x64.zip`,
        hash: '5'.repeat(64),
        extract_dir: `sotra-${version}-win-x64`,
      },
    },
    bin: 'sotra.exe',
    checkver: { github: home },
    autoupdate: {
      architecture: {
        '64bit': {
          url: `${download}/v$version/sotra-$version-win-x64.zip`,
          extract_dir: 'sotra-$version-win-x64',
        },
      },
      hash: { url: '$baseurl/SHA256SUMS' },
    },
  });
});

test('the Dockerfile checks what it adds, and runs as nobody in particular', () => {
  const text = writePackaging().read('Dockerfile');
  const instructions = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  const download = `${home}/releases/download/v${version}/sotra-${version}`;
  expect(instructions).toEqual([
    'FROM debian:13-slim AS amd64',
    `ADD --checksum=sha256:${'1'.repeat(64)} ${download}-linux-x64.tar.xz /sotra.tar.xz`,
    'FROM debian:13-slim AS arm64',
    `ADD --checksum=sha256:${'2'.repeat(64)} ${download}-linux-arm64.tar.xz /sotra.tar.xz`,
    // biome-ignore lint/suspicious/noTemplateCurlyInString: Docker's own.
    'FROM ${TARGETARCH} AS unpacked',
    'RUN apt-get update && apt-get install -y --no-install-recommends xz-utils && tar -xJf /sotra.tar.xz --strip-components=1 -C /opt',
    'FROM debian:13-slim',
    'RUN apt-get update && apt-get install -y --no-install-recommends libatomic1 && rm -rf /var/lib/apt/lists/* && \\',
    '    useradd --create-home --uid 10001 sotra',
    'COPY --from=unpacked /opt/sotra /usr/local/bin/sotra',
    'USER 10001',
    'WORKDIR /home/sotra',
    'ENTRYPOINT ["sotra"]',
  ]);
  expect(text).toContain('untried');
});

test('the list of packages has what is in the program, with its sum, and nothing that only builds it', () => {
  const text = execFileSync(process.execPath, ['scripts/sbom.mjs'], {
    encoding: 'utf8',
    env: { ...process.env, SOURCE_DATE_EPOCH: '1790000000' },
  });
  const { bomFormat, metadata, components, dependencies } = JSON.parse(text);
  expect(bomFormat).toBe('CycloneDX');
  expect(metadata).toMatchObject({
    timestamp: '2026-09-21T14:13:20.000Z',
    component: { name: 'sotra', version, type: 'application' },
  });
  const names: string[] = components.map((each: { name: string; group?: string }) => each.name);
  const refs: string[] = components.map((each: Record<string, string>) => each['bom-ref']?.replace(/@[^@]*$/, ''));
  const inside = [
    'libsql',
    'undici',
    'zod',
    'commander',
    'viem',
    'jq-wasm',
    'preact',
    'uplot',
    '@modelcontextprotocol/server',
  ];
  expect(refs).toEqual(expect.arrayContaining(inside));
  expect(names.filter((name) => ['typescript', 'vitest', 'rolldown', 'playwright-core'].includes(name))).toEqual([]);
  const known = new Set([`sotra@${version}`, ...components.map((each: Record<string, string>) => each['bom-ref'])]);
  const named = dependencies.flatMap(({ ref, dependsOn }: { ref: string; dependsOn: string[] }) => [ref, ...dependsOn]);
  expect(named.filter((ref: string) => !known.has(ref))).toEqual([]);
  const unhashed = components.filter(({ hashes }: { hashes?: { alg: string }[] }) => hashes?.[0]?.alg !== 'SHA-512');
  expect(unhashed).toEqual([]);
});

const built = `exec '${process.execPath}' '${resolve('bin/sotra.js')}' "$@"`;

/** Answers what the script asks a program that works. */
const working = `case "$*" in
--version) echo ${version} ;;
'completion bash') echo 'complete sotra' ;;
'--sandbox leaderboard list --limit 3 --columns address --format csv') printf 'address\\n0x1\\n0x2\\n0x3\\n' ;;
"--sandbox leaderboard list --limit 1 --jq .traders | length") echo 1 ;;
--help | 'sandbox start --port 0 --detach' | 'sandbox stop') ;;
*) exit 2 ;;
esac`;

/** A release of one platform; its program works, and in the proof it is the one just built. */
function makeRelease(platform: string, program = isProof ? built : working) {
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

test.skipIf(!has('xz') || process.platform !== 'linux')(
  'the smoke test passes a program that works, and leaves nothing',
  () => {
    const folder = makeRelease('linux-x64');
    const before = readdirSync(folder);
    const { status, stdout, stderr } = smokeTest(folder);
    expect([status, stderr.replaceAll(/^(There may be more|The sandbox listens on).*\n/gm, '')]).toEqual([0, '']);
    expect(stdout).toMatch(new RegExp(`\\nsotra-${version}-linux-x64\\.tar\\.xz works\\n$`));
    expect(readdirSync(folder)).toEqual(before);
  },
);

test.skipIf(!has('xz') || process.platform !== 'linux')(
  'the smoke test fails for another version, and for another archive than the sums say',
  () => {
    const other = smokeTest(makeRelease('linux-x64', 'echo 0.0.9'));
    expect([other.status, other.stderr]).toEqual([1, `says it is 0.0.9, not ${version}\n`]);
    const changed = makeRelease('linux-x64');
    cpSync(join(changed, 'SHA256SUMS'), join(changed, `sotra-${version}-linux-x64.tar.xz`));
    expect(smokeTest(changed).status).not.toBe(0);
  },
);

test.skipIf(!has('xz') || process.platform !== 'linux')(
  'the archives for macOS are packed again with what was signed',
  () => {
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
  },
);
