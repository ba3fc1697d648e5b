import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Context } from '../../../src/context.ts';
import { checkedLine } from '../../../src/files/log-file.ts';
import {
  addressesFile,
  checkList,
  type Job,
  jobsFolder,
  listJobs,
  serviceId,
  settleDraft,
} from '../../../src/upload/jobs.ts';
import { journalFile, readJournal } from '../../../src/upload/journal.ts';
import { newFolder } from '../../support/folder.ts';
import {
  destinationUrl,
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

test('with room for all chunks at once each of them is sent and told', async () => {
  const { run, sent } = await uploading(kind, { task: 'add-addresses', uid });
  const { events, failure } = await run(4);
  expect(failure).toBeUndefined();
  expect(puts(sent)).toEqual([
    ['ext:0', 1000],
    ['ext:1000', 1000],
    ['ext:2000', 500],
  ]);
  expect(events).toEqual([
    { event: 'chunk-done', chunk: 1, addresses: 1000, done: 1, chunks: 3 },
    { event: 'chunk-done', chunk: 2, addresses: 1000, done: 2, chunks: 3 },
    { event: 'chunk-done', chunk: 3, addresses: 500, done: 3, chunks: 3 },
  ]);
});

test('each sending of a call counts, those that the call repeated by itself too', async () => {
  const service: Service = (request, body, count) =>
    request.method === 'PUT' && count <= 2 ? failed(503) : kind(request, body, count);
  const { run } = await uploading(service, { task: 'add-addresses', uid, addresses: 10, chunks: 1 }, { ofCall: 1 });
  const { failure, state } = await run();
  expect(failure).toBeUndefined();
  expect([...(state?.sends ?? [])]).toEqual([[0, 3]]);
});

test('a webhook whose destination was not known gets it from the answer, where that says one', async () => {
  const some = { task: 'add-addresses', uid, destinationUrl: null, addresses: 10, chunks: 1 } as const;
  const told = await (await uploading(() => ok({ uid, destinationUrl }), some)).run();
  expect([told.failure, told.held.destinationUrl]).toEqual([undefined, destinationUrl]);
  const untold = await (await uploading(() => ok(null), some)).run();
  expect([untold.failure, untold.held.destinationUrl]).toEqual([undefined, undefined]);
  const known = await uploading(() => ok({ uid, destinationUrl: 'https://e.example.com/' }), {
    ...some,
    destinationUrl,
  });
  expect((await known.run()).held.destinationUrl).toBe(destinationUrl);
});

const refusing =
  (from: number): Service =>
  (request, body, count) =>
    request.method === 'PUT' && count >= from ? failed(401) : kind(request, body, count);

test('more addresses of which none was taken are no part of an upload: the error is that of the call', async () => {
  const { failure } = await (await uploading(refusing(1), { task: 'add-addresses', uid })).run();
  expect(failure).toMatchObject({ code: 'key-refused', status: 401 });
});

test('more addresses of which some were taken are a part of it, with both ways out', async () => {
  const { failure } = await (await uploading(refusing(2), { task: 'add-addresses', uid })).run();
  expect(failure).toMatchObject({
    code: 'partial',
    message: expect.stringMatching(/^1 of 3 chunks are confirmed, then: /),
    hint: expect.stringMatching(/^sotra webhook resume 0123456789ab continues; so does the same command again\. \S/),
    details: { uid, confirmed: 1 },
  });
});

test('a webhook that was made is a part of an upload before its first chunk is confirmed', async () => {
  const { run } = await uploading((request, body, count) => {
    if (request.method === 'POST') return lost;
    if (request.method === 'GET') return ok(count === 1 ? [] : [made]);
    return refusing(1)(request, body, count);
  });
  expect((await run()).failure).toMatchObject({
    code: 'partial',
    message: expect.stringMatching(/^0 of 3 chunks are confirmed, then: /),
    details: { uid, confirmed: 0 },
  });
});

test.each([[{}], [null]])(
  'a POST that answers %j may have made a webhook: the next run looks for it',
  async (answer) => {
    const { run } = await uploading((request, body, count) =>
      request.method === 'POST' ? ok(answer) : kind(request, body, count),
    );
    const { failure, state } = await run();
    expect(failure).toMatchObject({
      code: 'contract',
      message: 'the service registered a webhook and did not say its uid',
    });
    expect(state?.posting).toEqual({ before: [] });
  },
);

test('a lost POST is not taken for the webhook that was there before it', async () => {
  const old = { uid: 'w-1', destinationUrl, secret: 'whsec_of-the-old-one' };
  const { run, secrets } = await uploading((request, body, count) => {
    if (request.method === 'POST') return lost;
    if (request.method === 'GET') return ok(count === 1 ? [old] : [old, made]);
    return kind(request, body, count);
  });
  const { failure, state } = await run(1, true);
  expect([failure, state?.uid, secrets]).toEqual([undefined, uid, ['whsec_abcdefghij']]);
});

const hints: readonly [list: object[], hint: string][] = [
  [
    [made, { ...made, uid: 'other' }],
    'Delete the one that is not yours with sotra webhook delete, then run this again.',
  ],
  [
    [{ uid, destinationUrl }],
    `The service does not show it again: sotra webhook delete ${uid} --yes, then run this again.`,
  ],
];

test.each(hints)('after a lost POST and the list %j the way out is told', async (list, hint) => {
  const { run } = await uploading((request, body, count) => {
    if (request.method === 'POST') return lost;
    return request.method === 'GET' ? ok(count === 1 ? [] : list) : kind(request, body, count);
  });
  expect((await run()).failure).toMatchObject({ hint });
});

function jobOf(text: string | undefined, digest: string): Job {
  const folder = newFolder();
  if (text !== undefined) writeFileSync(addressesFile(folder), text);
  const state = { plan: { ...plan, digest }, posting: undefined, uid: undefined, destinationUrl: undefined };
  return {
    folder,
    state: {
      ...state,
      settled: false,
      done: new Set(),
      sends: new Map(),
      requestIds: new Map(),
      finishedMs: undefined,
    },
  };
}

/** SHA-256 of `abc`, from FIPS 180-2, and of a million `a`, which is more than a block. */
const ofAbc = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad';
const ofMillion = 'cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0';
const hint = 'The command that started this upload, with the same addresses, restores the list and continues.';

test('a list is taken as long as it is what it was when its upload began', () => {
  expect(checkList(jobOf('abc', ofAbc))).toBeUndefined();
  expect(checkList(jobOf('a'.repeat(1_000_000), ofMillion))).toBeUndefined();
  const changed = jobOf('abd', ofAbc);
  expect(() => checkList(changed)).toThrow(
    expect.objectContaining({
      code: 'local-file',
      message: `${addressesFile(changed.folder)}, the list of upload 0123456789ab, was changed since it started`,
      hint,
    }),
  );
});

test('a list that cannot be read is told with its upload', () => {
  const missing = /^the list of upload 0123456789ab cannot be read: ENOENT/;
  const error = (message: RegExp) =>
    expect.objectContaining({ code: 'local-file', message: expect.stringMatching(message), hint });
  expect(() => checkList(jobOf(undefined, ofAbc))).toThrow(error(missing));
  const folder = jobOf(undefined, ofAbc);
  mkdirSync(addressesFile(folder.folder));
  expect(() => checkList(folder)).toThrow(error(/^the list of upload 0123456789ab cannot be read: .* is a folder/));
});

test('the list of an upload that exists is that of its last draft, which is gone then', async () => {
  const jobs = newFolder();
  const draft = join(jobs, 'draft-1');
  const settled = async (list: string) => {
    mkdirSync(draft);
    writeFileSync(addressesFile(draft), list);
    return settleDraft(jobs, draft, plan);
  };
  const folder = await settled('ext:1\n');
  expect([folder, await settled('ext:2\n')]).toEqual([join(jobs, '0123456789ab'), folder]);
  expect([readFileSync(addressesFile(folder), 'utf8'), existsSync(draft)]).toEqual(['ext:2\n', false]);
});

test('uploads lie in a folder of their own, and know their key by a part of its hash', async () => {
  const data = newFolder();
  const of = (apiKey: string | null) =>
    ({
      options: { preview: false },
      dataDirectory: async () => data,
      service: async () => ({ baseUrl: 'https://a.example.com', apiKey }),
    }) as unknown as Context;
  expect(await jobsFolder(of(null))).toBe(join(data, 'webhook', 'jobs'));
  expect(existsSync(join(data, 'webhook', 'jobs'))).toBe(true);
  // printf '["key","key-of-a-partner"]' | sha256sum | cut -c 1-16
  expect(await serviceId(of('key-of-a-partner'))).toEqual({
    baseUrl: 'https://a.example.com',
    keyId: '0bab96736bcaebd3',
  });
  expect((await serviceId(of(null))).keyId).toBe('09ed2866baa2e093');
});

const linesOf = (...entries: object[]) => entries.map((entry) => `${checkedLine(entry)}\n`).join('');

test('a draft that was nearly an upload when its process ended is none', () => {
  const jobs = newFolder();
  for (const name of ['draft-1', plan.job]) {
    mkdirSync(join(jobs, name));
    writeFileSync(journalFile(join(jobs, name)), linesOf(plan));
  }
  expect(listJobs(jobs).map(({ folder }) => folder)).toEqual([join(jobs, plan.job)]);
});

test('a POST that made nothing leaves the upload as it was before it', () => {
  const folder = newFolder();
  writeFileSync(journalFile(folder), linesOf(plan));
  const before = readJournal(folder);
  writeFileSync(journalFile(folder), linesOf(plan, { kind: 'posting', before: [] }, { kind: 'not-created' }));
  expect(readJournal(folder)).toEqual(before);
  expect(before).toMatchObject({ destinationUrl, settled: false, posting: undefined });
});

test('a journal of another version says what to do', () => {
  const folder = newFolder();
  writeFileSync(journalFile(folder), linesOf({ ...plan, v: 2 }));
  expect(() => readJournal(folder)).toThrow(
    expect.objectContaining({ hint: `Update sotra, or move ${folder} away to start over.` }),
  );
});
