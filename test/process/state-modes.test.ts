import { type SpawnOptions, spawn, spawnSync } from 'node:child_process';
import { chmodSync, chownSync, existsSync, lstatSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { answering, run, stub, temporaryFolder } from '../support/harness.ts';
import { fillInbox } from '../support/inbox.ts';
import { long, some } from '../support/size.ts';
import { degen, writeKeys } from '../support/traders.ts';

// The superuser may do everything: as root, the commands run as nobody.
const nobody = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
const works = spawnSync(process.execPath, ['bin/sotra.js', '--version'], { ...nobody, env: {} }).status === 0;
const why = works ? '' : ' (skipped: nobody may not read this folder)';

/** Runs the built program, as whoever runs the tests or as somebody whom file modes bind. */
function runAs(
  user: Pick<SpawnOptions, 'uid' | 'gid' | 'timeout' | 'killSignal'>,
  argv: string[],
  env: Record<string, string>,
): Promise<{ code: number | null; out: string; err: string }> {
  const child = spawn(process.execPath, ['bin/sotra.js', ...argv], {
    ...user,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const text = { out: '', err: '' };
  child.stdout.on('data', (chunk) => {
    text.out += chunk;
  });
  child.stderr.on('data', (chunk) => {
    text.err += chunk;
  });
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, ...text })));
}

async function service() {
  const written: string[] = [];
  const { env } = await stub(({ method, url, body }, response) => {
    response.setHeader('content-type', 'application/json');
    const webhook = { uid: 'u-1', destinationUrl: 'http://127.0.0.1:9/hook', secret: 's' };
    if (method !== 'GET') written.push(`${method} ${url}`);
    if (url.startsWith('/v2/leaderboard')) return void response.end('{"traders":[]}');
    if (url === '/v1/swap-comments') return void response.end(JSON.stringify({ ...JSON.parse(body), uid: 'c' }));
    if (url.includes('bulk')) return void response.end('{"targetProfiles":[]}');
    response.end(JSON.stringify(method === 'GET' ? [] : webhook));
  });
  return { env, written };
}

const keyed = '--key-file FOLDER/evm.hex --password-file FOLDER/password';

/**
 * What each command keeps, by a pattern of its path; the same command reads and writes it. `npm test` takes the first, which is
 * quick: no key, whose password takes seconds on purpose.
 */
const kept: Record<string, { argv: string; file: RegExp; later?: string }> = {
  settings: { argv: 'context set own --base-url https://a.example.com', file: /config\.json$/ },
  'kept key': { argv: `key import k ${keyed}`, later: `key import k --replace ${keyed}`, file: /keys\/k\.json$/ },
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

function allIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();
}

/** Names and contents of all files. */
function contents(folder: string): Record<string, string> {
  const files = allIn(folder).filter((name) => lstatSync(join(folder, name)).isFile() && !/-(wal|shm)$/.test(name));
  return Object.fromEntries(files.map((name) => [name, readFileSync(join(folder, name), 'latin1')]));
}

async function place(name: string, reads?: string) {
  const folder = temporaryFolder();
  writeKeys(folder);
  const { env, written } = await service();
  const comment = { chain: 'base', transactionHash: `0x${'1'.repeat(64)}`, tokenAddress: degen, commentText: 'gm' };
  writeFileSync(join(folder, 'comments.ndjson'), `${JSON.stringify(comment)}\n`);
  writeFileSync(join(folder, 'addresses.txt'), `${degen}\n`);
  writeFileSync(join(folder, 'follows.ndjson'), `${JSON.stringify({ addressOrUid: 'ext:me', targets: [degen] })}\n`);
  const { argv, file, later = argv } = kept[name] as (typeof kept)[string];
  const all = { ...env, SOTRA_DATA_DIR: folder, SOTRA_CONFIG_DIR: folder };
  const first = await run(argv.replaceAll('FOLDER', folder), { env: all });
  if (first.code !== 0) throw new Error(first.err);
  const path = join(folder, allIn(folder).find((each) => file.test(each)) ?? '');
  if (nobody.uid !== undefined)
    for (const each of ['', ...allIn(folder)]) chownSync(join(folder, each), nobody.uid, nobody.uid);
  written.length = 0;
  const again = () =>
    runAs(nobody, (reads ?? later).replaceAll('FOLDER', folder).replaceAll('FILE', path).split(' '), all);
  return { folder, path, written, again };
}

test.skipIf(!works).each(some(Object.keys(kept), 1))(
  `a %s that may not be read is exit 3, named, and stays${why}`,
  async (name) => {
    const { folder, path, written, again } = await place(name);
    chmodSync(path, 0);
    const before = contents(folder);
    const { code, out, err } = await again();
    expect({ code, out }).toEqual({ code: 3, out: '' });
    expect(err).toContain(path);
    expect(err).toContain('hint: ');
    expect(written).toEqual([]);
    expect(contents(folder)).toEqual(before);
  },
);

test.skipIf(!works).each(some(Object.keys(kept), 1))(
  `a %s in a folder that may not be written is exit 3, named, and stays${why}`,
  async (name) => {
    const { folder, path, written, again } = await place(name);
    for (const each of ['', ...allIn(folder)]) {
      const file = join(folder, each);
      chmodSync(file, lstatSync(file).isDirectory() ? 0o500 : 0o400);
    }
    const before = contents(folder);
    const { code, out, err } = await again();
    expect({ code, out }).toEqual({ code: 3, out: '' });
    expect(err).toContain(name === 'upload state' ? join(folder, 'webhook', 'uploads') : dirname(path));
    expect(err).toContain('hint: ');
    expect(written).toEqual([]);
    expect(contents(folder)).toEqual(before);
  },
);

const longWhereItWorks = works ? long : () => undefined;

longWhereItWorks('a store of deliveries on a disk that cannot be written is read', async () => {
  const folder = temporaryFolder();
  await fillInbox(folder, [{ atMs: Date.now(), body: Buffer.from('{"eventId":"one","eventType":"copyswap"}') }]);
  for (const each of ['', ...allIn(folder)]) {
    const file = join(folder, each);
    if (nobody.uid !== undefined) chownSync(file, nobody.uid, nobody.uid);
    chmodSync(file, lstatSync(file).isDirectory() ? 0o500 : 0o400);
  }
  const env = { SOTRA_DATA_DIR: folder, SOTRA_CONFIG_DIR: folder };
  const listed = await runAs(nobody, ['webhook', 'events', '--json'], env);
  expect([listed.code, JSON.parse(listed.out).map(({ eventId }: { eventId: string }) => eventId)]).toEqual([
    0,
    ['one'],
  ]);
  const refused = await runAs(nobody, ['webhook', 'forward', '--forward-to', 'http://127.0.0.1:1/in'], env);
  expect([refused.code, refused.out]).toEqual([3, '']);
});

test.skipIf(!works)(
  `in a home that may not be written a call is answered and not kept, with one note${why}`,
  async () => {
    const home = temporaryFolder();
    const { env, written } = await service();
    chmodSync(home, 0o555);
    const runThere = (argv: string) => runAs(nobody, argv.split(' '), { ...env, HOME: home });
    const { code, out, err } = await runThere('leaderboard list --json');
    expect([code, JSON.parse(out)]).toEqual([0, { traders: [] }]);
    expect(err).toMatch(/^warning: this call is not in the history: permission denied[^\n]*\n$/);
    expect([readdirSync(home), written]).toEqual([[], []]);
  },
);

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
    const ended = await runAs({ timeout: 30_000, killSignal: 'SIGKILL' }, argv.split(' '), env);
    expect(ended).toMatchObject({ code: 3, out: '', err: expect.stringContaining('/proc/none') });
    expect(service.requests).toEqual([]);
  },
);
