import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { run, temporaryFolder } from '../../support/harness.ts';

const [first, second] = ['0x143cf5cccbc8447504a99413dec7ea93ec228432', '0x69247dc5319cf2417e8c2b02e8608da749e6ee01'];

test('a plan names what would change, follows whole profiles, and undoes exactly that', async () => {
  const folder = temporaryFolder();
  const env = { SOTRA_DATA_DIR: folder };
  const sotra = (argv: string) => run(`--sandbox ${argv}`, { env });
  const [file, undo] = [join(folder, 'follows.ndjson'), join(folder, 'undo.ndjson')];
  await sotra(`follow add ext:u1 ${first}`);
  const entries = [
    { addressOrUid: 'ext:u1', targets: [first.toUpperCase().replace('X', 'x'), second] },
    { addressOrUid: 'ext:u1', targets: [second], action: 'follow' },
    { addressOrUid: 'ext:u2', targets: [first], action: 'unfollow' },
    { addressOrUid: 'ext:u1', targets: [first], action: 'unfollow' },
  ];
  writeFileSync(file, entries.map((entry) => `${JSON.stringify(entry)}\n`).join(''));
  const { code, out } = await sotra(`follow plan --file ${file} --undo-file ${undo} --json`);
  expect(code).toBe(0);
  const planned = JSON.parse(out);
  expect(planned.map(({ line, change }: { line: number; change: string }) => `${line} ${change}`)).toEqual([
    '1 nothing',
    '1 follow',
    '2 nothing',
    '3 nothing',
    '4 unfollow',
  ]);
  expect(planned[1]).toMatchObject({ follower: 'ext:u1', target: second, name: 'cobalt.alpha.test' });
  const notes = (await sotra(`follow plan --file ${file}`)).err;
  expect(notes).toContain('2 of 5 targets would change; nothing was sent.');
  expect(
    readFileSync(undo, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line)),
  ).toEqual([
    { addressOrUid: 'ext:u1', targets: [first], action: 'follow' },
    { addressOrUid: 'ext:u1', targets: [second], action: 'unfollow' },
  ]);
  const followed = async () =>
    JSON.parse((await sotra('profile follows ext:u1 --json')).out).items?.map(({ name }: { name: string }) => name) ??
    (await sotra('profile follows ext:u1 --columns name --format csv')).out;
  const before = await followed();
  expect((await sotra(`follow bulk --file ${file}`)).code).toBe(0);
  expect(await followed()).not.toEqual(before);
  expect((await sotra(`follow bulk --file ${undo}`)).code).toBe(0);
  expect(await followed()).toEqual(before);
});

test('a wrong file, a service that is away and an undo file over its input end with the reason', async () => {
  const folder = temporaryFolder();
  const file = join(folder, 'follows.ndjson');
  const plan = (more = '', env = {}) => run(`follow plan --file ${file} ${more}`, { env });
  expect(await plan('--sandbox')).toMatchObject({ code: 2, err: expect.stringContaining('no such file') });
  writeFileSync(file, '{"addressOrUid":"ext:u1","targets":[]}\n');
  expect(await plan('--sandbox')).toMatchObject({ code: 2, err: expect.stringContaining('line 1: targets []') });
  writeFileSync(file, `{"addressOrUid":"ext:u1","targets":["${first}"]}\n`);
  const away = { SOTRA_BASE_URL: 'http://127.0.0.1:1', SOTRA_API_KEY: 'k' };
  const undo = join(folder, 'undo');
  expect(await plan(`--retries 0 --undo-file ${undo}`, away)).toMatchObject({ code: 9 });
  expect(existsSync(undo)).toBe(false);
  expect(await plan(`--sandbox --undo-file ${file}`)).toMatchObject({ code: 2 });
});
