import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { fresh, hook, ids, made, place, register, uid } from '../../support/upload-place.ts';

const sync = `webhook sync --url ${hook} --file @list --secret-file @hook.secret`;

test('sync --secret-file writes the secret that this machine kept of a webhook, and does not print it', async () => {
  const { sotra, write, folder, service } = place(fresh);
  write('list', ids(3));
  expect((await sotra(`${register} @list`)).code).toBe(0);
  service.answer = ({ method }) => [200, method === 'GET' ? [{ ...made, secret: 'whsec_***' }] : made];
  const { code, out, err } = await sotra(`${sync} --json`);
  const file = join(folder, 'hook.secret');
  expect([code, JSON.parse(out).secretFile]).toEqual([0, file]);
  expect([readFileSync(file, 'utf8'), statSync(file).mode & 0o777]).toEqual(['whsec_abcdefghij\n', 0o600]);
  expect(out + err).not.toContain('whsec_abcdefghij');
});

test('sync --secret-file writes the secret of a webhook made elsewhere, from the list of the service', async () => {
  const { sotra, write, folder } = place(({ method }) => [
    200,
    method === 'GET' ? [{ ...made, secret: 'whsec_fromthelist' }] : made,
  ]);
  write('list', ids(3));
  const { code, out, err } = await sotra(`${sync} --json`);
  const file = join(folder, 'hook.secret');
  expect([code, readFileSync(file, 'utf8'), statSync(file).mode & 0o777]).toEqual([0, 'whsec_fromthelist\n', 0o600]);
  expect(out + err).not.toContain('whsec_fromthelist');
});

test('sync --secret-file of a webhook whose secret nobody tells is exit 5, and nothing is written or sent', async () => {
  const { sotra, write, folder, sent } = place(() => [200, [{ ...made, secret: 'whsec_***' }]]);
  write('list', ids(3));
  const { code, err } = await sotra(`${sync} --json`);
  expect([code, JSON.parse(err).error]).toMatchObject([
    5,
    {
      code: 'not-found',
      message: `webhook ${uid} exists, and neither this machine nor the service tells its secret`,
    },
  ]);
  expect(existsSync(join(folder, 'hook.secret'))).toBe(false);
  expect(sent.map(({ method }) => method)).toEqual(['GET']);
});

test('the list masks what is a secret by its name or its form, however it is escaped, and nothing else', async () => {
  const { sotra } = place(() => [
    200,
    [
      {
        uid,
        destinationUrl: hook,
        secret: '',
        note: 'whsec_"quoted"',
        whsec_name: 1,
        secretCount: 12345,
        oldSecret: '\u{1f512}locked',
        n: null,
      },
    ],
  ]);
  const { code, out } = await sotra('webhook list --json');
  expect([code, JSON.parse(out)]).toEqual([
    0,
    [
      {
        uid,
        destinationUrl: hook,
        secret: '',
        note: '***',
        whsec_name: 1,
        secretCount: 12345,
        oldSecret: '***',
        n: null,
      },
    ],
  ]);
});

/** So many webhooks of a hundred thousand characters each. */
const noted = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ ...made, uid: `u-${index}`, note: 'x'.repeat(100_000) }));

test('a list of more than two million characters is masked to its end', async () => {
  const list = noted(21);
  const { sotra } = place(() => [200, list]);
  const { code, out } = await sotra('webhook list --json');
  expect(code).toBe(0);
  expect(JSON.parse(out)).toEqual(list.map((each) => ({ ...each, secret: '***' })));
});
