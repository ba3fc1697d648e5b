import { cpSync, writeFileSync } from 'node:fs';
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

test('an upload is listed with destination, service and time, at 80 columns too', async () => {
  const { sotra, job } = await stopped();
  for (const tty of [80, 140]) {
    const { out } = await sotra('webhook jobs', { tty });
    expect(out).toMatch(/Upload +.*Destination +Service +.*Finished +Started/);
    expect(out).toContain(job);
    expect(out).toContain('d.example.com/hook');
    expect(out).toContain('a.example.com');
    expect(out).toMatch(/\d{4}-\d\d-\d\d \d\d:\d\d/);
  }
  const { out } = await sotra('webhook jobs --json');
  expect(JSON.parse(out)).toMatchObject([
    { job, uid, destinationUrl: hook, baseUrl: 'https://a.example.com', confirmed: 1, chunks: 3, finished: false },
  ]);
});

test('unfinished uploads come first, each with the line that continues it; typing that line does', async () => {
  const { sotra, job, write, service } = await stopped();
  write('more', ids(3));
  service.answer = () => [200, { uid }];
  expect((await sotra(`webhook add-addresses ${uid} --file @more`)).code).toBe(0);
  const { out, err } = await sotra('webhook jobs --json');
  const line = `sotra webhook register --url ${hook} --file @list`;
  expect([JSON.parse(out).map(({ finished }: { finished: boolean }) => finished), err]).toEqual([[false, true], '']);
  const told = await sotra('webhook jobs');
  expect(told.err).toContain(`upload ${job} is not finished; continue with: ${line}\n`);
  service.answer = ({ method }) => [200, method === 'GET' ? [made] : { uid }];
  expect((await sotra(line.replace('sotra ', ''))).code).toBe(0);
  expect((await sotra('webhook jobs')).err).toBe('');
});

test.each<[typed: string, told: string]>([
  [`add-addresses ${uid} --file @list.csv --column wallet --skip-invalid`, ''],
  [`add-addresses ${uid} --file @list.csv --column wallet --allow-bad-checksum`, ''],
  [`add-addresses ${uid} --wallet-addresses ext:a`, `add-addresses ${uid} --wallet-addresses <the same>`],
  [`register --url ${hook} --file @list.csv --column wallet --secret-file @secret --another`, ''],
  [`sync ${uid} --file @list.csv --column wallet`, ''],
])('webhook %s is continued by the same line', async (typed, told) => {
  const { sotra, write } = place(refusing);
  write('list.csv', `wallet\n${ids(1001)}`);
  expect([6, 10]).toContain((await sotra(`webhook ${typed}`)).code);
  expect((await sotra('webhook jobs')).err).toContain(`continue with: sotra webhook ${told || typed}\n`);
});

test('uploads that are not finished come first, the oldest of each kind before the others', async () => {
  const { sotra, write, service } = place();
  const at = async (minute: number, count: number) => {
    write('list', ids(count));
    await sotra(`${add} @list`, { now: Date.UTC(2026, 10, 1, 0, minute) });
  };
  await at(7, 7);
  await at(2, 6);
  service.answer = () => [400, { error: 'no' }];
  await at(5, 5);
  await at(3, 4);
  await at(6, 3);
  await at(4, 2);
  const { out } = await sotra('webhook jobs --json', { now: Date.UTC(2026, 10, 2) });
  const rows = JSON.parse(out).map(({ addresses, finished }: Record<string, unknown>) => [addresses, finished]);
  expect(rows).toEqual([
    [4, false],
    [2, false],
    [5, false],
    [3, false],
    [6, true],
    [7, true],
  ]);
});

test('finished uploads are listed for thirty days; what they confirmed stays known to sync', async () => {
  const { sotra, write, sent } = place();
  write('list', ids(3));
  const dayMs = 86_400_000;
  const now = Date.UTC(2026, 10, 1);
  await sotra(`${add} @list`, { now });
  const listed = async (atMs: number) => JSON.parse((await sotra('webhook jobs --json', { now: atMs })).out).length;
  expect([await listed(now + 30 * dayMs), await listed(now + 30 * dayMs + 1)]).toEqual([1, 0]);
  expect((await sotra(`webhook sync ${uid} --file @list`, { now: now + 60 * dayMs })).code).toBe(0);
  expect(sent).toHaveLength(1);
});

test('an upload whose journal was damaged is named, and another folder is no upload', async () => {
  const { sotra, write, jobs, folder } = place();
  write('list', ids(3));
  await sotra(`${add} @list`);
  const [job = ''] = jobs();
  const uploads = join(folder, 'webhook', 'jobs');
  cpSync(join(uploads, job), join(uploads, `old-${job}`), { recursive: true });
  expect(JSON.parse((await sotra('webhook jobs --json')).out)).toMatchObject([{ job, finished: true }]);
  writeFileSync(join(uploads, job, 'journal.ndjson'), 'noise\n');
  const { code, err } = await sotra('webhook jobs');
  expect([code, err]).toEqual([3, expect.stringContaining('journal.ndjson is damaged at line 1')]);
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
