import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { readdirSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { run, stub, temporaryFolder } from '../support/harness.ts';
import { long, some } from '../support/size.ts';
import { until } from '../support/until.ts';

const wallet = '0xb7b6f3cea3f66bf525f5d8f965f6dbf6d9b017b2';
const hash = `0x${'5'.repeat(64)}`;
const swap = `--chain base --tx ${hash} --token ${wallet}`;

/**
 * Each place where a file may be named; `{pipe}` is a pipe that nobody writes to, or reads from. For a secret it is waited for five seconds: neither
 * is the first or the fifth, which `npm test` takes.
 */
const places = [
  'follow bulk --file {pipe}',
  'webhook register --url http://127.0.0.1:9/h --file {pipe}',
  'webhook listen --port 0 --secret-file {pipe}',
  'webhook verify --header t=1,v1=a --secret-file {pipe}',
  'webhook register --url http://127.0.0.1:9/h --wallet-addresses ext:1 --rejects {pipe}',
  `comment sign --text gm --key-file {pipe} ${swap}`,
  `comment sign --text-file {pipe} --preview ${swap}`,
  'comment sign --file {pipe} --preview',
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

interface Ended {
  code: number | null;
  ms: number;
  err: string;
}

/** Runs the program until it ends by itself, or by a signal that comes once it has opened the pipe. */
async function withPipe(line: string, env: Record<string, string>): Promise<Ended> {
  const folder = temporaryFolder();
  const pipe = join(folder, 'pipe');
  execFileSync('mkfifo', [pipe]);
  const all = { PATH: process.env['PATH'], SOTRA_DATA_DIR: folder, SOTRA_CONFIG_DIR: folder, ...env };
  const argv = line.replaceAll('{pipe}', pipe).split(' ');
  const child = spawn(process.execPath, ['bin/sotra.js', ...argv], { env: all, stdio: ['ignore', 'pipe', 'pipe'] });
  let err = '';
  child.stderr.on('data', (chunk) => {
    err += chunk;
  });
  child.stdout.resume();
  const closed = new Promise<number | null>((resolve) => child.once('close', resolve));
  let hasEnded = false;
  closed.then(() => {
    hasEnded = true;
  });
  await until(() => hasEnded || filesOf(child.pid).includes(pipe));
  const signalledMs = performance.now();
  child.kill('SIGTERM');
  return { code: await closed, err, ms: performance.now() - signalledMs };
}

/** The files that a process has open. */
function filesOf(pid: number | undefined): string[] {
  const folder = `/proc/${pid}/fd`;
  try {
    return readdirSync(folder).map((name) => readlinkSync(join(folder, name)));
  } catch {
    return [];
  }
}

test.skipIf(process.platform !== 'linux')(
  'a pipe that nobody serves holds no command: it ends with an error, or with the signal',
  async () => {
    const service = await stub((_, response) => response.end('[]'));
    const ended = new Map<string, Ended>();
    const tried = some(places, 4);
    for (let at = 0; at < tried.length; at += 5)
      await Promise.all(
        tried.slice(at, at + 5).map(async (line) => ended.set(line, await withPipe(line, service.env))),
      );
    for (const [line, { code, ms, err }] of ended) {
      expect([line, code === null || code === 0 || code === 1, err]).toEqual([line, false, expect.stringMatching(/./)]);
      // Some wait a few seconds for the writer; a signal ends them then at the latest.
      expect([line, ms < 8000]).toEqual([line, true]);
    }
  },
);

function bash(script: string) {
  const folder = temporaryFolder();
  const env = { PATH: process.env['PATH'], SOTRA_DATA_DIR: folder, SOTRA_CONFIG_DIR: folder };
  const { status, stdout, stderr } = spawnSync('bash', ['-c', script], { env, encoding: 'utf8' });
  return [status, stdout, stderr];
}

const sotra = `${process.execPath} bin/sotra.js`;

test('what a shell writes to a pipe is read whole, wherever a file is named', () => {
  expect(bash(`${sotra} --sandbox request POST /v1/nothing --data @<(sleep 0.3; echo '{"a":1}') --dry-run`)).toEqual([
    0,
    expect.stringContaining('{"a":1}'),
    expect.any(String),
  ]);
  const verify = `${sotra} webhook verify --header t=1,v1=aaaa --file <(echo body) --secret-file <(sleep 0.3; echo c2VjcmV0)`;
  expect(bash(verify)).toEqual([12, expect.any(String), expect.any(String)]);
});

long('a list that a shell writes to a pipe is read whole', () => {
  const [, out] = bash(
    `${sotra} --sandbox webhook register --url http://127.0.0.1:9/h --file <(seq 1 2000 | sed 's/^/ext:/') --json`,
  );
  expect(JSON.parse(String(out))).toMatchObject({ addresses: 2000 });
});

test('a large file of a secret is refused, a folder and a device too', async () => {
  for (const [file, why] of [
    ['/dev/zero', 'is a pipe, socket or device'],
    ['/', 'is a folder'],
  ])
    expect((await run(`webhook verify --header t=1,v1=a --secret-file ${file}`, { stdin: 'x' })).err).toContain(why);
});
