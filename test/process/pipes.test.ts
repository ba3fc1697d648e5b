import { type ChildProcess, execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { run, stub, temporaryFolder } from '../support/harness.ts';
import { secret, send, signed } from '../support/listening.ts';
import { start } from '../support/processes.ts';
import { long, size, some } from '../support/size.ts';
import { until } from '../support/until.ts';

const wallet = '0xb7b6f3cea3f66bf525f5d8f965f6dbf6d9b017b2';
const swap = `--chain base --tx 0x${'5'.repeat(64)} --token ${wallet}`;

/** Every option that takes a file; nobody writes to `{pipe}` or reads from it. */
const places = [
  'follow bulk --file {pipe}',
  'webhook register --url http://127.0.0.1:9/h --file {pipe}',
  'webhook listen --port 0 --secret-file {pipe}',
  'webhook verify --header t=1,v1=a --secret-file {pipe}',
  'webhook register --url http://127.0.0.1:9/h --wallet-addresses ext:1 --rejects {pipe}',
  `comment sign --text gm --key-file {pipe} ${swap}`,
  `comment sign --text-file {pipe} --dry-run ${swap}`,
  'comment sign --file {pipe} --dry-run',
  'comment post --signed {pipe}',
  'comment verify --signed {pipe}',
  'key import trader --key-file {pipe} --password-file {pipe}',
  'key generate trader --password-file {pipe}',
  `profile positions ${wallet} open --prices-file {pipe}`,
  'request POST /v1/x --data @{pipe}',
  'sandbox import {pipe} --db :memory:',
  'sandbox status --db {pipe}',
  'bundle --out {pipe} --yes',
];

/** The files that a process has open. */
function filesOf(pid: number | undefined): string[] {
  const folder = `/proc/${pid}/fd`;
  try {
    return readdirSync(folder).map((name) => readlinkSync(join(folder, name)));
  } catch {
    return [];
  }
}

test.skipIf(process.platform !== 'linux').each(some(places, 2))(
  '%s: with a pipe that nobody serves the command ends with an error or by the signal',
  async (line) => {
    const service = await stub((_, response) => response.end('[]'));
    const folder = temporaryFolder();
    const pipe = join(folder, 'pipe');
    execFileSync('mkfifo', [pipe]);
    const { child, printed, ended } = start(line.replaceAll('{pipe}', pipe), {
      ...service.env,
      SOTRA_DATA_DIR: folder,
    });
    child.stdin.end();
    await until(() => child.exitCode !== null || filesOf(child.pid).includes(pipe));
    const signalledMs = performance.now();
    child.kill('SIGTERM');
    expect([null, 0, 1]).not.toContain(await ended);
    expect(printed.err).not.toBe('');
    expect(performance.now() - signalledMs).toBeLessThan(3000);
  },
);

test('a pipe instead of the settings is exit 3 at once', async () => {
  const folder = temporaryFolder();
  execFileSync('mkfifo', [join(folder, 'config.json')]);
  const env = { SOTRA_CONFIG_DIR: folder, SOTRA_API_KEY: 'k' };
  for (const argv of ['context list', 'leaderboard list', 'alias list', 'auth status'])
    expect([argv, (await run(argv, { env })).code]).toEqual([argv, 3]);
});

/** Runs a line in a shell, in which `sotra` is the built program. */
function bash(line: string) {
  const folder = temporaryFolder();
  const env = { PATH: process.env['PATH'], SOTRA_DATA_DIR: folder, SOTRA_CONFIG_DIR: folder };
  const script = line.replaceAll('sotra', `${process.execPath} bin/sotra.js`);
  return spawnSync('bash', ['-c', script], { env, encoding: 'utf8' });
}

test('pipes that a shell fills late are read whole, also several', () => {
  const secretFile = '--secret-file <(sleep 0.3; echo c2VjcmV0)';
  expect(bash(`sotra webhook verify --header t=1,v1=aaaa --file <(echo body) ${secretFile}`).status).toBe(12);
});

long('a list and a body that a shell writes to a pipe are read whole', () => {
  const list = "--url http://127.0.0.1:9/h --file <(seq 1 2000 | sed 's/^/ext:/') --json";
  expect(JSON.parse(bash(`sotra --sandbox webhook register ${list}`).stdout)).toMatchObject({ addresses: 2000 });
  const body = `--data @<(sleep 0.3; echo '{"a":1}') --dry-run`;
  expect(bash(`sotra --sandbox request POST /v1/nothing ${body}`).stdout).toContain('{"a":1}');
});

test('a device or a folder instead of a secret is refused', async () => {
  for (const [file, why] of [
    ['/dev/zero', 'is larger than 1 MB'],
    ['/', 'it is a folder'],
  ])
    expect((await run(`webhook verify --header t=1,v1=a --secret-file ${file}`, { stdin: 'x' })).err).toContain(why);
});

const perPage = 100;
/** Names of ten thousand bytes: a megabyte; in the proof 60 MB, as no answer may be larger than 64. */
const count = size(100, 6000);

const nameOf = (index: number) => `${index} Zoë 漢 ${'abcdefghij'.repeat(1000)}`;
const profileOf = (index: number) => `{"id":"p${index}","name":"${nameOf(index)}","addresses":[],"big":0.1}`;

function* range(of: (index: number) => string, from = 0, to = count): Generator<string> {
  for (let index = from; index < to; index += 1) yield of(index);
}

/** JSON as it is printed, two spaces a level: so it comes out as it went in, byte for byte. */
function* board(): Generator<string> {
  yield '{\n  "traders": [],\n  "more": [\n';
  yield* range((index) => `    "${nameOf(index)}"${index === count - 1 ? '' : ','}\n`);
  yield '  ]\n}\n';
}

function* page(url: string): Generator<string> {
  const first = Number(new URL(url, 'http://service').searchParams.get('cursor') ?? 0);
  const next = Math.min(first + perPage, count);
  yield '{"items":[';
  yield* range((index) => `${index === first ? '' : ','}${profileOf(index)}`, first, next);
  yield `],"cursor":"${next === count ? '' : next}"}`;
}

const forms: readonly { argv: string; must: () => Generator<string> }[] = [
  {
    argv: `profile followers ${wallet} --all --quiet --format ndjson`,
    must: () => range((at) => `${profileOf(at)}\n`),
  },
  {
    argv: `profile followers ${wallet} --all --quiet --format csv --columns name`,
    must: () => range((at) => (at < 0 ? 'name\n' : `${nameOf(at)}\n`), -1),
  },
  { argv: 'leaderboard list --quiet --json', must: board },
  { argv: 'request GET /large', must: board },
];

async function digestOf(pieces: Iterable<string> | AsyncIterable<Uint8Array>): Promise<string> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const piece of pieces) {
    hash.update(piece);
    bytes += Buffer.byteLength(piece);
  }
  return `${bytes} ${hash.digest('hex')}`;
}

/** Reads stdout a bit at a time, and only once the pipe is full. */
async function* sips({ stdout }: ChildProcess): AsyncGenerator<Uint8Array> {
  if (stdout === null) return;
  let over = false;
  stdout.on('end', () => {
    over = true;
  });
  // Without a listener Node drops the rest of a stream when its process has ended.
  stdout.on('readable', () => undefined);
  const tick = () => new Promise((resolve) => setImmediate(resolve));
  // Nobody reads what is buffered here, so that the program cannot write on.
  stdout.read(0);
  while (!over && stdout.readableLength < stdout.readableHighWaterMark) await tick();
  while (!over) {
    const sip = stdout.read(Math.min(4000, Math.max(1, stdout.readableLength)));
    if (sip !== null) yield sip;
    await tick();
  }
}

test.each(some(forms, 1))('$argv comes whole through a pipe that is read a bit at a time', async ({ argv, must }) => {
  const { env } = await stub(({ url }, response) => {
    response.setHeader('content-type', 'application/json');
    Readable.from(url.includes('/followers') ? page(url) : board()).pipe(response);
  });
  const { child, printed, ended } = start(argv, env);
  child.stdout.removeAllListeners('data').pause();
  const came = await digestOf(sips(child));
  expect([await ended, printed.err]).toEqual([0, '']);
  expect(came).toBe(await digestOf(must()));
});

long(
  'a listener whose output nobody reads keeps a bounded part of it, stores all, and says how many it did not print',
  async () => {
    const folder = temporaryFolder();
    const [file, ready] = [join(folder, 'secret'), join(folder, 'ready.json')];
    writeFileSync(file, `${secret}\n`, { mode: 0o600 });
    const argv = `webhook listen --port 0 --secret-file ${file} --ready-file ${ready} --json`;
    const { child, printed, ended } = start(argv, { SOTRA_DATA_DIR: folder });
    child.stdout.pause();
    await until(() => existsSync(ready), 'the listener listens');
    const { url } = JSON.parse(readFileSync(ready, 'utf8'));
    for (let index = 0; index < 30; index += 1) {
      const body = JSON.stringify({ eventId: `e${index}`, eventType: 'x', pad: 'x'.repeat(1024 ** 2) });
      expect(await send(url, body, signed(body))).toBe(200);
    }
    child.stdout.resume();
    await until(() => printed.err.includes('not printed'), 'the listener says what it left out');
    child.kill('SIGINT');
    await ended;
    const shown = printed.out.trimEnd().split('\n').length;
    const [, omitted] = /(\d+) events not printed, because the output was not read/.exec(printed.err) ?? [];
    expect(shown + Number(omitted)).toBe(30);
    expect(shown).toBeLessThan(20);
  },
);
