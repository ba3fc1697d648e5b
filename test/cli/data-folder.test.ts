import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { run, temporaryFolder } from '../support/harness.ts';

const token = '0x4ed4e862860bed51a9570b96d89af5e1b0efefed';
const trader = '0x697954B4FB4417963dd26FdFd9c09A158a480340';

/** Settings and data as 0.1.0 left them, an hour later. */
async function openFolder() {
  const folder = temporaryFolder();
  execFileSync('tar', ['-xJf', resolve('test/data/data-folder/0.1.0.tar.xz'), '-C', folder]);
  const env = { SOTRA_CONFIG_DIR: join(folder, 'config'), SOTRA_DATA_DIR: join(folder, 'data') };
  const now = Date.parse('2026-11-26T20:30:00Z');
  const sotra = async (argv: string, ...more: string[]) => {
    const { code, out, err } = await run([...argv.split(' '), ...more], { env, now });
    expect([argv, code, err]).toEqual([argv, 0, expect.not.stringContaining('warning')]);
    return { out, err };
  };
  const json = async (argv: string) => JSON.parse((await sotra(`${argv} --json`)).out);
  return { folder, sotra, json };
}

test('settings of 0.1.0: contexts with their key and wire names, and aliases', async () => {
  const { json } = await openFolder();
  expect(await json('context show staging')).toMatchObject({
    name: 'staging',
    current: true,
    baseUrl: 'http://127.0.0.1:24010',
    serviceName: 'Sandbox',
    wire: { 'leaderboard.list.limit': 'count' },
  });
  expect(await json('auth status')).toMatchObject({ context: 'staging', keySuffix: 'ey-a', store: 'file' });
  expect((await json('alias list')).aliases).toEqual([
    { alias: '@whale', identifier: '0xb7b6f3cea3f66bf525f5d8f965f6dbf6d9b017b2' },
  ]);
});

test('a key of 0.1.0 is listed, opened and signs', async () => {
  const { folder, json } = await openFolder();
  expect(await json('key list')).toMatchObject([{ name: 'trader', address: trader }]);
  const swap = `--chain base --tx 0x${'5'.repeat(64)} --token ${token}`;
  const signed = await json(
    `comment sign --text gm --key trader --password-file ${join(folder, 'password.txt')} ${swap}`,
  );
  expect(signed.signerAddress).toBe(trader);
});

test('the history of 0.1.0 is listed and shown', async () => {
  const { json, sotra } = await openFolder();
  const calls: { id: number; status: number }[] = await json('history');
  expect(calls.map(({ status }) => status)).toEqual([200, 500, 200, 200, 200, 200, 200]);
  const { out } = await sotra('history show 2');
  expect(out).toContain("sotra --sandbox comment post 'gm from 0.1.0' --last --key trader");
  expect(out).toContain('> POST http://sandbox.localhost/v1/swap-comments');
  expect((await sotra('why')).out).toContain('fault of the sandbox: 500');
});

test('an upload that 0.1.0 left unfinished is listed, and continued where it stopped', async () => {
  const { folder, json, sotra } = await openFolder();
  const [job] = await json('webhook jobs');
  expect(job).toMatchObject({ job: 'c14023ce3073', addresses: 2500, chunks: 3, confirmed: 2, finished: false });
  const list = join(folder, 'list.txt');
  const addresses = Array.from({ length: 2500 }, (_, index) => `0x${(index + 1).toString(16).padStart(40, '0')}\n`);
  writeFileSync(list, addresses.join(''));
  const line = `webhook register --url http://127.0.0.1:24242/hook --file ${list} --secret-file ${join(folder, 'hook.secret')}`;
  const { out, err } = await sotra(`${line} --dry-run`);
  expect(out + err).toContain('5c907e19-8792-45de-8802-5c27d2ae44a3');
});

test('deliveries that 0.1.0 stored are listed and shown', async () => {
  const { json } = await openFolder();
  const events: { eventId: string; about: string }[] = await json('webhook events');
  expect(events.map(({ eventId }) => eventId)).toEqual([
    'e2233192-7ffe-461a-9171-43261f5be4bc',
    '415d7807-3b7f-4404-ba54-f06d273d438c',
  ]);
  expect(await json('webhook show 415d7807')).toMatchObject({ eventType: 'comment-created' });
});

test('the sandbox of 0.1.0 opens with its trades and comments, and takes more', async () => {
  const { json, sotra } = await openFolder();
  expect(await json('sandbox status --sandbox')).toMatchObject({ trades: 3, comments: 1 });
  const { out } = await sotra(`--sandbox token comments base ${token} --json`);
  expect(out).toContain('"gm from 0.1.0"');
  await sotra(
    `--sandbox sandbox trade --chain base --trader ${trader} --side sell --amount 10000 --usd 52 --token ${token}`,
  );
  expect(await json('sandbox status --sandbox')).toMatchObject({ trades: 4 });
});
