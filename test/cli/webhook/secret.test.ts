import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { add, fresh, hook, ids, made, place, register, uid } from '../../support/upload-place.ts';

test('webhook secret writes what this machine kept, and asks the service for nothing', async () => {
  const { sotra, write, folder, sent } = place(fresh);
  write('list', ids(3));
  expect((await sotra(`${register} @list`)).code).toBe(0);
  const requests = sent.length;
  const { code, out } = await sotra(`webhook secret ${uid} --out @hook.secret --json`);
  const file = join(folder, 'hook.secret');
  expect([code, JSON.parse(out), sent.length]).toEqual([0, { uid, secretFile: file }, requests]);
  expect([readFileSync(file, 'utf8'), statSync(file).mode & 0o777]).toEqual(['whsec_abcdefghij\n', 0o600]);
  const other = await sotra(`webhook secret ${uid} --out @other.secret --base-url https://b.example.com --json`);
  expect([other.code, sent.length, sent.at(-1)?.url.href]).toEqual([
    0,
    requests + 1,
    'https://b.example.com/v1/webhooks/feed',
  ]);
  const stranger = await sotra('webhook secret u-0 --out @third.secret --json');
  expect([stranger.code, JSON.parse(stranger.err).error.message]).toEqual([5, 'webhook u-0 does not exist']);
  const again = await sotra(`webhook secret ${uid} --out @hook.secret`);
  expect([again.code, again.err]).toEqual([2, expect.stringContaining('--out')]);
  const preview = await sotra(`webhook secret ${uid} --out @third.secret --dry-run`);
  expect([preview.code, existsSync(join(folder, 'third.secret')), sent.length]).toEqual([0, false, requests + 2]);
});

test('of a webhook that was not registered here the service is asked, also where addresses were added to it', async () => {
  const listed = { ...made, secret: 'whsec_fromthelist' };
  const { sotra, write, folder } = place(({ method }) => [
    200,
    method === 'GET' ? [{ ...made, uid: 'u-0' }, listed] : made,
  ]);
  write('list', ids(3));
  expect((await sotra(`${add} @list`)).code).toBe(0);
  expect((await sotra(`webhook secret ${uid} --out @hook.secret`)).code).toBe(0);
  expect(readFileSync(join(folder, 'hook.secret'), 'utf8')).toBe('whsec_fromthelist\n');
});

test.each([
  ['is not in the list', [{ ...made, uid: 'u-0' }], `webhook ${uid} does not exist`, 'sotra webhook list shows yours.'],
  [
    'has its secret masked',
    [
      { ...made, uid: 'u-0' },
      { ...made, secret: 'whsec_***' },
    ],
    `the service does not show the secret of webhook ${uid}`,
    'It is shown once, at registration. Where it is lost, register a new webhook and delete this one.',
  ],
])('a webhook that %s is exit 5, and nothing is written', async (_, list, message, hint) => {
  const { sotra, folder } = place(() => [200, list]);
  const { code, err } = await sotra(`webhook secret ${uid} --out @hook.secret --json`);
  expect([code, JSON.parse(err).error]).toMatchObject([5, { code: 'not-found', message, hint }]);
  expect(existsSync(join(folder, 'hook.secret'))).toBe(false);
});

test('an answer that is no list of webhooks is told, with the request that shows it', async () => {
  const { sotra } = place(() => [200, { uid }]);
  const { code, err } = await sotra(`webhook secret ${uid} --out @hook.secret --json`);
  expect([code, JSON.parse(err).error]).toMatchObject([
    13,
    { code: 'contract', hint: 'See it as it came: sotra request GET /v1/webhooks/feed; sotra why says more.' },
  ]);
});

test('a secret that cannot be written where it was asked for is exit 2', async () => {
  const { sotra } = place(() => [200, [made]]);
  const { code, err } = await sotra(`webhook secret ${uid} --out /proc/none/hook.secret`);
  expect([code, err]).toEqual([2, expect.stringContaining('--out /proc/none/hook.secret: cannot be written: ')]);
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
