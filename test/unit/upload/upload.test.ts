import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readGlobals } from '../../../src/cli/globals.ts';
import { SotraError } from '../../../src/errors.ts';
import { checkedLine } from '../../../src/files/log-file.ts';
import { addressesFile, findJob, listJobs, readChunks, setAside, settleDraft } from '../../../src/upload/jobs.ts';
import { journalFile, readJournal, resentChunks } from '../../../src/upload/journal.ts';
import { createRetryPolicy, withRetries } from '../../../src/upload/upload.ts';
import type { World } from '../../../src/world.ts';
import { newFolder } from '../../support/folder.ts';
import {
  destinationUrl,
  down,
  failed,
  kind,
  lost,
  made,
  ok,
  plan,
  puts,
  type Service,
  uid,
  uploading,
} from '../../support/uploading.ts';

test('a list goes up as one POST and PUTs of a thousand, each confirmed once, the secret kept first', async () => {
  const { run, sent, secrets } = await uploading(kind);
  const { events, failure, state } = await run();
  expect(failure).toBeUndefined();
  expect(sent).toEqual([
    { method: 'GET', path: '/v1/webhooks/feed' },
    { method: 'POST', path: '/v1/webhooks/feed', first: 'ext:0', count: 1000 },
    { method: 'PUT', path: `/v1/webhooks/feed/${uid}`, first: 'ext:1000', count: 1000 },
    { method: 'PUT', path: `/v1/webhooks/feed/${uid}`, first: 'ext:2000', count: 500 },
  ]);
  expect(secrets).toEqual(['whsec_abcdefghij']);
  expect(events[0]).toEqual({ event: 'registered', uid, destinationUrl, settled: false });
  expect(events.slice(1)).toEqual([
    { event: 'chunk-done', chunk: 1, addresses: 1000, done: 1, chunks: 3 },
    { event: 'chunk-done', chunk: 2, addresses: 1000, done: 2, chunks: 3 },
    { event: 'chunk-done', chunk: 3, addresses: 500, done: 3, chunks: 3 },
  ]);
  expect(state).toMatchObject({ uid, destinationUrl, settled: false, posting: undefined, finishedMs: 5000 });
  expect([...(state?.done ?? [])].sort()).toEqual([0, 1, 2]);
  expect([...(state?.sends ?? [])].sort()).toEqual([
    [0, 1],
    [1, 1],
    [2, 1],
  ]);
});

test('addresses for a webhook that exists all go as PUTs', async () => {
  const { run, sent } = await uploading(kind, { task: 'add-addresses', uid, addresses: 1000, chunks: 1 });
  expect(await run(4)).toMatchObject({ failure: undefined });
  expect(sent.map(({ method, first, count }) => [method, first, count])).toEqual([['PUT', 'ext:0', 1000]]);
});

test('a chunk whose failure may pass is sent again, told and counted', async () => {
  const service: Service = (request, body, count) =>
    request.method === 'PUT' && count <= 2 ? (count === 1 ? failed(503) : lost) : kind(request, body, count);
  const { run, waits } = await uploading(service);
  const { events, failure, state } = await run();
  expect(failure).toBeUndefined();
  expect(events.filter(({ event }) => event === 'chunk-retried')).toEqual([
    { event: 'chunk-retried', chunk: 2, why: expect.stringContaining('HTTP 503'), delayMs: 125 },
    { event: 'chunk-retried', chunk: 2, why: expect.stringContaining('cut'), delayMs: 250 },
  ]);
  expect(waits).toEqual([125, 250]);
  expect(state?.sends.get(1)).toBe(3);
  expect(state && resentChunks(state)).toBe(1);
});

test('a chunk that is refused ends the upload as partial; the same job goes on with what is missing', async () => {
  let refuses = true;
  const service: Service = (request, body, count) =>
    request.method === 'PUT' && refuses ? failed(400) : kind(request, body, count);
  const { run, sent } = await uploading(service);
  const first = await run();
  expect(first.failure).toMatchObject({
    code: 'partial',
    message:
      '1 of 3 chunks are confirmed, then: e (HTTP 400 from PUT /v1/webhooks/feed/2f1d3c5e-7a90-4b8c-9d6e-0f1a2b3c4d5e)',
    hint: 'sotra webhook resume 0123456789ab continues; so does the same command again.',
    status: 400,
    details: { job: '0123456789ab', uid, chunks: 3, confirmed: 1, resentChunks: 0 },
  });
  expect(puts(sent)).toEqual([['ext:1000', 1000]]);
  expect(first.state?.finishedMs).toBeUndefined();
  refuses = false;
  const second = await run();
  expect(second.failure).toBeUndefined();
  expect(second.events.map((event) => ('done' in event ? [event.chunk, event.done] : event.event))).toEqual([
    [2, 2],
    [3, 3],
  ]);
  expect(sent.filter(({ method }) => method === 'POST')).toHaveLength(1);
  expect(puts(sent).slice(1)).toEqual([
    ['ext:1000', 1000],
    ['ext:2000', 500],
  ]);
});

test('where nothing was made the error is that of the call, and nothing is noted as made', async () => {
  const { run, sent } = await uploading((request, body, count) =>
    request.method === 'POST' ? failed(400) : kind(request, body, count),
  );
  const { failure, state } = await run();
  expect(failure).toMatchObject({ code: 'bad-request', status: 400 });
  expect(state).toMatchObject({ posting: undefined, uid: undefined });
  expect(sent.map(({ method }) => method)).toEqual(['GET', 'POST']);
});

test('a POST that surely was not processed is sent again, five times at most', async () => {
  const twice = await uploading((request, body, count) =>
    request.method === 'POST' && count < 3 ? down : kind(request, body, count),
  );
  expect((await twice.run()).failure).toBeUndefined();
  expect(twice.waits).toEqual([125, 250]);
  const never = await uploading((request, body, count) =>
    request.method === 'POST' ? down : kind(request, body, count),
  );
  expect((await never.run()).failure).toMatchObject({ code: 'network', outcome: 'unsent' });
  expect(never.sent.filter(({ method }) => method === 'POST')).toHaveLength(5);
});

test('a POST whose answer was lost is looked for in the list, and its first chunk is sent once more', async () => {
  const { run, sent, secrets } = await uploading((request, body, count) => {
    if (request.method === 'POST') return lost;
    if (request.method === 'GET') return ok(count < 3 ? [] : [{ ...made, uid }]);
    return kind(request, body, count);
  });
  const { events, failure, state } = await run();
  expect(failure).toBeUndefined();
  expect(events.slice(0, 2)).toEqual([
    { event: 'settling', why: expect.stringContaining('cut') },
    { event: 'registered', uid, destinationUrl, settled: true },
  ]);
  expect(puts(sent)[0]).toEqual(['ext:0', 1000]);
  expect(sent.filter(({ method }) => method === 'POST')).toHaveLength(1);
  expect(secrets).toEqual(['whsec_abcdefghij']);
  expect(state?.sends.get(0)).toBe(2);
  expect(state?.settled).toBe(true);
});

test('a lost POST that does not show within ten seconds was not made, and is sent again', async () => {
  const { run, sent, waits } = await uploading((request, body, count) =>
    request.method === 'POST' && count === 1 ? lost : kind(request, body, count),
  );
  expect((await run()).failure).toBeUndefined();
  // The first list is before the first POST; eleven looks follow, the second POST and two chunks.
  expect(sent.map(({ method }) => method).join(' ')).toBe(
    'GET POST GET GET GET GET GET GET GET GET GET GET GET POST PUT PUT',
  );
  expect(waits.filter((ms) => ms === 1000)).toHaveLength(10);
});

test('after a lost POST one that is refused does not say that there is no webhook: the next run looks again', async () => {
  const { run } = await uploading((request, body, count) => {
    if (request.method === 'POST') return count === 1 ? lost : failed(400);
    return kind(request, body, count);
  });
  const { failure, state } = await run();
  expect(failure).toMatchObject({ code: 'bad-request' });
  expect(state?.posting).toEqual({ before: [] });
});

const settled: readonly [what: string, list: object[], code: string, message: RegExp][] = [
  ['two webhooks', [made, { ...made, uid: 'other' }], 'conflict', /and other were both made/],
  ['one without its secret', [{ uid, destinationUrl }], 'partial', /its secret was in an answer that got lost/],
];

test.each(settled)('a lost POST after which the list has %s is not guessed at', async (_, list, code, message) => {
  const { run } = await uploading((request, body, count) => {
    if (request.method === 'POST') return lost;
    return request.method === 'GET' ? ok(count === 1 ? [] : list) : kind(request, body, count);
  });
  expect((await run()).failure).toMatchObject({ code, message: expect.stringMatching(message) });
});

test('a destination that has a webhook gets no second one unasked; one elsewhere does not count', async () => {
  const has =
    (destination: string): Service =>
    (request, body, count) =>
      request.method === 'GET' ? ok([{ uid: 'w-1', destinationUrl: destination }]) : kind(request, body, count);
  const same = await uploading(has(destinationUrl));
  expect((await same.run()).failure).toMatchObject({
    code: 'conflict',
    message: 'webhook w-1 sends to https://d.example.com/hook already',
    hint: expect.stringContaining('--another'),
  });
  expect(same.sent.map(({ method }) => method)).toEqual(['GET']);
  const asked = await uploading(has(destinationUrl));
  expect((await asked.run(1, true)).failure).toBeUndefined();
  expect((await (await uploading(has('https://e.example.com/'))).run()).failure).toBeUndefined();
});

test('a service that does not say the uid of what it made is not asked again', async () => {
  const { run, sent } = await uploading((request, body, count) =>
    request.method === 'POST' ? ok({}) : kind(request, body, count),
  );
  expect((await run()).failure).toMatchObject({ code: 'contract', hint: expect.stringContaining('webhook list') });
  expect(sent.filter(({ method }) => method === 'POST')).toHaveLength(1);
});

test('who stops an upload is told how far it came', async () => {
  const stop = new AbortController();
  const service: Service = (request, body, count) => {
    if (request.method === 'PUT') stop.abort();
    return kind(request, body, count);
  };
  const { run, sent } = await uploading(service, {}, { stop });
  expect((await run()).failure).toMatchObject({
    code: 'interrupted',
    message: expect.stringMatching(/^interrupted with [12] of 3 chunks confirmed$/),
    hint: expect.stringContaining('webhook resume 0123456789ab'),
  });
  expect(puts(sent)).toHaveLength(1);
});

test('who stops an upload while its POST is on its way does not wait for the list, which the next run asks', async () => {
  const stop = new AbortController();
  const service: Service = (request, body, count) => {
    if (request.method !== 'POST') return kind(request, body, count);
    stop.abort();
    return lost;
  };
  const { run, sent } = await uploading(service, {}, { stop });
  const { failure, events, state } = await run();
  expect(failure).toMatchObject({ code: 'interrupted', message: 'interrupted with 0 of 3 chunks confirmed' });
  expect([events, sent.map(({ method }) => method), state?.posting]).toEqual([[], ['GET', 'POST'], { before: [] }]);
});

test('an upload that is stopped when all of it was answered is finished', async () => {
  const stop = new AbortController();
  const service: Service = (request, body, count) => {
    stop.abort();
    return kind(request, body, count);
  };
  const { run } = await uploading(service, { task: 'add-addresses', uid, addresses: 10, chunks: 1 }, { stop });
  const { failure, state } = await run(4);
  expect([failure, state?.finishedMs]).toEqual([undefined, 5000]);
});

test('waits double from a quarter of a second to fifteen, a second at least where the service is busy', async () => {
  const signal = new AbortController().signal;
  const of = (random: number, sleep: World['sleep'] = async () => undefined) =>
    createRetryPolicy({ world: { random: () => random, sleep, signal } as World, options: readGlobals({}) });
  const error = new SotraError('network', 'x', { outcome: 'unknown' });
  const busy = new SotraError('rate-limited', 'x', { outcome: 'unsent' });
  expect([1, 2, 6, 7, 20].map((failures) => of(1).delay(failures, error))).toEqual([250, 500, 8000, 15_000, 15_000]);
  expect(of(0).delay(7, error)).toBe(7500);
  expect([1, 5].map((failures) => of(1).delay(failures, busy))).toEqual([1000, 4000]);
  const stopped = of(1, () => Promise.reject(new Error('aborted')));
  await expect(stopped.wait(1)).rejects.toMatchObject({
    code: 'interrupted',
    message: 'interrupted',
    cause: new Error('aborted'),
  });
});

const passing: readonly [error: unknown, tries: number][] = [
  [new SotraError('network', 'x', { outcome: 'unknown' }), 8],
  [new SotraError('rate-limited', 'x', { outcome: 'unsent' }), 8],
  [new SotraError('bad-request', 'x'), 1],
  [new SotraError('interrupted', 'x', { outcome: 'unknown' }), 1],
  [new Error('x'), 1],
];

test.each(passing)('%j is met %i times, then it is the end', async (error, tries) => {
  const waited: number[] = [];
  let [tried, told] = [0, 0];
  const act = () => {
    tried += 1;
    return Promise.reject(error);
  };
  const world = { random: () => 1, sleep: async (ms: number) => void waited.push(ms) } as unknown as World;
  const outcome = await withRetries(createRetryPolicy({ world, options: readGlobals({}) }), act, () => {
    told += 1;
  }).catch((thrown: unknown) => thrown);
  expect([outcome, tried, told, waited.length]).toEqual([error, tries, tries - 1, tries - 1]);
});

test('jobs are listed oldest first and found by the start of their name', async () => {
  const jobs = newFolder();
  const add = async (job: string, atMs: number) => {
    mkdirSync(join(jobs, 'draft-x'));
    return settleDraft(jobs, join(jobs, 'draft-x'), { ...plan, job, atMs });
  };
  await add('aa0000000000', 3);
  await add('ab0000000000', 1);
  const gone = await add('cc0000000000', 2);
  mkdirSync(join(jobs, 'draft-y'));
  mkdirSync(join(jobs, 'empty'));
  setAside(gone);
  expect(listJobs(jobs).map(({ state }) => state.plan.job)).toEqual(['ab0000000000', 'aa0000000000']);
  expect(readdirSync(jobs).filter((name) => /^cc0000000000\.gone-[0-9a-f]{8}$/.test(name))).toHaveLength(1);
  expect(findJob(jobs, 'ab').folder).toBe(join(jobs, 'ab0000000000'));
  const missing = (name: string) => () => findJob(jobs, name);
  const hint = 'sotra webhook jobs lists them.';
  expect(missing('a')).toThrow(expect.objectContaining({ message: 'upload a: ambiguous prefix', hint }));
  expect(missing('b')).toThrow(
    expect.objectContaining({ code: 'not-found', message: 'upload b: no such upload', hint }),
  );
});

test('a list is cut into chunks of a thousand, none of them empty', () => {
  const chunks = (count: number) => {
    const folder = newFolder();
    const names = Array.from({ length: count }, (_, index) => `${index}:${'ü'.repeat(index % 60)}\n`);
    writeFileSync(addressesFile(folder), names.join(''));
    const read = [...readChunks(folder)];
    expect(read.flatMap(({ addresses }) => addresses).map((name) => `${name}\n`)).toEqual(names);
    return read.map(({ index, addresses }) => [index, addresses.length]);
  };
  expect(chunks(0)).toEqual([]);
  expect(chunks(999)).toEqual([[0, 999]]);
  expect(chunks(1000)).toEqual([[0, 1000]]);
  expect(chunks(3001)).toEqual([
    [0, 1000],
    [1, 1000],
    [2, 1000],
    [3, 1],
  ]);
});

const line = (entry: object) => `${checkedLine(entry)}\n`;
const journals: readonly [what: string, text: string, message: RegExp][] = [
  ['of another version', line({ ...plan, v: 2 }), /written by another version/],
  ['that does not begin with its plan', line({ kind: 'finished', atMs: 1, v: 1 }), /damaged at line 1/],
  ['with a second plan', line(plan) + line(plan), /damaged at line 2/],
  ['with an unknown entry', line(plan) + line({ kind: 'odd' }), /damaged at line 2/],
  ['with a chunk below zero', line(plan) + line({ kind: 'sending', chunk: -1 }), /damaged at line 2/],
  ['with a name that is no job', line({ ...plan, job: 'xyz' }), /damaged at line 1/],
  ['with a longer name', line({ ...plan, job: '0123456789abc' }), /damaged at line 1/],
  ['with a secret file that cannot be', line({ ...plan, secretFile: 'a\0b' }), /damaged at line 1/],
  ['with no secret file', line({ ...plan, secretFile: '' }), /damaged at line 1/],
  ['with a moment beyond all dates', line({ ...plan, atMs: 8.65e15 }), /damaged at line 1/],
  ['with a task that is none', line({ ...plan, task: 'dance' }), /damaged at line 1/],
];

test.each(journals)('a journal %s is refused', (_, text, message) => {
  const folder = newFolder();
  writeFileSync(journalFile(folder), text);
  expect(() => readJournal(folder)).toThrow(
    expect.objectContaining({ code: 'local-file', message: expect.stringMatching(message) }),
  );
});

test('a journal tells what happened, over all runs', () => {
  const folder = newFolder();
  expect(readJournal(folder)).toBeUndefined();
  writeFileSync(journalFile(folder), '');
  expect(readJournal(folder)).toBeUndefined();
  const entries = [
    { ...plan, task: 'sync', secretFile: 'a/b' },
    { kind: 'posting', before: ['w'] },
    { kind: 'sending', chunk: 0 },
    { kind: 'sending', chunk: 0 },
    { kind: 'sending', chunk: 1 },
    { kind: 'done', chunk: 1, sends: 1 },
    { kind: 'done', chunk: 2, sends: 3 },
  ];
  writeFileSync(journalFile(folder), entries.map(line).join(''));
  const state = readJournal(folder);
  expect(state).toMatchObject({ posting: { before: ['w'] }, uid: undefined, destinationUrl, settled: false });
  expect([...(state?.done ?? [])]).toEqual([1, 2]);
  expect([...(state?.sends ?? [])]).toEqual([
    [0, 2],
    [1, 1],
    [2, 3],
  ]);
  expect(state && resentChunks(state)).toBe(2);
  expect(state?.finishedMs).toBeUndefined();
});
