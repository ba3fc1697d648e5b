import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { expect, onTestFinished, test } from 'vitest';
import { stub, temporaryFolder } from '../support/harness.ts';
import { size, some } from '../support/size.ts';

const wallet = '0xa4e221aa5a7ba51b5d5c7d5c923bfb9bcebcb252';
const perPage = 100;
const nameBytes = 10_000;

/** A name as no other, of some thousand characters. */
const nameOf = (index: number) => `${index} Zoë 漢 ${'abcdefghij'.repeat(nameBytes / 10)}`;
const profileOf = (index: number) => `{"id":"p${index}","name":"${nameOf(index)}","addresses":[],"big":0.1}`;

/** The forms of output, with what a service of so many names sends them and what must come of it. */
const forms = {
  ndjson: {
    argv: `profile followers ${wallet} --all --quiet --format ndjson`,
    must: (count: number) => range(count, (index) => `${profileOf(index)}\n`),
  },
  csv: {
    argv: `profile followers ${wallet} --all --quiet --format csv --columns name`,
    must: function* (count: number) {
      yield 'name\n';
      yield* range(count, (index) => `${nameOf(index)}\n`);
    },
  },
  json: { argv: 'leaderboard list --quiet --json', must: board },
  request: { argv: 'request GET /large', must: board },
} as const;

/** JSON as it is printed, two spaces a level: so it comes out as it went in, byte for byte. */
function* board(count: number): Generator<string> {
  yield '{\n  "traders": [],\n  "more": [\n';
  yield* range(count, (index) => `    "${nameOf(index)}"${index === count - 1 ? '' : ','}\n`);
  yield '  ]\n}\n';
}

function* range(count: number, of: (index: number) => string): Generator<string> {
  for (let index = 0; index < count; index += 1) yield of(index);
}

function* page(url: string, count: number): Generator<string> {
  const first = Number(new URL(url, 'http://service').searchParams.get('cursor') ?? 0);
  const next = Math.min(first + perPage, count);
  yield '{"items":[';
  for (let index = first; index < next; index += 1) yield `${index === first ? '' : ','}${profileOf(index)}`;
  yield `],"cursor":"${next === count ? '' : next}"}`;
}

interface Text {
  bytes: number;
  sha256: string;
}

/** Bytes and digest of a text in pieces. */
async function digestOf(pieces: Iterable<string> | AsyncIterable<Uint8Array>): Promise<Text> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const piece of pieces) {
    hash.update(piece);
    bytes += Buffer.byteLength(piece);
  }
  return { bytes, sha256: hash.digest('hex') };
}

/** A service of so many names, and the environment that the built program needs to ask it; nothing is held whole. */
async function serveNames(count: number): Promise<NodeJS.ProcessEnv> {
  const { env } = await stub(({ url }, response) => {
    response.setHeader('content-type', 'application/json');
    Readable.from(url.includes('/followers') ? page(url, count) : board(count)).pipe(response);
  });
  const folder = temporaryFolder();
  return { ...env, PATH: process.env['PATH'], SOTRA_CONFIG_DIR: folder, SOTRA_DATA_DIR: folder };
}

/** What came of the built program, read a bit at a time, and only once the pipe is full; with its exit code and stderr. */
async function readSlowly(argv: string, env: NodeJS.ProcessEnv): Promise<Text & { code: number | null; err: string }> {
  const child = spawn(process.execPath, ['bin/sotra.js', ...argv.split(' ')], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let err = '';
  child.stderr.on('data', (chunk) => {
    err += chunk;
  });
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
  const text = await digestOf(sips(child));
  return { ...text, code: await ended, err };
}

async function* sips({ stdout }: ChildProcess): AsyncGenerator<Uint8Array> {
  if (stdout === null) return;
  let over = false;
  stdout.on('end', () => {
    over = true;
  });
  // Without a listener Node lets the rest of a stream go when its process has ended.
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

/** Of ten thousand bytes each: 3 MB; in the proof 105 MB of pages, and 64 MB where all is one answer, as none may be larger. */
const names = { ndjson: size(300, 10_500), csv: size(300, 10_500), json: size(300, 6400), request: size(300, 6400) };

test.each(some(Object.entries(forms), 1))(
  'much of %s comes whole through a pipe that is read a bit at a time',
  async (name, form) => {
    const count = names[name as keyof typeof names];
    const { code, err, ...came } = await readSlowly(form.argv, await serveNames(count));
    expect([code, err]).toEqual([0, '']);
    expect(came).toEqual(await digestOf(form.must(count)));
    expect(came.bytes).toBeGreaterThan(count * 10_000);
  },
);
