import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { run, stub, temporaryFolder } from '../support/harness.ts';
import { changeStore, fillInbox, inboxFolderOf } from '../support/inbox.ts';
import { bodyOf, listen, secret, send, signed } from '../support/listening.ts';
import { start } from '../support/processes.ts';
import { some } from '../support/size.ts';
import { until } from '../support/until.ts';

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
  'is of another sotra': changed('PRAGMA user_version = 99', 'is of another version of sotra (99, not 6)'),
  'is the database of another program': changed('DROP TABLE delivery', 'is a database of another program'),
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
  'a store whose pages are full of %s somewhere acknowledges nothing that it cannot store, and is said to be damaged',
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

// Whoever may do everything may write into any folder.
test.skipIf(process.getuid?.() === 0)('a folder that cannot be written is exit 3 by name', async () => {
  const folder = temporaryFolder();
  await filled(folder);
  chmodSync(inboxFolderOf(folder), 0o500);
  const { code, err } = await run(`webhook listen --secret-file ${join(folder, 'secret')}`, {
    env: { SOTRA_DATA_DIR: folder },
  });
  chmodSync(inboxFolderOf(folder), 0o700);
  expect(code).toBe(3);
  expect(err).toContain(inboxFolderOf(folder));
});
