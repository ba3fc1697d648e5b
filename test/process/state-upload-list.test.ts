import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { checkedLine } from '../../src/files/log-file.ts';
import { hook, ids, made, place, register, uid } from '../support/upload-place.ts';

// Uploads of the last release had their list in a file of its own, and its journal no addresses.

const list = ids(2500);
const digest = createHash('sha256').update(list).digest('hex');
const service = { baseUrl: 'https://a.example.com', keyId: '0bab96736bcaebd3' };
const job = createHash('sha256')
  .update(JSON.stringify([service, 'register', null, hook, digest]))
  .digest('hex')
  .slice(0, 12);
const plan = {
  ...{ kind: 'plan', v: 1, job, task: 'register', ...service, destinationUrl: hook, uid: null, secretFile: null },
  ...{ addresses: 2500, chunks: 3, duplicates: 0, rejected: 0, digest, atMs: 1000 },
};
const registered = [
  { kind: 'posting', before: [] },
  { kind: 'registered', uid, destinationUrl: hook, settled: false },
  { kind: 'done', chunk: 0, sends: 1 },
  { kind: 'sending', chunk: 1 },
];

/** A place with such an upload, as far as these entries. */
function old(entries: readonly object[]) {
  const there = place(({ method }) => [200, method === 'GET' ? [made] : { uid }]);
  const folder = join(there.folder, 'webhook', 'jobs', job);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'addresses.txt'), list);
  writeFileSync(join(folder, 'secret'), 'whsec_abcdefghij\n');
  const lines = [plan, ...entries].map((entry) => `${checkedLine(entry)}\n`);
  writeFileSync(join(folder, 'journal.ndjson'), lines.join(''));
  there.write('list', list);
  const chunks = () =>
    there.sent.flatMap(({ method, body }) => (method === 'PUT' ? [JSON.parse(body ?? '').walletAddresses[0]] : []));
  return { ...there, kept: join(folder, 'addresses.txt'), chunks };
}

test('an upload of the last release is listed, and continued by the same command', async () => {
  const { sotra, chunks } = old(registered);
  const { out, err } = await sotra('webhook jobs');
  expect([out.startsWith(job), err]).toEqual([
    true,
    `upload ${job} is not finished; continue with: sotra webhook register --url ${hook} --file <file>\n`,
  ]);
  const { code, out: json } = await sotra(`${register} @list --concurrency 1 --json`);
  expect([code, JSON.parse(json)]).toMatchObject([
    0,
    { uid, job, chunks: 3, resentChunks: 1, secret: 'whsec_abcdefghij' },
  ]);
  expect(chunks()).toEqual(['ext:1000', 'ext:2000']);
});

test('sync goes on with what an upload of the last release confirmed, and closes it', async () => {
  const { sotra, chunks } = old(registered);
  const sync = `webhook sync --url ${hook} --file @list --secret-file @s`;
  expect((await sotra(sync)).err).toBe(`Sent 1,500 of 2,500 addresses to webhook ${uid}, which has all of them now.\n`);
  expect(chunks().sort()).toEqual(['ext:1000', 'ext:2000']);
  expect((await sotra(sync)).err).toBe(`Nothing was sent: webhook ${uid} has all 2,500 addresses of the file.\n`);
  const jobs = JSON.parse((await sotra('webhook jobs --json')).out);
  expect(jobs.map(({ finished }: { finished: boolean }) => finished)).toEqual([true, true]);
});

test('a registration of the last release whose answer was lost is looked for, not made again', async () => {
  const { sotra, folder, sent } = old([{ kind: 'posting', before: [] }]);
  expect((await sotra(`webhook sync --url ${hook} --file @list --secret-file @s`)).code).toBe(0);
  expect(sent.map(({ method }) => method)).not.toContain('POST');
  expect(readFileSync(join(folder, 's'), 'utf8')).toBe('whsec_abcdefghij\n');
});

test('a list of the last release that was changed is not trusted: exit 3, named, nothing is sent', async () => {
  const { sotra, kept, sent } = old(registered);
  writeFileSync(kept, list.replace('ext:5\n', 'ext:x\n'));
  const { code, err } = await sotra(`webhook sync ${uid} --file @list`);
  expect([code, sent.length]).toEqual([3, 0]);
  expect(err).toContain('addresses.txt, the list of upload');
  expect(err).toContain('hint: Move ');
});
