import { type SpawnOptions, spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
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
import { contentsOf } from '../support/files.ts';
import { answering, run, stub, temporaryFolder } from '../support/harness.ts';
import { some } from '../support/size.ts';
import { degen, writeKeys } from '../support/traders.ts';

// File modes do not bind root: the commands run as nobody then.
const nobody = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
const works = spawnSync(process.execPath, ['bin/sotra.js', '--version'], { ...nobody, env: {} }).status === 0;
const why = works ? '' : ' (skipped: nobody may not read this folder)';

/** Runs the built program in a shell, as the user of the tests or as another. */
function runBuilt(
  argv: string,
  env: Record<string, string>,
  { before = ':', after = '', ...user }: { before?: string; after?: string } & SpawnOptions = {},
): Promise<{ code: number | null; out: string; err: string }> {
  const script = `${before}; exec ${process.execPath} bin/sotra.js ${argv} ${after}`;
  const child = spawn('bash', ['--norc', '-c', script], {
    ...user,
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const text = { out: '', err: '' };
  child.stdout?.on('data', (chunk) => {
    text.out += chunk;
  });
  child.stderr?.on('data', (chunk) => {
    text.err += chunk;
  });
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, ...text })));
}

const keyed = '--key-file FOLDER/evm.hex --password-file FOLDER/password';

/** The file that each command writes, as a pattern; `later` is the command that reads and writes an existing one, `reader` one that only reads it. The quickest is first. */
const kept: Record<string, { argv: string; file: RegExp; later?: string; reader?: string }> = {
  settings: { argv: 'context set own --base-url https://a.example.com', file: /config\.json$/ },
  'kept key': {
    argv: `key import k ${keyed}`,
    later: `key import k --replace ${keyed}`,
    reader: 'key export k --unencrypted --out FOLDER/plain.hex --password-file FOLDER/password',
    file: /keys\/k\.json$/,
  },
  'upload state': {
    argv: 'webhook register --url http://127.0.0.1:9/hook --file FOLDER/addresses.txt',
    file: /uploads\/.*state\.json$/,
  },
  aliases: { argv: `alias set me ${degen}`, file: /config\.json$/ },
  'sandbox database': { argv: '--sandbox sandbox reset --empty', file: /sandbox\.db$/ },
  'undo file': {
    argv: 'follow bulk --file FOLDER/follows.ndjson',
    later: 'follow bulk --file FILE',
    file: /undo\/.*\.ndjson$/,
  },
};

const allIn = (folder: string) => readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();

/** Names and contents of all files except empty ones: locks, and logs into which nothing could be written. */
function contents(folder: string): Map<string, Buffer> {
  return new Map([...contentsOf(folder)].filter(([name, bytes]) => !/-(wal|shm)$/.test(name) && bytes.length > 0));
}

/** A folder of files to work on, and a service that records changes. */
async function place() {
  const folder = temporaryFolder();
  const written: string[] = [];
  const { env } = await stub(({ method, url, body }, response) => {
    const webhook = { uid: 'u-1', destinationUrl: 'http://127.0.0.1:9/hook', secret: 's' };
    if (method !== 'GET') written.push(url === '/v1/swap-comments' ? JSON.parse(body).commentText : url);
    response.setHeader('content-type', 'application/json');
    if (url.startsWith('/v2/leaderboard')) response.end('{"traders":[]}');
    else if (url === '/v1/swap-comments') response.end(JSON.stringify({ ...JSON.parse(body), uid: 'c', timestamp: 1 }));
    else if (url.includes('bulk')) response.end('{"targetProfiles":[]}');
    else response.end(JSON.stringify(method === 'GET' ? (url.includes('webhooks') ? [] : {}) : webhook));
  });
  const comments = Array.from({ length: 12 }, (_, index) => {
    const transactionHash = `0x${(index + 1).toString(16).padStart(64, '0')}`;
    return JSON.stringify({ chain: 'base', transactionHash, tokenAddress: degen, commentText: `comment ${index}` });
  });
  writeKeys(folder);
  writeFileSync(join(folder, 'comments.ndjson'), comments.join('\n'));
  writeFileSync(join(folder, 'addresses.txt'), `${degen}\n`);
  copyFileSync('test/support/follow-bulk.ndjson', join(folder, 'follows.ndjson'));
  const own = { ...env, SOTRA_DATA_DIR: folder, SOTRA_CONFIG_DIR: folder, HOME: folder, XDG_CACHE_HOME: folder };
  return { folder, written, env: own };
}

/** A folder with one of those files, and `again`, which runs the command that reads it as a user without root rights. */
async function keptPlace(name: string) {
  const { folder, written, env } = await place();
  const { argv, file, later = argv } = kept[name] as (typeof kept)[string];
  const first = await run(argv.replaceAll('FOLDER', folder), { env });
  if (first.code !== 0) throw new Error(first.err);
  const path = join(folder, allIn(folder).find((each) => file.test(each)) ?? '');
  if (nobody.uid !== undefined)
    for (const each of ['', ...allIn(folder)]) chownSync(join(folder, each), nobody.uid, nobody.uid);
  written.length = 0;
  const again = (how: Parameters<typeof runBuilt>[2] = {}) =>
    runBuilt(later.replaceAll('FOLDER', folder).replaceAll('FILE', path), env, { ...nobody, ...how });
  return { folder, path, written, again };
}

/** A newer sotra writes a higher number where this one writes its own. */
const newer = (text: string) => text.replace(/"(version|v)": ?\d+/, '"$1": 99');

const harms: Record<string, (file: string) => void> = {
  'overwritten with noise': (file) => writeFileSync(file, `\u0000\u0001 noise {{{\n${'x'.repeat(200)}\n`),
  'cut off in its first line': (file) => writeFileSync(file, `${readFileSync(file, 'utf8').slice(0, 12)}\n`),
  empty: (file) => writeFileSync(file, ''),
  'of a newer sotra': (file) => {
    const bytes = readFileSync(file);
    // Where SQLite keeps the user_version of a database.
    if (file.endsWith('.db')) bytes.writeUInt32BE(99, 60);
    writeFileSync(file, file.endsWith('.db') ? bytes : newer(bytes.toString()));
  },
  'a folder': (file) => {
    rmSync(file);
    mkdirSync(file);
  },
};

const read = ['settings', 'upload state', 'kept key', 'sandbox database'];
const harmed = read.flatMap((name) =>
  Object.entries(harms)
    // A database begins empty, since a process may be killed before its first line, and one of another version has a test of its own.
    .filter(([harm]) => name !== 'sandbox database' || !['of a newer sotra', 'empty'].includes(harm))
    .map(([harm, apply]) => ({ name, harm, apply })),
);

test.each(some(harmed, 12))('a $name that is $harm ends the command, is named, and stays as it is', async (of) => {
  const { folder, env, written } = await place();
  const { argv, file, later = argv, reader = later } = kept[of.name] as (typeof kept)[string];
  expect((await run(argv.replaceAll('FOLDER', folder), { env })).code).toBe(0);
  const path = join(folder, allIn(folder).find((each) => file.test(each)) ?? '');
  of.apply(path);
  // A database's last changes may be beside it; they would repair it.
  for (const beside of ['-wal', '-shm']) rmSync(path + beside, { force: true });
  const [before, sent] = [contentsOf(folder).get(relative(folder, path)), written.length];
  const { code, out, err } = await run(reader.replaceAll('FOLDER', folder), { env });
  expect([3, 11]).toContain(code);
  expect([out, err]).toEqual(['', expect.stringMatching(/\nhint: /)]);
  expect(err).toContain(path);
  expect(written).toHaveLength(sent);
  expect(contentsOf(folder).get(relative(folder, path))).toEqual(before);
});

/** Makes all below a folder read-only. */
function closeFolder(folder: string): void {
  for (const each of ['', ...allIn(folder)]) {
    const file = join(folder, each);
    chmodSync(file, lstatSync(file).isDirectory() ? 0o500 : 0o400);
  }
}

/** Limits the files of a process to so many KiB: larger writes fail as on a full disk. */
const atMostKib = (kib: number) => `trap '' XFSZ; ulimit -f ${kib}`;

const cases = [
  ...some(Object.keys(kept), 1).flatMap((name) => [
    { name, harm: 'that may not be read' },
    { name, harm: 'in a folder that may not be written' },
  ]),
  // The settings have a test with a small disk below: this limit would end their writer by its signal.
  ...some(['undo file', 'kept key', 'upload state', 'sandbox database'], 1).map((name) => ({
    name,
    harm: 'on a full disk',
  })),
];

test.skipIf(!works).each(cases)(
  `a $name $harm is exit 3 with a message, and stays; nothing is sent${why}`,
  async ({ name, harm }) => {
    const { folder, path, written, again } = await keptPlace(name);
    if (harm === 'that may not be read') chmodSync(path, 0);
    if (harm === 'in a folder that may not be written') closeFolder(folder);
    const before = contents(folder);
    const { code, out, err } = await again(harm === 'on a full disk' ? { before: atMostKib(0) } : {});
    expect({ code, out }).toEqual({ code: 3, out: '' });
    if (harm === 'that may not be read') expect(err).toContain(path);
    if (harm === 'in a folder that may not be written')
      expect(err).toContain(name === 'upload state' ? join(folder, 'webhook', 'uploads') : dirname(path));
    expect(err).toMatch(/^error: .*\n(hint: .*\n)?$/m);
    expect(written).toEqual([]);
    expect(contents(folder)).toEqual(before);
  },
);

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
    expect([argv, code, err]).toEqual([argv, 3, expect.stringContaining('no space is left on the disk')]);
  }
  expect(readFileSync(join(folder, 'config.json'), 'utf8')).toBe(before);
});

test.each(
  some(
    [
      'comment sign --file FOLDER/comments.ndjson --key-file FOLDER/evm.hex --service-name Example --out FOLDER/signed',
      'key export k --out FOLDER/out.json',
    ],
    0,
  ),
)('%s on a full disk is exit 3, and no file is left', async (argv) => {
  const { folder, env } = await place();
  const made = `key import k --key-file ${folder}/evm.hex --password-file ${folder}/password`;
  expect((await run(made, { env })).code).toBe(0);
  const before = contents(folder);
  const { code, out, err } = await runBuilt(argv.replaceAll('FOLDER', folder), env, { before: atMostKib(0) });
  expect([code, out, err]).toEqual([3, '', expect.stringMatching(/^error: /m)]);
  expect(contents(folder)).toEqual(before);
});

test.each(some(['--help', '--version', '--help --json', '--sandbox leaderboard list'], 1))(
  '%s with its output on a full disk is exit 3 and says so',
  async (argv) => {
    const { code, err } = await runBuilt(argv, (await place()).env, { after: '> /dev/full' });
    expect([code, err]).toEqual([3, expect.stringContaining('cannot write to stdout: no space is left on the disk')]);
  },
);

test.each(some(['2>/dev/full', '2>&-', '<&-'], 1))(
  'a command whose notes nobody can read (%s) does its work',
  async (after) => {
    // The first context says that it is the current one now.
    const argv = 'context set own --base-url https://a.example.com --columns name';
    const { folder, env } = await place();
    expect(await runBuilt(argv, env, { after })).toMatchObject({ code: 0, out: 'name\town\n' });
    expect(readFileSync(join(folder, 'config.json'), 'utf8')).toContain('https://a.example.com');
  },
);

test('a history that cannot be written is one note, and the exit code is the one of the call', async () => {
  const { env } = await place();
  const { code, out, err } = await runBuilt('leaderboard list --json', env, { before: atMostKib(0) });
  expect([code, JSON.parse(out)]).toEqual([0, { traders: [] }]);
  expect(err).toMatch(/^warning: this call is not in the history: the file would be too large[^\n]*\n$/);
  expect(JSON.parse((await run('history --json', { env })).out)).toEqual([]);
});

test.skipIf(!works)(`in a read-only home a call is answered and not kept, with one note${why}`, async () => {
  const home = temporaryFolder();
  const { env, written } = await place();
  const { SOTRA_DATA_DIR: _, SOTRA_CONFIG_DIR: __, XDG_CACHE_HOME: ___, ...others } = env;
  chmodSync(home, 0o555);
  const { code, out, err } = await runBuilt('leaderboard list --json', { ...others, HOME: home }, nobody);
  expect([code, JSON.parse(out)]).toEqual([0, { traders: [] }]);
  expect(err).toMatch(/^warning: this call is not in the history: permission denied[^\n]*\n$/);
  expect([readdirSync(home), written]).toEqual([[], []]);
});

// /proc exists and takes no folder, as some mounts do.
const unmakeable: readonly (readonly [argv: string, more: Record<string, string>])[] = [
  ['context set x --base-url http://127.0.0.1:9', { SOTRA_CONFIG_DIR: '/proc/none' }],
  ['sandbox start --db /proc/none/x.db --port 0', {}],
  ['--sandbox leaderboard list', { SOTRA_DATA_DIR: '/proc/none/here' }],
];

test.skipIf(!existsSync('/proc/self')).each(some(unmakeable, 1))(
  '%s with %j: a folder that cannot be made ends a command, and nothing is sent',
  async (argv, more) => {
    const service = await answering({ traders: [] });
    const env = { ...service.env, SOTRA_CONFIG_DIR: temporaryFolder(), SOTRA_DATA_DIR: temporaryFolder(), ...more };
    const ended = await runBuilt(argv, env, { timeout: 30_000, killSignal: 'SIGKILL' });
    expect(ended).toMatchObject({ code: 3, out: '', err: expect.stringContaining('/proc/none') });
    expect(service.requests).toEqual([]);
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
  ).toMatchObject({
    code: 0,
  });
  expect(readdirSync(folder).sort()).toEqual(
    ['config.json', 'config.json.sotra-99999999.tmp', 'config.lock', ...theirs].sort(),
  );
  for (const name of theirs) expect(readFileSync(join(folder, name), 'utf8')).toBe('{"half');
});
