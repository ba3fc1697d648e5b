import { type SpawnOptionsWithoutStdio, spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { contentsOf, run, stub, temporaryFolder } from '../support/harness.ts';
import { startShell } from '../support/processes.ts';
import { some } from '../support/size.ts';
import { degen, writeKeys } from '../support/traders.ts';

// File modes do not bind root: the commands run as nobody then.
const nobody = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
const works = spawnSync(process.execPath, ['bin/sotra.js', '--version'], { ...nobody, env: {} }).status === 0;
const why = works ? '' : ' (skipped: nobody may not read this folder)';

/** Runs the built program in a shell, as the user of the tests or as another. */
async function runBuilt(
  argv: string,
  env: Record<string, string>,
  { before = ':', after = '', ...user }: { before?: string; after?: string } & SpawnOptionsWithoutStdio = {},
) {
  const { printed, ended } = startShell(`${before}; exec sotra ${argv} ${after}`, env, user);
  return { code: await ended, ...printed };
}

interface StateFile {
  name: string;
  /** What writes it. */
  argv: string;
  file: RegExp;
  /** What reads and writes one that is there; the same as above if absent. */
  later?: string;
}

const keyed = '--key-file FOLDER/evm.hex --password-file FOLDER/password';
const settings: StateFile = {
  name: 'settings',
  argv: 'context set own --base-url https://a.example.com',
  file: /config\.json$/,
};
const storedKey: StateFile = {
  name: 'kept key',
  argv: `key import k ${keyed}`,
  later: 'key export k --unencrypted --out FOLDER/plain.hex --password-file FOLDER/password',
  file: /keys\/k\.json$/,
};
const upload: StateFile = {
  name: 'upload state',
  argv: 'webhook register --url http://127.0.0.1:9/hook --file FOLDER/addresses.txt',
  file: /uploads\/.*state\.json$/,
};
const database: StateFile = { name: 'sandbox database', argv: '--sandbox sandbox reset --empty', file: /sandbox\.db$/ };

const allIn = (folder: string) => readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();

/** Names and contents of all files except empty ones: locks, and logs into which nothing could be written. */
function contents(folder: string): Map<string, Buffer> {
  return new Map([...contentsOf(folder)].filter(([name, bytes]) => !/-(wal|shm)$/.test(name) && bytes.length > 0));
}

/** A folder of files to work on, and a service that records changes. */
async function place() {
  const folder = temporaryFolder();
  const written: string[] = [];
  const { env } = await stub(({ method, url }, response) => {
    const webhook = { uid: 'u-1', destinationUrl: 'http://127.0.0.1:9/hook', secret: 's' };
    if (method !== 'GET') written.push(url);
    response.setHeader('content-type', 'application/json');
    if (url.startsWith('/v2/leaderboard')) response.end('{"traders":[]}');
    else response.end(JSON.stringify(method === 'GET' ? [] : webhook));
  });
  writeKeys(folder);
  writeFileSync(join(folder, 'addresses.txt'), `${degen}\n`);
  return { folder, written, env: { ...env, SOTRA_DATA_DIR: folder, SOTRA_CONFIG_DIR: folder, HOME: folder } };
}

/** A place with one of those files. */
async function placeWith({ argv, file }: StateFile) {
  const here = await place();
  const first = await run(argv.replaceAll('FOLDER', here.folder), { env: here.env });
  if (first.code !== 0) throw new Error(first.err);
  const path = join(here.folder, allIn(here.folder).find((each) => file.test(each)) ?? '');
  here.written.length = 0;
  return { ...here, path };
}

/** A newer sotra writes a higher number where this one writes its own. */
const newer = (text: string) => text.replace(/"(version|v)": ?\d+/, '"$1": 99');

const harms: Record<string, (file: string) => void> = {
  'overwritten with noise': (file) => writeFileSync(file, `\u0000\u0001 noise {{{\n${'x'.repeat(200)}\n`),
  'cut off in its first line': (file) => writeFileSync(file, `${readFileSync(file, 'utf8').slice(0, 12)}\n`),
  empty: (file) => writeFileSync(file, ''),
  'of a newer sotra': (file) => writeFileSync(file, newer(readFileSync(file, 'utf8'))),
  'a folder': (file) => {
    rmSync(file);
    mkdirSync(file);
  },
};

const harmed = [settings, storedKey, upload].flatMap((state) =>
  Object.entries(harms).map(([harm, apply]) => ({ ...state, harm, apply })),
);

test.each(some(harmed, 12))(
  'a $name that is $harm ends the command, is named, and stays as it is',
  async ({ apply, ...state }) => {
    const { folder, env, path, written } = await placeWith(state);
    apply(path);
    const before = contentsOf(folder).get(relative(folder, path));
    const { code, out, err } = await run((state.later ?? state.argv).replaceAll('FOLDER', folder), { env });
    expect([3, 11]).toContain(code);
    expect([out, err]).toEqual(['', expect.stringMatching(/\nhint: /)]);
    expect(err).toContain(path);
    expect(written).toEqual([]);
    expect(contentsOf(folder).get(relative(folder, path))).toEqual(before);
  },
);

/** Makes all below a folder read-only. */
function closeFolder(folder: string): void {
  for (const each of ['', ...allIn(folder)]) {
    const file = join(folder, each);
    chmodSync(file, lstatSync(file).isDirectory() ? 0o500 : 0o400);
  }
}

/** Limits the files of a process to so many KiB: larger writes fail as on a full disk. */
const atMostKib = (kib: number) => `trap '' XFSZ; ulimit -f ${kib}`;

test.skipIf(!works).each([
  { ...settings, harm: 'that may not be read' },
  { ...settings, harm: 'in a folder that may not be written' },
  { ...upload, harm: 'in a folder that may not be written' },
  { ...upload, harm: 'on a full disk' },
  { ...database, harm: 'on a full disk' },
])(`a $name $harm is exit 3 with a message, and stays; nothing is sent${why}`, async ({ harm, ...state }) => {
  const { folder, env, path, written } = await placeWith(state);
  if (nobody.uid !== undefined)
    for (const each of ['', ...allIn(folder)]) chownSync(join(folder, each), nobody.uid, nobody.uid);
  if (harm === 'that may not be read') chmodSync(path, 0);
  if (harm === 'in a folder that may not be written') closeFolder(folder);
  const before = contents(folder);
  const limit = harm === 'on a full disk' ? { before: atMostKib(0) } : {};
  const { code, out, err } = await runBuilt(state.argv.replaceAll('FOLDER', folder), env, { ...nobody, ...limit });
  expect({ code, out }).toEqual({ code: 3, out: '' });
  if (harm === 'that may not be read') expect(err).toContain(path);
  if (harm === 'in a folder that may not be written') expect(err).toContain(folder);
  expect(err).toMatch(/^error: .*\n(hint: .*\n)?$/m);
  expect(written).toEqual([]);
  expect(contents(folder)).toEqual(before);
});

test('a change of the settings on a full disk is exit 3, and they are as they were', async (at) => {
  const folder = temporaryFolder();
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m,mode=700', 'tmpfs', folder]);
  if (mounted.status !== 0) return at.skip('no disk can be mounted');
  onTestFinished(() => void spawnSync('umount', ['--lazy', folder]));
  const env = { SOTRA_CONFIG_DIR: folder, SOTRA_DATA_DIR: temporaryFolder() };
  expect((await run('context set own --base-url https://a.example.com', { env })).code).toBe(0);
  const before = readFileSync(join(folder, 'config.json'), 'utf8');
  expect(() => writeFileSync(join(folder, 'filler'), Buffer.alloc(2 ** 21))).toThrow('ENOSPC');
  for (const argv of ['context set own --base-url https://b.example.com', 'alias set me ext:a']) {
    const { code, err } = await run(argv, { env });
    expect([argv, code, err]).toEqual([argv, 3, expect.stringContaining('no space left on device')]);
  }
  expect(readFileSync(join(folder, 'config.json'), 'utf8')).toBe(before);
});

test.each(some(['--help', '--version', '--help --json', '--sandbox leaderboard list'], 1))(
  '%s with its output on a full disk is exit 3 and says so',
  async (argv) => {
    const { code, err } = await runBuilt(argv, (await place()).env, { after: '> /dev/full' });
    expect([code, err]).toEqual([3, expect.stringContaining('cannot write to stdout: no space left on device')]);
  },
);

test.each(['null', '[]', '{"crypto": {"ciphertext": "deadbeef'])(
  'the stored key %s is reported by key list, and the other keys are shown',
  async (text) => {
    const folder = temporaryFolder();
    const keys = writeKeys(folder);
    const env = { SOTRA_CONFIG_DIR: folder };
    await run(['key', 'import', 'good', '--key-file', keys.evm, '--password-file', keys.password], { env });
    writeFileSync(join(folder, 'keys', 'bad.json'), text);
    const { code, out, err } = await run('key list --json', { env });
    expect([code, JSON.parse(out).map(({ name }: { name: string }) => name)]).toEqual([0, ['good']]);
    expect(err).toContain(join(folder, 'keys', 'bad.json'));
    expect(err).not.toContain('deadbeef');
    const exported = await run('key export bad', { env });
    expect([exported.code, exported.err]).toEqual([expect.toBeOneOf([3, 11]), expect.stringContaining('bad.json')]);
  },
);

const key = 'Zx9/echo+key-4711';

test.each([`{"contexts":{"a":{"apiKey":"${key}"}}`, `{"contexts":{"a":{"apiKey":${key}}}}`, key])(
  'damaged settings are reported without their contents: %s',
  async (text) => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'config.json'), text);
    const { code, err } = await run('context list --verbose', { env: { SOTRA_CONFIG_DIR: folder } });
    expect([code, err.includes('it is not JSON')]).toEqual([3, true]);
    expect(err).not.toMatch(/Zx9|4711/);
  },
);

function leave(folder: string, name: string, minutesAgo: number): void {
  mkdirSync(dirname(join(folder, name)), { recursive: true });
  writeFileSync(join(folder, name), '{"half');
  const at = Date.now() / 1000 - minutesAgo * 60;
  utimesSync(join(folder, name), at, at);
}

test('drafts that a killed process left go with the next change of the settings; young ones and what is not ours stay', async () => {
  const folder = temporaryFolder();
  const ours = ['config.json.tmp-5245811440579385', 'config.json.sotra-0a1b2c3d.tmp'];
  const theirs = ['notes.0a1b2c3d.tmp', 'sotra-0a1b2c3d.tmp.txt', 'other.json.tmp-5245811440579385'];
  for (const name of [...ours, ...theirs]) leave(folder, name, 60);
  leave(folder, 'config.json.sotra-99999999.tmp', 1);
  expect(
    await run('context set a --base-url https://a.example.com', { env: { SOTRA_CONFIG_DIR: folder } }),
  ).toMatchObject({ code: 0 });
  expect(readdirSync(folder).sort()).toEqual(
    ['config.json', 'config.json.sotra-99999999.tmp', 'config.lock', ...theirs].sort(),
  );
  for (const name of theirs) expect(readFileSync(join(folder, name), 'utf8')).toBe('{"half');
});
