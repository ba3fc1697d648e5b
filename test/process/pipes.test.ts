import { type ChildProcess, execFileSync } from 'node:child_process';
import { readdirSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { stub, temporaryFolder, until } from '../support/harness.ts';
import { start, startShell } from '../support/processes.ts';
import { some } from '../support/size.ts';
import { degen, evmTrader } from '../support/traders.ts';

const wallet = '0xb7b6f3cea3f66bf525f5d8f965f6dbf6d9b017b2';
const swap = `--chain base --tx 0x${'5'.repeat(64)} --token ${wallet}`;

/** Options that take a file, of each kind; nobody writes to `{pipe}` or reads from it. */
const places = [
  'webhook register --url http://127.0.0.1:9/h --file {pipe}',
  'webhook listen --port 0 --secret-file {pipe}',
  'webhook register --url http://127.0.0.1:9/h --wallet-addresses ext:1 --rejects {pipe}',
  `comment sign --text gm --key-file {pipe} ${swap}`,
  'request POST /v1/x --data @{pipe}',
  'sandbox import {pipe} --db :memory:',
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
    const own = { SOTRA_DATA_DIR: folder };
    const pipe = join(folder, 'pipe');
    execFileSync('mkfifo', [pipe]);
    const { child, printed, ended } = start(line.replaceAll('{pipe}', pipe), { ...service.env, ...own });
    child.stdin.end();
    await until(() => child.exitCode !== null || filesOf(child.pid).includes(pipe));
    const signalledMs = performance.now();
    child.kill('SIGTERM');
    expect([null, 0, 1]).not.toContain(await ended);
    expect(printed.err).not.toBe('');
    expect(performance.now() - signalledMs).toBeLessThan(3000);
  },
);

test('pipes that a shell fills late are read whole, also several', async () => {
  const secretFile = '--secret-file <(sleep 0.3; echo c2VjcmV0)';
  const { ended } = startShell(`sotra webhook verify --header t=1,v1=aaaa --file <(echo body) ${secretFile}`);
  expect(await ended).toBe(12);
});

test('a key and a password that come through pipes are read once', async () => {
  const folder = temporaryFolder();
  const env = { SOTRA_DATA_DIR: folder };
  const pipes = (name: string) => `sotra key import ${name} --password-file <(echo pw) --key-file`;
  const stored = `${pipes('first')} <(echo ${evmTrader.key}) && ${pipes('second')} ${join(folder, 'keys', 'first.json')}`;
  expect(await startShell(stored, env).ended).toBe(0);
  const last = startShell(
    `sotra sandbox trade --chain base --trader ${evmTrader.address} --side buy --amount 1 --usd 41 --token ${degen} && ` +
      `sotra --sandbox comment post gm --last --key-file <(echo ${evmTrader.key}) --yes`,
    env,
  );
  expect([await last.ended, last.printed.out]).toEqual([0, expect.stringContaining('text\tgm\n')]);
});

/** Reads stdout a bit at a time, and only once the pipe is full. */
async function readSlowly({ stdout }: ChildProcess): Promise<string> {
  const pieces: Buffer[] = [];
  let isOver = stdout === null;
  stdout?.on('end', () => (isOver = true));
  // Without a listener Node drops the rest of a stream when its process has ended.
  stdout?.on('readable', () => undefined);
  const tick = () => new Promise((resolve) => setImmediate(resolve));
  while (!isOver && (stdout?.readableLength ?? 0) < (stdout?.readableHighWaterMark ?? 0)) await tick();
  while (!isOver) {
    const piece = stdout?.read(Math.min(4000, Math.max(1, stdout.readableLength)));
    if (piece) pieces.push(piece);
    await tick();
  }
  return Buffer.concat(pieces).toString();
}

/** Profiles of ten thousand bytes: a megabyte of them. */
const profiles = Array.from({ length: 100 }, (_, index) => ({
  id: `p${index}`,
  name: `${index} Zoë 漢 ${'abcdefghij'.repeat(1000)}`,
  addresses: [],
}));

test.each([
  [`profile followers ${wallet} --all --quiet --format ndjson`, profiles.map((each) => `${JSON.stringify(each)}\n`)],
  ['request GET /large', [`${JSON.stringify({ traders: profiles }, null, 2)}\n`]],
])('%s comes whole through a pipe that is read a bit at a time', async (argv, lines) => {
  const { env } = await stub(({ url }, response) => {
    const from = Number(new URL(url, 'http://service').searchParams.get('cursor') ?? 0);
    const page = { items: profiles.slice(from, from + 50), cursor: from === 0 ? '50' : '' };
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(url === '/large' ? { traders: profiles } : page));
  });
  const { child, printed, ended } = start(argv, env);
  child.stdout.removeAllListeners('data').pause();
  const out = await readSlowly(child);
  expect([await ended, printed.err, out === lines.join('')]).toEqual([0, '', true]);
});
