import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Answer, add, fresh, hook, ids, made, place, register, uid } from '../../support/upload-place.ts';

const refusing: Answer = (request, count) =>
  request.method === 'PUT' ? [400, { error: 'no' }] : fresh(request, count);

/** A place with an upload that stopped after the first of its three chunks. */
async function stopped() {
  const there = place(refusing);
  there.write('list', ids(2500));
  expect((await there.sotra(`${register} @list`)).code).toBe(10);
  const [job = ''] = there.jobs();
  return { ...there, job };
}

test('webhook list shows an unfinished upload with the line that continues it; typing that line does', async () => {
  const { sotra, service } = await stopped();
  service.answer = ({ method }) => [200, method === 'GET' ? [made] : { uid }];
  const line = `sotra webhook register --url ${hook} --file @list`;
  const told = await sotra('webhook list --json');
  expect([told.code, JSON.parse(told.out), told.err]).toEqual([
    0,
    [{ ...made, secret: '***' }],
    `The upload to webhook ${uid} is not finished, 1 of 3 requests confirmed; continue with: ${line}\n`,
  ]);
  expect((await sotra(line.replace('sotra ', ''))).code).toBe(0);
  expect((await sotra('webhook list')).err).toBe('');
});

test('an unfinished upload to another service is not shown', async () => {
  const { sotra, service } = await stopped();
  service.answer = () => [200, []];
  expect((await sotra('webhook list --base-url https://b.example.com')).err).toBe(
    'No webhooks. Register one: sotra webhook register --url <url> --file <file>\n',
  );
});

test('webhook list removes an unfinished upload whose webhook is gone, with one warning', async () => {
  const { sotra, service, job, jobs } = await stopped();
  service.answer = () => [200, [{ ...made, uid: 'u-0' }]];
  const first = await sotra('webhook list');
  expect([first.code, first.err]).toEqual([0, `warning: webhook ${uid} is gone: its unfinished upload is removed\n`]);
  expect(jobs()).not.toContain(job);
  expect((await sotra('webhook list')).err).toBe('');
});

test('webhook list keeps an unfinished upload of another key, and one that a dry run looks at', async () => {
  const { sotra, service, job, jobs } = await stopped();
  service.answer = () => [200, []];
  expect((await sotra('webhook list --dry-run')).code).toBe(0);
  const other = await sotra('webhook list', { env: { SOTRA_API_KEY: 'another-key-of-theirs' } });
  expect(other.err).toContain(`The upload to webhook ${uid} is not finished`);
  expect(jobs()).toContain(job);
});

test('webhook sync --check names the unfinished upload of the webhook', async () => {
  const { sotra, service } = await stopped();
  service.answer = () => [200, [made]];
  const { code, err } = await sotra(`webhook sync --url ${hook} --file @list --check`);
  expect([code, err]).toEqual([
    10,
    `The upload to webhook ${uid} is not finished, 1 of 3 requests confirmed; continue with: sotra webhook register --url ${hook} --file @list\n` +
      `Would send 1,500 of 2,500 addresses to webhook ${uid}.\n`,
  ]);
});

test.each<[typed: string, told: string]>([
  [`add-addresses ${uid} --file @list.csv --column wallet --skip-invalid`, ''],
  [`add-addresses ${uid} --file @list.csv --column wallet --allow-bad-checksum`, ''],
  [`add-addresses ${uid} --wallet-addresses ext:a`, `add-addresses ${uid} --wallet-addresses <the same>`],
  [`register --url ${hook} --file @list.csv --column wallet --secret-file @secret --another`, ''],
  [`sync ${uid} --file @list.csv --column wallet`, ''],
])('webhook %s is continued by the same line', async (typed, told) => {
  const { sotra, write, service } = place(refusing);
  write('list.csv', `wallet\n${ids(1001)}`);
  expect([6, 10]).toContain((await sotra(`webhook ${typed}`)).code);
  service.answer = () => [200, [made]];
  expect((await sotra('webhook list')).err).toContain(`continue with: sotra webhook ${told || typed}\n`);
});

test('what a finished upload confirmed stays known to sync', async () => {
  const { sotra, write, sent } = place();
  write('list', ids(3));
  const now = Date.UTC(2026, 10, 1);
  await sotra(`${add} @list`, { now });
  expect((await sotra(`webhook sync ${uid} --file @list`, { now: now + 60 * 86_400_000 })).code).toBe(0);
  expect(sent).toHaveLength(1);
});

test('webhook list warns of an upload whose journal is damaged, and lists the webhooks all the same', async () => {
  const { folder, sotra, service, job } = await stopped();
  service.answer = () => [200, [made]];
  writeFileSync(join(folder, 'webhook', 'jobs', job, 'journal.ndjson'), 'noise\n');
  const { code, out, err } = await sotra('webhook list --json');
  expect([code, JSON.parse(out), err]).toEqual([
    0,
    [{ ...made, secret: '***' }],
    expect.stringMatching(/^warning: .*journal\.ndjson is damaged at line 1/),
  ]);
});

test.each([
  ['more addresses for one webhook', `${add} @one`, `${add} @two`],
  ['registrations for two destinations', `${register} @one`, `webhook register --url ${hook}/2 --file @two`],
])('%s run side by side', async (_, first, second) => {
  const { sotra, write, service } = place(fresh);
  write('one', ids(3));
  write('two', ids(4));
  let other: ReturnType<typeof sotra> | undefined;
  service.answer = async ({ method }) => {
    if (method === 'GET') return [200, []];
    if (other === undefined) {
      other = sotra(second);
      await other;
    }
    return [200, made];
  };
  expect((await sotra(first)).code).toBe(0);
  expect((await other)?.code).toBe(0);
});
