import { execFile, execFileSync, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { stub, temporaryFolder, until } from '../support/harness.ts';

const script = readFileSync('install.sh', 'utf8');
const shells = ['dash', 'bash'].filter((shell) => find(shell) !== undefined);
const canPack = ['tar', 'xz', 'curl', 'wget'].every((tool) => find(tool) !== undefined) && process.platform === 'linux';
const npm = 'install.sh: with Node 20.19 or newer: npm install --global sotra\n';

/** Where a program is, as a shell finds it. */
function find(name: string): string | undefined {
  return spawnSync('sh', ['-c', 'command -v "$1"', 'sh', name], { encoding: 'utf8' }).stdout.trim() || undefined;
}

/** The archive of a release, in which `sotra` is a script that says its version. */
function pack(version: string, { says = `echo ${version}` } = {}): Buffer {
  const name = `sotra-${version}-linux-x64`;
  const folder = temporaryFolder();
  mkdirSync(join(folder, name));
  writeFileSync(join(folder, name, 'sotra'), `#!/bin/sh\n${says}\n`, { mode: 0o755 });
  writeFileSync(join(folder, name, 'LICENSE'), 'MIT\n');
  execFileSync('tar', ['-cJf', 'archive', name], { cwd: folder });
  return readFileSync(join(folder, 'archive'));
}

/** A server of releases, the last of which is the latest, and what it was asked for; `send` gives an archive otherwise than whole. */
async function serveReleases(
  archives: Record<string, Buffer>,
  { sums, send }: { sums?: string; send?: (response: ServerResponse, archive: Buffer) => void } = {},
) {
  const latest = Object.keys(archives).at(-1) ?? '';
  const files = Object.entries(archives).flatMap(([version, archive]) => {
    const name = `sotra-${version}-linux-x64.tar.xz`;
    const sum = createHash('sha256').update(archive).digest('hex');
    const others = ['darwin-arm64.tar.xz', 'win-x64.zip'].map((end) => `${'0'.repeat(64)}  sotra-${version}-${end}\n`);
    const line = `${sum}  ${name}\n`;
    const list = Buffer.from(sums ?? others.join('') + line);
    const place = `/download/v${version}`;
    return [
      [`${place}/${name}`, archive] as const,
      [`${place}/SHA256SUMS`, list] as const,
      ...(version === latest ? [['/latest/download/SHA256SUMS', list] as const] : []),
    ];
  });
  const found = new Map<string, Buffer>(files);
  const { url, requests } = await stub(({ url: path }, response) => {
    const body = found.get(path);
    if (body === undefined) response.writeHead(404).end('Not Found');
    else if (send !== undefined && path.endsWith('.xz')) send(response, body);
    else response.writeHead(200, { 'content-length': body.length }).end(body);
  });
  const env: Record<string, string> = { SOTRA_RELEASES: url };
  return { env, paths: () => requests.map((one) => one.url) };
}

interface Tools {
  without?: string[];
  [name: string]: string | string[] | undefined;
}

/** A folder of the programs that the script uses, without those left out; a text replaces one by a script. */
function toolsWith({ without = [], ...others }: Tools = {}): string {
  const folder = temporaryFolder();
  const used =
    'awk cat chmod cp curl cut dirname grep ldd mkdir mktemp mv rm sed sh sha256sum shasum tar uname wget xz';
  for (const name of [...used.split(' '), 'perl', 'sleep']) {
    const place = find(name);
    if (place !== undefined && !without.includes(name) && !(name in others)) symlinkSync(place, join(folder, name));
  }
  for (const [name, text] of Object.entries(others))
    writeFileSync(join(folder, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  return folder;
}

interface InstallOptions {
  shell?: string;
  argv?: string[];
  env: Record<string, string>;
  tools?: string;
  /** Called once with the way to end it, as a terminal does. */
  onStart?: (end: (signal: NodeJS.Signals) => void) => void;
}

/** Runs the script as `curl ... | sh` does: from stdin. */
async function install({ shell = 'sh', argv = [], env, tools = toolsWith(), onStart }: InstallOptions) {
  const child = spawn(find(shell) ?? shell, ['-s', '--', ...argv], { env: { PATH: tools, ...env }, detached: true });
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  child.stdin.on('error', () => undefined).end(script);
  onStart?.((signal) => child.kill(signal));
  const [out, err, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { code, out, err };
}

/** A home, and a folder for temporary files of its own that must be empty afterwards. */
const home = () => ({ HOME: temporaryFolder(), TMPDIR: temporaryFolder() });

/** Installs from a server of releases into a new home; `left` is all that is in it and among temporary files afterwards. */
async function tryInstall(
  archives: Record<string, Buffer>,
  { tools, ...server }: { tools?: Tools } & Parameters<typeof serveReleases>[1] = {},
  options: Partial<InstallOptions> = {},
) {
  const { env, paths } = await serveReleases(archives, server);
  const folders = home();
  const installed = await install({ tools: toolsWith(tools), ...options, env: { ...env, ...folders } });
  const left = Object.values(folders).flatMap(all);
  return { ...installed, env: { ...env, ...folders }, url: env['SOTRA_RELEASES'] ?? '', paths, left, ...folders };
}

const all = (folder: string): string[] => readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();

test('shellcheck finds nothing in install.sh', (context) => {
  const shellcheck = find('shellcheck');
  if (shellcheck === undefined) return context.skip('no shellcheck');
  const { stdout } = spawnSync(shellcheck, ['--shell=sh', 'install.sh'], { encoding: 'utf8' });
  expect(stdout).toBe('');
});

test.runIf(canPack).each(shells)(
  'the latest release is installed by %s, and removed by the line that it says',
  async (shell) => {
    const archives = { '1.0.0': pack('1.0.0'), '1.1.0': pack('1.1.0') };
    const { code, out, err, url, paths, left, HOME } = await tryInstall(archives, {}, { shell });
    const dir = join(HOME, '.local/bin');
    expect([code, err]).toEqual([0, '']);
    expect(out).toBe(`downloading ${url}/download/v1.1.0/sotra-1.1.0-linux-x64.tar.xz
installed sotra 1.1.0 as ${dir}/sotra; its checksum is right
to find it by name: export PATH='${dir}':"$PATH"
to undo: rm '${dir}/sotra'
`);
    expect(paths()).toEqual(['/latest/download/SHA256SUMS', '/download/v1.1.0/sotra-1.1.0-linux-x64.tar.xz']);
    expect(execFileSync(join(dir, 'sotra'), { encoding: 'utf8' })).toBe('1.1.0\n');
    expect(left).toEqual(['.local', '.local/bin', '.local/bin/sotra']);
    const undo = /to undo: (.*)/.exec(out)?.[1] ?? '';
    execFileSync('sh', ['-c', undo]);
    expect(all(HOME)).toEqual(['.local', '.local/bin']);
  },
);

test.runIf(canPack)('under umask 000 nobody else may write to what it makes', async () => {
  const { env } = await serveReleases({ '1.0.0': pack('1.0.0') });
  const folders = home();
  const argv = ['-c', 'umask 000; exec sh install.sh'];
  await promisify(execFile)('/bin/sh', argv, { env: { ...env, ...folders, PATH: toolsWith() } });
  const modes = ['.local', '.local/bin', '.local/bin/sotra'].map(
    (name) => statSync(join(folders.HOME, name)).mode & 0o777,
  );
  expect(modes).toEqual([0o755, 0o755, 0o755]);
});

test.runIf(canPack)('a second install replaces the first, also while that runs', async () => {
  const waiting = 'while [ ! -e "$1" ]; do sleep 0.01; done; echo 1.0.0';
  const first = pack('1.0.0', { says: `[ "$1" = --version ] || { ${waiting}; }` });
  const { env } = await serveReleases({ '1.0.0': first, '1.1.0': pack('1.1.0') });
  const folders = home();
  const dir = join(folders.HOME, "it's here");
  const argv = ['--dir', dir];
  expect(await install({ argv: [...argv, '--version', 'v1.0.0'], env: { ...env, ...folders } })).toMatchObject({
    code: 0,
  });
  const flag = join(folders.HOME, 'flag');
  const running = spawn(join(dir, 'sotra'), [flag]);
  const ended = new Promise((resolve) => running.once('close', resolve));
  const { code, out } = await install({ argv, env: { ...env, ...folders, PATH: toolsWith() } });
  expect(code).toBe(0);
  writeFileSync(flag, '');
  expect(await ended).toBe(0);
  expect(execFileSync(join(dir, 'sotra'), { encoding: 'utf8' })).toBe('1.1.0\n');
  const undo = /to undo: (.*)/.exec(out)?.[1] ?? '';
  const found = /to find it by name: (.*)/.exec(out)?.[1] ?? '';
  expect(execFileSync('sh', ['-c', `${found}; command -v sotra`], { encoding: 'utf8' })).toBe(`${dir}/sotra\n`);
  execFileSync('sh', ['-c', undo]);
  expect(all(dir)).toEqual([]);
});

const half = (response: ServerResponse, archive: Buffer) => {
  response.writeHead(200, { 'content-length': archive.length });
  response.write(archive.subarray(0, archive.length / 2), () => response.destroy());
};

const short: typeof half = (response, archive) => response.end(archive.subarray(0, 100));
const sums = `${'1'.repeat(64)}  sotra-1.0.0-linux-x64.tar.xz\n`;
const isWrong = 'wrong SHA-256 of sotra-1.0.0-linux-x64.tar.xz; nothing was installed';
const isCut = 'cannot download {url}; nothing was installed';

test.runIf(canPack).each<{ what: string; without?: string[]; sums?: string; send?: typeof half; said: string }>([
  { what: 'a wrong sum', sums, said: isWrong },
  { what: 'a wrong sum, with shasum', without: ['sha256sum'], sums, said: isWrong },
  { what: 'half a download of curl', send: half, said: isCut },
  { what: 'half a download of wget', without: ['curl'], send: half, said: isCut },
  { what: 'half a download that looks whole', send: short, said: isWrong },
  {
    what: 'a page instead of the sums',
    sums: '<!doctype html><title>Sign in</title>',
    said: 'no file for linux-x64 in {base}/latest/download/SHA256SUMS',
  },
])('$what installs nothing and leaves nothing', async ({ without = [], said, ...options }) => {
  const { code, err, url, left } = await tryInstall({ '1.0.0': pack('1.0.0') }, { ...options, tools: { without } });
  const text = said.replace('{url}', `${url}/download/v1.0.0/sotra-1.0.0-linux-x64.tar.xz`).replace('{base}', url);
  expect(err).toContain(`install.sh: ${text}\n`);
  expect([code, left]).toEqual([1, []]);
});

const on = (system: string, machine: string) => `case $1 in -s) echo ${system} ;; *) echo ${machine} ;; esac`;

test.each([
  [{ without: ['curl', 'wget'] }, 'install.sh: curl or wget is needed\n'],
  [{ without: ['sha256sum', 'shasum'] }, 'install.sh: sha256sum or shasum is needed\n'],
  [{ uname: on('FreeBSD', 'amd64') }, `install.sh: there is no file for FreeBSD on amd64\n${npm}`],
  [{ uname: on('Linux', 'armv7l') }, `install.sh: there is no file for Linux on armv7l\n${npm}`],
  [
    { ldd: 'echo "musl libc (x86_64)" >&2; exit 1', uname: on('Linux', 'x86_64') },
    `install.sh: the file needs glibc; this system has musl (Alpine?)\n${npm}`,
  ],
])('with tools %j nothing is asked for', async (tools, said) => {
  const { code, out, err, paths, left } = await tryInstall({}, { tools });
  expect([code, out, err, paths(), left]).toEqual([1, '', said, [], []]);
});

/** A home that is not used. */
const nowhere = { HOME: '/nowhere' };
const usage = 'usage: install.sh [--dir <folder, default: ~/.local/bin>] [--version <default: the latest>]';
const mustBeSafe = 'SOTRA_RELEASES must be https (http only for this machine)';
const unsafe = [
  'http://127.0.0.1.example.com',
  'http://127.0.0.1:80@example.com/',
  'http://localhost@example.com/',
  'http://localhost:80.example.com/',
  'http://example.com',
  'ftp://127.0.0.1/',
];

test.each<[argv: string[], env: Record<string, string>, said: string]>([
  [['--folder', 'x'], nowhere, `unknown argument: --folder\ninstall.sh: ${usage}`],
  [['--dir'], nowhere, `--dir needs a value\ninstall.sh: ${usage}`],
  [['--version', '1.0.0/../../x'], nowhere, 'not a version: 1.0.0/../../x'],
  [['--version', 'next'], nowhere, 'not a version: next'],
  [[], {}, 'HOME is not set; give the folder with --dir'],
  ...unsafe.map((place): [string[], Record<string, string>, string] => {
    return [[], { ...nowhere, SOTRA_RELEASES: place }, `${mustBeSafe}: ${place}`];
  }),
])('%j with %j is refused', async (argv, env, said) => {
  const { code, err } = await install({ argv, env });
  expect([code, err]).toEqual([1, `install.sh: ${said}\n`]);
});

test('a folder or a link in its place is not touched', async () => {
  const { env } = await serveReleases({});
  const folders = home();
  const dir = folders.HOME;
  mkdirSync(join(dir, 'sotra'));
  const one = await install({ argv: ['--dir', dir], env: { ...env, ...folders } });
  expect(one.err).toBe(`install.sh: ${dir}/sotra is a folder; choose another place with --dir\n`);
  symlinkSync('nowhere', join(dir, 'linked'));
  mkdirSync(join(dir, 'bin'));
  symlinkSync('../lib/sotra.js', join(dir, 'bin/sotra'));
  const other = await install({ argv: ['--dir', join(dir, 'bin')], env: { ...env, ...folders } });
  const said = `${dir}/bin/sotra is a link (of npm? npm uninstall --global sotra); remove it first`;
  expect([other.code, other.err]).toEqual([1, `install.sh: ${said}\n`]);
});

test.runIf(canPack)('what does not run here is not installed, and what was there stays', async () => {
  const broken = pack('2.0.0', { says: 'echo "GLIBC_2.38 not found" >&2; exit 1' });
  const { env } = await serveReleases({ '1.0.0': pack('1.0.0'), '2.0.0': broken });
  const folders = home();
  const dir = join(folders.HOME, '.local/bin');
  await install({ argv: ['--version', '1.0.0'], env: { ...env, ...folders } });
  const { code, err } = await install({ env: { ...env, ...folders } });
  expect([code, err]).toEqual([
    1,
    `install.sh: sotra 2.0.0 does not run here: GLIBC_2.38 not found\ninstall.sh: Debian: apt install libatomic1; or with Node 20.19 or newer: npm install --global sotra\n`,
  ]);
  expect(all(dir)).toEqual(['sotra']);
  expect(execFileSync(join(dir, 'sotra'), { encoding: 'utf8' })).toBe('1.0.0\n');
});

test.runIf(canPack).each(shells)('%s that a signal ends in the middle leaves nothing', async (shell) => {
  let arrived = false;
  const send: typeof half = (response, archive) => {
    response.writeHead(200, { 'content-length': archive.length });
    response.write(archive.subarray(0, 50));
    arrived = true;
  };
  const onStart = async (end: (signal: NodeJS.Signals) => void) => {
    await until(() => arrived);
    end('SIGINT');
  };
  const { code, left } = await tryInstall({ '1.0.0': pack('1.0.0') }, { send }, { shell, onStart });
  expect([code, left]).toEqual([130, []]);
});
