import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { run, stub, temporaryFolder, until } from '../support/harness.ts';
import { changeStore, fillInbox, inboxFolderOf } from '../support/inbox.ts';
import { bodyOf, listen, secret, send, signed } from '../support/listening.ts';
import { start, startShell } from '../support/processes.ts';
import { some } from '../support/size.ts';

/** What is wrong with a store, what every command says of it, and the file that stays as it was. */
const changed = (sql: string, says: string) => ({
  make: async (folder: string) => {
    const file = await filled(folder);
    changeStore(folder, sql);
    return file;
  },
  says,
});

const faults: Record<string, { make: (folder: string) => Promise<string>; says: string }> = {
  'is of another sotra': changed('PRAGMA user_version = 99', 'was written by another version of sotra (99, not 6)'),
  'is the database of another program': changed('DROP TABLE delivery', 'belongs to another program'),
  'has lost its beginning': {
    make: async (folder) => {
      const file = await filled(folder);
      writeFileSync(file, Buffer.concat([Buffer.alloc(8192, 'x'), readFileSync(file).subarray(8192)]));
      return file;
    },
    says: 'is damaged: file is not a database',
  },
  'is a folder': {
    make: async (folder) => {
      const file = join(inboxFolderOf(folder), 'inbox.db');
      mkdirSync(file, { recursive: true });
      return file;
    },
    says: 'is a folder, not a regular file',
  },
};

async function filled(folder: string): Promise<string> {
  const bodies = Array.from({ length: 50 }, (_, index) => ({ body: Buffer.from(bodyOf(`e${index}`)) }));
  await fillInbox(folder, bodies);
  return join(inboxFolderOf(folder), 'inbox.db');
}

/** Texts are compared quickly, bytes one by one. */
const bytesOf = (file: string) => (statSync(file).isFile() ? readFileSync(file, 'latin1') : undefined);

const commands = [
  'webhook listen --port 0 --secret-file SECRET --forward-to http://127.0.0.1:9/in',
  'webhook forward --forward-to http://127.0.0.1:9/in',
  'webhook events',
  'webhook events --follow',
  'webhook show e1',
  'webhook replay --since 1h --to http://127.0.0.1:9/in',
];

describe.each(Object.entries(faults))('a store that %s', (_, { make, says }) => {
  test('ends every command with exit 3 and a fix, is named, and stays as it is', async () => {
    const folder = temporaryFolder();
    const file = await make(folder);
    const before = bytesOf(file);
    writeFileSync(join(folder, 'secret'), `${secret}\n`, { mode: 0o600 });
    for (const command of some(commands, 2)) {
      const argv = command.replace('SECRET', join(folder, 'secret'));
      const { code, out, err } = await run(argv, { env: { SOTRA_DATA_DIR: folder } });
      expect([command, code, out]).toEqual([command, 3, '']);
      expect(err).toContain(file);
      expect(err).toContain(says);
      expect(err).toContain('hint: ');
    }
    expect(bytesOf(file) === before).toBe(true);
  });
});

test.each([0xff, 0])(
  'a store with pages overwritten by %s acknowledges only what it stored, and is reported as damaged',
  async (filler) => {
    const folder = temporaryFolder();
    const file = await filled(folder);
    const bytes = readFileSync(file);
    bytes.fill(filler, 8192, bytes.length);
    writeFileSync(file, bytes);
    const { url, stop, shown } = await listen(folder);
    if (url !== '') {
      expect(await send(url, bodyOf('new'), signed(bodyOf('new')))).toBe(503);
      expect(shown.err).toContain(`the store ${file} is damaged`);
    }
    const { err } = await stop();
    expect(err).toContain(`the store ${file} is damaged`);
    const listed = await run('webhook events', { env: { SOTRA_DATA_DIR: folder } });
    expect([listed.code, listed.out]).toEqual([3, '']);
    expect(listed.err).toContain(`the store ${file} is damaged`);
  },
);

/** Text that is no UTF-8. */
const noText = "CAST(x'5b22ff' AS TEXT)";

test.each(['event_ids', 'headers'])(
  'a delivery whose %s are no text ends commands that read it with exit 3, and is set aside by the forwarder, which goes on',
  async (column) => {
    const folder = temporaryFolder();
    let status = 500;
    const target = await stub((_, response) => response.writeHead(status).end());
    const first = await listen(folder, `--forward-to ${target.url}/in`);
    for (const id of ['one', 'two', 'three']) expect(await send(first.url, bodyOf(id), signed(bodyOf(id)))).toBe(200);
    await first.stop();
    changeStore(folder, `UPDATE delivery SET ${column} = ${noText} WHERE seq = 2`);
    const state = { SOTRA_DATA_DIR: folder, SOTRA_CONFIG_DIR: folder };
    const listed = start(['webhook', 'events', '--json'], state);
    expect([await listed.ended, listed.printed.out]).toEqual([3, '']);
    expect(listed.printed.err).toContain('is damaged: delivery 2 cannot be read');
    status = 200;
    const tried = target.requests.length;
    const forwarder = start(['webhook', 'forward', '--forward-to', `${target.url}/in`], state);
    await until(() => target.requests.length === tried + 2 || forwarder.child.exitCode !== null);
    expect(target.requests.slice(tried).map(({ body }) => body)).toEqual([bodyOf('one'), bodyOf('three')]);
    forwarder.child.kill('SIGTERM');
    await forwarder.ended;
    expect(forwarder.printed.err).toContain('is damaged: delivery 2 cannot be read, and is set aside');
    expect(forwarder.printed.err).toContain('1 delivery set aside');
  },
);

test('on a full disk what cannot be kept is 503, the listener goes on and says it once, and nothing is lost once there is room', async () => {
  const folder = temporaryFolder();
  const target = await stub((_, response) => response.end());
  const [ready, secrets] = [join(folder, 'ready'), join(folder, 'secret')];
  writeFileSync(secrets, secret, { mode: 0o600 });
  const argv = `webhook listen --port 0 --secret-file ${secrets} --ready-file ${ready} --forward-to ${target.url}`;
  const line = `trap '' XFSZ; ulimit -S -f 1200; exec sotra ${argv}`;
  const { child, printed, ended } = startShell(line, { SOTRA_DATA_DIR: folder });
  await until(() => existsSync(ready));
  const { url } = JSON.parse(readFileSync(ready, 'utf8'));
  const statuses: number[] = [];
  for (let n = 0; n < 40; n += 1) statuses.push(await send(url, bodyOf(`e${n}`), signed(bodyOf(`e${n}`))));
  const stored = statuses.filter((status) => status === 200).length;
  expect(stored).toBeGreaterThan(5);
  expect(statuses).toEqual([...Array(stored).fill(200), ...Array(40 - stored).fill(503)]);
  expect(target.requests.length).toBeLessThanOrEqual(stored);
  execFileSync('prlimit', ['--pid', String(child.pid), '--fsize=unlimited:unlimited']);
  for (const n of Array(40).keys()) expect(await send(url, bodyOf(`e${n}`), signed(bodyOf(`e${n}`)))).toBe(200);
  await until(() => target.requests.length === 40);
  child.kill('SIGTERM');
  expect(await ended).toBe(0);
  expect(
    printed.err.match(
      /warning: cannot use the store \S+inbox\.db: (?:disk I\/O error|database or disk is full)\. Free/g,
    ),
  ).toHaveLength(1);
  expect(target.requests.map(({ body }) => body)).toEqual(Array.from({ length: 40 }, (_, n) => bodyOf(`e${n}`)));
  const listed = await run('webhook events --limit 100 --json', { env: { SOTRA_DATA_DIR: folder } });
  expect(JSON.parse(listed.out)).toHaveLength(40);
});

test('a store of a killed process is free at once, even before the process is reaped', async () => {
  const folder = temporaryFolder();
  const env = { SOTRA_DATA_DIR: folder, SOTRA_CONFIG_DIR: folder };
  const [secret, ready] = [join(folder, 'secret'), join(folder, 'ready')];
  writeFileSync(secret, 'whsec_test\n');
  const argv = ['webhook', 'listen', '--port', '0', '--secret-file', secret, '--ready-file', ready];
  // Its parent becomes sleep, which never waits for it.
  startShell(`sotra ${argv.join(' ')} 2>/dev/null & exec sleep 60`, env);
  const readPid = () => {
    try {
      return JSON.parse(readFileSync(ready, 'utf8')).pid;
    } catch {
      return undefined;
    }
  };
  await until(() => readPid() !== undefined, 'the first listens');
  const pid = readPid();
  process.kill(pid, 'SIGKILL');
  await until(() => / Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8')), 'it is dead');
  const next = start(argv, env);
  await until(() => next.printed.err.includes('Listening') || next.child.exitCode !== null, 'it listens');
  expect(next.printed.err).toContain('Listening on');
});
