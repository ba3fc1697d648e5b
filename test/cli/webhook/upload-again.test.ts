import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { type Answer, add, fresh, hook, ids, made, place, register, uid, well } from '../../support/upload-place.ts';

const other = { uid: 'w-2', destinationUrl: hook, secret: 'whsec_of-the-second' };
const no: [number, unknown] = [400, { error: 'no' }];

/** A service that lists these webhooks and makes this one. */
const having =
  (list: object[], makes: object): Answer =>
  ({ method }) => [200, method === 'GET' ? list : method === 'POST' ? makes : { uid }];

test('the same registration looks whether its webhook is there; one that is gone is made anew', async () => {
  const { sotra, write, sent, service, jobs } = place(fresh);
  write('list', 'ext:a\n');
  await sotra(`${register} @list`);
  service.answer = having([other, made], other);
  const second = await sotra(`${register} @list --json`);
  expect([second.code, JSON.parse(second.out).uid, sent.map(({ method }) => method)]).toEqual([
    0,
    uid,
    ['GET', 'POST', 'GET'],
  ]);
  service.answer = having([{ ...other, destinationUrl: 'https://e.example.com/hook' }], other);
  const third = await sotra(`${register} @list --json --show-secrets`);
  expect([third.code, JSON.parse(third.out)]).toMatchObject([0, { uid: 'w-2', secret: 'whsec_of-the-second' }]);
  expect(third.err).toContain(`warning: webhook ${uid} of an earlier run is gone: registering a new one\n`);
  expect(jobs().filter((name) => name.includes('.gone-'))).toHaveLength(1);
});

test('a registration that was refused leaves no upload; one that did not arrive is continued by the same command', async () => {
  const { folder, sotra, write, sent, service, jobs } = place((request) =>
    request.method === 'POST' ? no : [200, []],
  );
  write('list', 'ext:a\n');
  expect((await sotra(`${register} @list --secret-file @s`)).code).toBe(6);
  expect([jobs(), existsSync(join(folder, 's'))]).toEqual([[], false]);
  service.answer = ({ method }) => [method === 'GET' ? 200 : 500, method === 'GET' ? [] : { error: 'broken' }];
  expect((await sotra(`${register} @list --retries 0`)).code).toBe(8);
  expect((await sotra('webhook list')).err).toContain('webhook register --url https://d.example.com/hook --file @list');
  service.answer = having([], made);
  expect((await sotra(`${register} @list`)).code).toBe(0);
  expect(sent.filter(({ method }) => method === 'POST')).toHaveLength(3);
});

test('a file that holds something is refused for a secret before anything is sent, and taken once the upload has one', async () => {
  const { folder, sotra, write, sent, jobs } = place(fresh);
  write('list', 'ext:a\n');
  write('taken', 'mine\n');
  const refused = await sotra(`${register} @list --secret-file @taken`);
  expect([refused.code, sent, jobs()]).toEqual([2, [], []]);
  const nowhere = await sotra(`${register} @list --secret-file @none/s`);
  expect([nowhere.code, nowhere.err, sent, jobs()]).toEqual([
    2,
    expect.stringContaining('error: --secret-file @none/s: cannot be written: no such file or folder'),
    [],
    [],
  ]);
  // An empty one is taken.
  write('s', ' \n');
  const first = await sotra(`${register} @list --secret-file @s --json`);
  expect(JSON.parse(first.out)).toMatchObject({ secretFile: join(folder, 's') });
  expect(JSON.parse(first.out)).not.toHaveProperty('secret');
  expect(readFileSync(join(folder, 's'), 'utf8')).toBe('whsec_abcdefghij\n');
  const again = await sotra(`${register} @list --secret-file @s --json`);
  expect([again.code, JSON.parse(again.out).uid]).toEqual([0, uid]);
});

test('a list that changed since its webhook was made is refused by register, which names sync; sync sends the rest', async () => {
  const { sotra, write, sent, service } = place(fresh);
  write('list', ids(2));
  expect((await sotra(`${register} @list`)).code).toBe(0);
  write('list', ids(5));
  const same = await sotra(`${register} @list`);
  expect([same.code, same.err]).toEqual([6, expect.stringContaining(`webhook ${uid} sends to ${hook} already`)]);
  expect(same.err).toContain('hint: sotra webhook sync sends it what is missing; --another makes a second one');
  service.answer = having([made], made);
  expect((await sotra(`webhook sync --url ${hook} --file @list`)).code).toBe(0);
  expect(sent.at(-1)).toMatchObject({ method: 'PUT', body: '{"walletAddresses":["ext:2","ext:3","ext:4"]}' });
});

test('what is left of a registration is shown as PUTs for the webhook that it made', async () => {
  const { sotra, write, service } = place(fresh);
  write('list', ids(2000));
  service.answer = (request, count) => (request.method === 'PUT' ? no : fresh(request, count));
  expect((await sotra(`${register} @list`)).code).toBe(10);
  const dry = await sotra(`${register} @list --dry-run`);
  expect([dry.code, dry.err, dry.out.split('\n')[0]]).toEqual([
    0,
    'Still to be sent: one request.\n',
    `PUT https://a.example.com/v1/webhooks/feed/${uid}`,
  ]);
});

test('the column is named for a file and for stdin, packed or not', async () => {
  const { sotra, write, folder, sent } = place();
  const table = 'address,other\next:a,ext:b\next:c,ext:d\n';
  write('list', table);
  await sotra(`${add} @list --column other`);
  writeFileSync(join(folder, 'list.gz'), gzipSync(table));
  await sotra(`webhook add-addresses w-3 --file @list.gz --column other`);
  await sotra(`webhook add-addresses w-4 --file - --column other`, { stdin: table });
  expect(sent.map(({ body }) => JSON.parse(body ?? '').walletAddresses)).toEqual([
    ['ext:b', 'ext:d'],
    ['ext:b', 'ext:d'],
    ['ext:b', 'ext:d'],
  ]);
  const wrong = await sotra(`${add} - --column nothing`, { stdin: table });
  expect(wrong.err).toContain('error: --column nothing: stdin has no such column');
});

test('with --format ndjson every event is a line on stdout, the result the last', async () => {
  const { sotra, write, service } = place(fresh);
  write('list', ids(1001));
  const lost: Answer = (request, count) =>
    request.method === 'PUT' && count === 1 ? [500, { error: 'busy' }] : fresh(request, count);
  service.answer = lost;
  const { code, out } = await sotra(`${register} @list --format ndjson`);
  const events = out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect([code, events[0]]).toEqual([0, { event: 'registered', uid, destinationUrl: hook, settled: false }]);
  // The second chunk may be refused before the first is safe on disk.
  expect(events.slice(1, -1)).toContainEqual({
    event: 'chunk-retried',
    chunk: 2,
    why: expect.stringContaining('busy'),
    delayMs: expect.any(Number),
  });
  expect(events.filter(({ event }) => event === 'chunk-done')).toEqual([
    { event: 'chunk-done', chunk: 1, addresses: 1000, done: 1, chunks: 2 },
    { event: 'chunk-done', chunk: 2, addresses: 1, done: 2, chunks: 2 },
  ]);
  expect([events.length, events.at(-1)]).toMatchObject([5, { event: 'finished', uid, addresses: 1001, chunks: 2 }]);
});

test('a registration whose answer was lost says that it asks, and what it found', async () => {
  const { sotra, write } = place((request, count) => {
    if (request.method === 'POST') return [502, { error: 'lost' }];
    return request.method === 'GET' && count < 2 ? [200, []] : well(request, count);
  });
  write('list', 'ext:a\n');
  const { code, err } = await sotra(`${register} @list --retries 0`);
  expect([code, err.split('\n').slice(1, 3)]).toEqual([
    0,
    [
      expect.stringMatching(/^looking in the list for 10 s whether the webhook was made: lost/),
      `webhook ${uid} found in the list`,
    ],
  ]);
});

test('a finished upload leaves its journal alone', async () => {
  const { folder, sotra, write, jobs } = place();
  write('list', 'ext:a\n');
  await sotra(`${add} @list`);
  const [job = ''] = jobs();
  expect([jobs().length, readdirSync(join(folder, 'webhook', 'jobs', job))]).toEqual([1, ['journal.ndjson']]);
});
