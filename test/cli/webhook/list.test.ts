import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { hook, ids, kept, made, place, uid } from '../../support/upload-place.ts';

/** A place with an upload that stopped after the first of its three chunks. */
async function stopped() {
  const there = kept();
  there.write('list', ids(2500));
  there.fault.answer = ({ method }) => (method === 'PUT' ? [400, { error: 'no' }] : undefined);
  expect((await there.sotra(`webhook register --url ${hook} --file @list`)).code).toBe(10);
  there.fault.answer = () => undefined;
  return there;
}

test('webhook list shows an unfinished upload with the line that continues it; typing that line does', async () => {
  const { sotra, holds } = await stopped();
  const line = `sotra webhook register --url ${hook} --file @list`;
  const told = await sotra('webhook list --json');
  expect(JSON.parse(told.out)).toEqual([{ uid: 'w-0', destinationUrl: hook, secret: '***' }]);
  expect(told.err).toBe(`The upload to webhook w-0 is not finished; continue with: ${line}\n`);
  const check = await sotra(`webhook sync --url ${hook} --file @list --check`);
  expect([check.code, check.err]).toEqual([10, `${told.err}Would send 1,500 of 2,500 addresses to webhook w-0.\n`]);
  expect((await sotra(line.replace('sotra ', ''))).code).toBe(0);
  expect([(await sotra('webhook list')).err, holds('w-0').length]).toEqual(['', 2500]);
});

test('an unfinished upload to another service, of another key, or to a webhook that is gone, is not shown', async () => {
  const { sotra, hooks } = await stopped();
  expect((await sotra('webhook list --base-url https://b.example.com')).err).toBe('');
  expect((await sotra('webhook list', { env: { SOTRA_API_KEY: 'another-key-of-theirs' } })).err).toBe('');
  hooks.splice(0, 1, { ...made, uid: 'w-9' });
  expect((await sotra('webhook list')).err).toBe('');
});

test.each<[typed: string, told: string]>([
  [`add-addresses ${uid} --file @list.csv --column wallet --skip-invalid`, ''],
  [`add-addresses ${uid} --wallet-addresses ext:a`, `add-addresses ${uid} --wallet-addresses <the same>`],
  [`register --url ${hook} --file @list.csv --column wallet --secret-file @secret --another`, ''],
  [`sync ${uid} --file @list.csv --column wallet`, ''],
])('webhook %s is continued by the same line', async (typed, told) => {
  const { sotra, write, service } = place(({ method }) => {
    if (method === 'PUT') return [400, { error: 'no' }];
    return [200, method === 'GET' ? [] : made];
  });
  write('list.csv', `wallet\n${ids(1001)}`);
  expect([6, 10]).toContain((await sotra(`webhook ${typed}`)).code);
  service.answer = () => [200, [made]];
  expect((await sotra('webhook list')).err).toContain(`continue with: sotra webhook ${told || typed}\n`);
});

test('webhook list warns of an upload whose state is damaged, and lists the webhooks all the same', async () => {
  const { sotra, uploads } = await stopped();
  writeFileSync(join(uploads()[0] ?? '', 'state.json'), 'noise\n');
  const { out, err } = await sotra('webhook list --json');
  expect(JSON.parse(out)).toHaveLength(1);
  expect(err).toMatch(/^warning: .*state\.json is damaged, or was written by another version of sotra/);
  expect((await sotra(`webhook sync --url ${hook} --file @list`)).code).toBe(3);
});

test('webhook list names the folder of uploads that it cannot read', async () => {
  const { sotra, folder } = place();
  mkdirSync(join(folder, 'webhook'));
  writeFileSync(join(folder, 'webhook', 'uploads'), '');
  expect((await sotra('webhook list')).err).toBe('warning: cannot use @webhook/uploads: not a directory\n');
});

test('the list masks what is a secret by its name or its form, however it is escaped, and nothing else', async () => {
  const plain = { uid, destinationUrl: hook, secret: '', whsec_name: 1, secretCount: 12345, n: null };
  const hidden = { note: 'whsec_"quoted"', oldSecret: '\u{1f512}locked', secrets: ['abcdefghijkl'] };
  const { json } = place(() => [200, { webhooks: [{ ...plain, ...hidden }] }]);
  const shown = { note: '***', oldSecret: '***', secrets: ['***'] };
  expect(await json('webhook list')).toEqual({ webhooks: [{ ...plain, ...shown }] });
  expect(await json('webhook list --show-secrets')).toEqual({ webhooks: [{ ...plain, ...hidden }] });
});

test('a list of more than two million characters is masked to its end', async () => {
  const list = Array.from({ length: 21 }, (_, index) => ({ ...made, uid: `u-${index}`, note: 'x'.repeat(100_000) }));
  expect(await place(() => [200, list]).json('webhook list')).toEqual(list.map((each) => ({ ...each, secret: '***' })));
});
