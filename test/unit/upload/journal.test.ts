import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openLog } from '../../../src/lib/files/log-file.ts';
import { readJournal, resentChunks } from '../../../src/upload/journal.ts';
import { temporaryFolder } from '../../support/harness.ts';

const plan = {
  ...{ kind: 'plan', v: 2, job: '0123456789ab', task: 'sync', baseUrl: 'https://a.example.com', keyId: 'k' },
  ...{
    destinationUrl: 'https://d.example.com/hook',
    uid: null,
    addresses: 3000,
    chunks: 3,
    duplicates: 0,
    rejected: 0,
  },
  ...{ digest: 'x', atMs: 1, line: 'sotra webhook sync' },
};
const registered = { kind: 'registered', uid: 'w-1', destinationUrl: 'https://d.example.com/new', settled: false };
const sending = (chunk: number) => ({ kind: 'sending', chunk });
const done = (chunk: number, sends = 1) => ({ kind: 'done', chunk, sends, addresses: [`ext:${chunk}`] });
const finished = { kind: 'finished', atMs: 5 };

function read(lines: readonly object[], isWanted: (uid: string) => boolean = () => true) {
  const folder = temporaryFolder();
  const log = openLog(join(folder, 'journal.ndjson'));
  for (const line of lines) log.append(line);
  log.close();
  return readJournal(folder, isWanted);
}

test('a folder without a journal, or with an empty one, has no upload', () => {
  expect(readJournal(temporaryFolder(), () => true)).toBeUndefined();
  expect(read([])).toBeUndefined();
});

test.each<[problem: string, lines: object[]]>([
  ['was written by another version of sotra', [{ ...plan, v: 3 }]],
  ['is damaged at line 1', [{ v: 2, ...sending(0) }]],
  ['is damaged at line 1', [{ ...plan, job: 'short' }]],
  ['is damaged at line 2', [plan, { kind: 'unknown' }]],
])('a journal is refused that %s', (problem, lines) => {
  expect(() => read(lines)).toThrow(problem);
});

test('the addresses that wanted webhooks confirmed are read, those of others are not', () => {
  const lines = [plan, { ...registered, addresses: ['ext:a'] }, sending(1), done(1)];
  const confirmed = [
    { uid: 'w-1', addresses: ['ext:a'] },
    { uid: 'w-1', addresses: ['ext:1'] },
  ];
  expect(read(lines, (uid) => uid === 'w-1')?.confirmed).toEqual(confirmed);
  expect(read(lines, () => false)?.confirmed).toEqual([]);
});

test('a registration whose answer was lost confirms no address: its chunk is sent again, and counted', () => {
  const job = read([plan, { kind: 'posting', before: [] }, registered, sending(0), done(0)]);
  expect(job?.confirmed).toEqual([{ uid: 'w-1', addresses: ['ext:0'] }]);
  expect(job && resentChunks(job.state)).toBe(1);
});

test('a POST that made nothing leaves the upload as it was before', () => {
  const state = read([plan, { kind: 'posting', before: ['w-0'] }, { kind: 'not-created' }])?.state;
  expect(state).toMatchObject({ posting: undefined, uid: undefined, registered: undefined });
  expect([...(state?.sends.keys() ?? [])]).toEqual([]);
});

test('where a sync starts over, what was sent twice stays counted, and what was on its way is sent again', () => {
  const sent = [sending(1), done(1, 2), sending(2)];
  const state = read([plan, { ...registered, addresses: ['ext:a'] }, ...sent, plan])?.state;
  expect(state).toMatchObject({ uid: 'w-1', destinationUrl: registered.destinationUrl, resentBefore: 2 });
  expect([state?.done.size, state?.sends.size]).toEqual([0, 0]);
});

test('what comes after an upload that was finished is a new one: of the old it knows only what it made, and where', () => {
  const state = read([plan, registered, sending(1), done(1, 2), sending(2), finished, plan])?.state;
  expect(state).toMatchObject({ resentBefore: 0, registered: 'w-1', destinationUrl: registered.destinationUrl });
  expect([state?.uid, state?.finishedMs]).toEqual([undefined, undefined]);
});

test('the destination of a plan counts until the service tells another', () => {
  expect(read([plan])?.state.destinationUrl).toBe('https://d.example.com/hook');
  expect(read([{ ...plan, destinationUrl: null, uid: 'w-2' }])?.state).toMatchObject({ uid: 'w-2' });
});
