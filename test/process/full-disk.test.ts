import { execFile, execFileSync } from 'node:child_process';
import { copyFileSync, lstatSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { run as runHere, type Seen, stub, temporaryFolder } from '../support/harness.ts';
import { smallDisk } from '../support/hostile/attack.ts';
import { some } from '../support/size.ts';
import { degen, writeKeys } from '../support/traders.ts';

const execute = promisify(execFile);

/** A process that may write files of so many KiB, and then gets the errors that a full disk gives. */
async function limited(kib: number, argv: string, env: Record<string, string>) {
  const script = `trap '' XFSZ; ulimit -f ${kib}; exec ${process.execPath} bin/sotra.js ${argv}`;
  const all = { PATH: process.env['PATH'], ...env };
  const done = execute('bash', ['--norc', '-c', script], { env: all });
  return done.then(
    ({ stdout, stderr }) => ({ code: 0, out: stdout, err: stderr }),
    ({ code, stdout, stderr }) => ({ code, out: stdout, err: stderr }),
  );
}

async function service() {
  const taken: Record<string, unknown>[] = [];
  const { env } = await stub(({ method, url, body }: Seen, response) => {
    response.setHeader('content-type', 'application/json');
    if (url.startsWith('/v2/leaderboard')) return void response.end('{"traders":[]}');
    if (method === 'GET') {
      const hash = new URL(url, 'http://stub').searchParams.get('transactionHashes') ?? '';
      const comments = taken.filter(({ transactionHash }) => transactionHash === hash);
      return void response.end(
        url.includes('webhooks') ? '[]' : JSON.stringify({ [hash]: { comments, insights: [] } }),
      );
    }
    const { signature: _, ...sent } = JSON.parse(body);
    taken.push(sent);
    const answer = url.includes('webhooks')
      ? { uid: 'u', destinationUrl: 'http://127.0.0.1:9/hook', secret: 's' }
      : sent;
    response.end(JSON.stringify({ uid: `c${taken.length}`, timestamp: 1, ...answer }));
  });
  return { env, taken };
}

/** Everything in a folder: names and contents. */
function contents(folder: string): Record<string, string> {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();
  const files = names.filter((name) => lstatSync(join(folder, name)).isFile());
  return Object.fromEntries(files.map((name) => [name, readFileSync(join(folder, name), 'utf8')]));
}

async function place() {
  const folder = temporaryFolder();
  writeKeys(folder);
  const { env, taken } = await service();
  const comments = Array.from({ length: 12 }, (_, index) => ({
    chain: 'base',
    transactionHash: `0x${(index + 1).toString(16).padStart(64, '0')}`,
    tokenAddress: degen,
    commentText: `comment ${index}`,
  }));
  writeFileSync(join(folder, 'comments.ndjson'), comments.map((each) => `${JSON.stringify(each)}\n`).join(''));
  writeFileSync(join(folder, 'addresses.txt'), `${degen}\n`);
  copyFileSync('test/support/follow-bulk.ndjson', join(folder, 'follows.ndjson'));
  const all = { ...env, SOTRA_DATA_DIR: folder, SOTRA_CONFIG_DIR: folder, HOME: folder, XDG_CACHE_HOME: folder };
  return {
    folder,
    taken,
    env: all,
    run: (kib: number, argv: string) => limited(kib, argv, all),
  };
}

test.each(
  some(
    [
      'follow bulk --file FOLDER/follows.ndjson',
      'key import k --key-file FOLDER/evm.hex --password-file FOLDER/password --replace',
      'comment sign --file FOLDER/comments.ndjson --key-file FOLDER/evm.hex --service-name Example --out FOLDER/signed',
      'key export k --out FOLDER/out.json',
      'webhook register --url http://127.0.0.1:9/hook --file FOLDER/addresses.txt',
    ],
    1,
  ),
)('%s on a full disk is exit 3: nothing is sent, and every file is as it was', async (argv) => {
  const { folder, taken, env, run } = await place();
  for (const made of [
    'context set own --base-url https://a.example.com',
    `key import k --key-file ${folder}/evm.hex --password-file ${folder}/password`,
  ])
    expect((await runHere(made, { env })).code).toBe(0);
  const before = contents(folder);
  const { code, out, err } = await run(0, argv.replaceAll('FOLDER', folder));
  expect({ code, err }).toMatchObject({ code: 3 });
  expect(err).toMatch(/^error: .*\n(hint: .*\n)?$/m);
  expect(out).toBe('');
  expect(taken).toEqual([]);
  expect(withoutEmpty(contents(folder))).toEqual(withoutEmpty(before));
});

test('a change of the settings on a full disk is exit 3, and they are as they were', async (at) => {
  const folder = smallDisk(1);
  if (folder === undefined) return at.skip('no disk can be mounted');
  const env = { SOTRA_CONFIG_DIR: folder, SOTRA_DATA_DIR: temporaryFolder() };
  expect((await runHere('context set own --base-url https://a.example.com', { env })).code).toBe(0);
  const before = readFileSync(join(folder, 'config.json'), 'utf8');
  expect(() => writeFileSync(join(folder, 'filler'), Buffer.alloc(2 ** 21))).toThrow('ENOSPC');
  for (const argv of ['context set own --base-url https://b.example.com', 'alias set me ext:a']) {
    const { code, err } = await runHere(argv, { env });
    expect([argv, code, err]).toEqual([argv, 3, expect.stringContaining('no space is left on the disk')]);
  }
  expect(readFileSync(join(folder, 'config.json'), 'utf8')).toBe(before);
});

/** Locks are empty files, and so are logs into which nothing could be written. */
function withoutEmpty(files: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(files).filter(([, text]) => text !== ''));
}

test.each(
  some(['--help', '--version', '--help --json', '--sandbox leaderboard list', '--sandbox leaderboard list --json'], 1),
)('%s with its output on a full disk is exit 3 and says so', async (argv) => {
  const folder = temporaryFolder();
  const script = `${process.execPath} bin/sotra.js ${argv} > /dev/full`;
  const env = { PATH: process.env['PATH'], SOTRA_DATA_DIR: folder, SOTRA_CONFIG_DIR: folder };
  const failed = await execute('bash', ['--norc', '-c', script], { env }).catch((error) => error);
  expect(failed.code).toBe(3);
  expect(failed.stderr).toContain('cannot write to stdout: no space is left on the disk');
});

test('a command whose notes nobody can read does its work', () => {
  // The first context says that it is the current one now.
  const argv = 'context set own --base-url https://a.example.com --columns name';
  for (const to of some(['2>/dev/full', '2>&-', '<&-'], 1)) {
    const folder = temporaryFolder();
    const env = { PATH: process.env['PATH'], SOTRA_DATA_DIR: folder, SOTRA_CONFIG_DIR: folder };
    const script = `${process.execPath} bin/sotra.js ${argv} ${to}`;
    expect(execFileSync('bash', ['--norc', '-c', script], { env, encoding: 'utf8', stdio: 'pipe' })).toBe(
      'name\town\n',
    );
    expect(readFileSync(join(folder, 'config.json'), 'utf8')).toContain('https://a.example.com');
  }
});

test('a log of calls that cannot be written is one note, and the exit code is that of the call', async () => {
  const { run, env } = await place();
  const { code, out, err } = await run(0, 'leaderboard list --json');
  expect([code, JSON.parse(out)]).toEqual([0, { traders: [] }]);
  expect(err).toMatch(/^warning: this call is not in the history: the file would be too large[^\n]*\n$/);
  expect(JSON.parse((await runHere('history --json', { env })).out)).toEqual([]);
});
