import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Answer, add, fresh, hook, ids, made, place, register, uid } from '../support/upload-place.ts';

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

test('removing an upload says what is lost, asks, and takes all that this machine keeps of it', async () => {
  const { sotra, job, jobs, folder, sent } = await stopped();
  const losses = [
    '2 chunks of 3 not sent yet',
    `the record of what webhook ${uid} has, which webhook sync needs`,
    `the secret of webhook ${uid}, which this machine has nowhere else`,
  ];
  const requests = sent.length;
  const refused = await sotra(`webhook jobs remove ${job}`);
  expect([refused.code, refused.err]).toEqual([
    2,
    expect.stringContaining(`cannot ask whether to remove upload ${job}`),
  ]);
  const no = await sotra(`webhook jobs remove ${job}`, { answers: ['n'] });
  expect(no.code).toBe(2);
  expect(no.err).toContain(losses.map((loss) => `This loses ${loss}.\n`).join(''));
  const before = readFileSync(join(folder, 'webhook', 'jobs', job, 'journal.ndjson'));
  const dry = await sotra(`webhook jobs remove ${job} --dry-run --json`);
  expect([dry.code, JSON.parse(dry.out).changes]).toEqual([
    0,
    [
      { action: 'remove', what: `upload ${job}`, detail: join(folder, 'webhook', 'jobs', job) },
      ...losses.map((what) => ({ action: 'lose', what, detail: null })),
    ],
  ]);
  expect(jobs()).toEqual([job]);
  expect(readFileSync(join(folder, 'webhook', 'jobs', job, 'journal.ndjson')).equals(before)).toBe(true);
  const done = await sotra(`webhook jobs remove ${job.slice(0, 6)} --yes --json`);
  expect([done.code, JSON.parse(done.out)]).toEqual([0, { job, uid, lost: losses }]);
  expect([jobs(), sent.length]).toEqual([[], requests]);
  expect((await sotra(`webhook jobs remove ${job} --yes`)).code).toBe(5);
  expect(JSON.parse((await sotra('webhook jobs --json')).out)).toEqual([]);
});

test('of a finished upload what sync needs is lost; a damaged one can be removed too', async () => {
  const { sotra, write, jobs, folder } = place();
  write('list', ids(3));
  await sotra(`${add} @list`);
  const [job = ''] = jobs();
  const dry = await sotra(`webhook jobs remove ${job} --dry-run --json`);
  expect(JSON.parse(dry.out).changes.slice(1)).toEqual([
    { action: 'lose', what: `the record of what webhook ${uid} has, which webhook sync needs`, detail: null },
  ]);
  writeFileSync(join(folder, 'webhook', 'jobs', job, 'journal.ndjson'), 'noise\n');
  expect((await sotra('webhook jobs')).code).toBe(3);
  const done = await sotra(`webhook jobs remove ${job} --yes --json`);
  expect([done.code, JSON.parse(done.out).lost]).toEqual([0, [expect.stringContaining('is damaged at line 1')]]);
  expect(readdirSync(join(folder, 'webhook', 'jobs'))).toEqual([]);
});

test.each([
  ['POST', register, /^error: destination https:\/\/d\.example\.com\/hook is in use by process \d+$/m],
  ['PUT', add, /^error: upload [0-9a-f]{12} is in use by process \d+$/m],
])('an upload that runs is not removed, exit 3: while its %s is answered', async (method, command, message) => {
  const { sotra, write, jobs, service, folder } = place(fresh);
  write('list', ids(3));
  let removal: Awaited<ReturnType<typeof sotra>> | undefined;
  service.answer = async (request, count) => {
    const [job = ''] = jobs().filter((name) => /^[0-9a-f]{12}$/.test(name));
    if (request.method === method) removal = await sotra(`webhook jobs remove ${job.slice(0, 4)} --yes`);
    return fresh(request, count);
  };
  const { code, out } = await sotra(`${command} @list --json`);
  expect(removal).toMatchObject({ code: 3, err: expect.stringMatching(message) });
  expect([code, JSON.parse(out).uid]).toEqual([0, made.uid]);
  expect(existsSync(join(folder, 'webhook', 'jobs', JSON.parse(out).job))).toBe(true);
});

test('an upload that runs is not removed either when its journal is damaged', async () => {
  const { sotra, write, jobs, service, folder } = place();
  write('list', ids(3));
  let job = '';
  let removal: Awaited<ReturnType<typeof sotra>> | undefined;
  service.answer = async () => {
    job = jobs().find((name) => /^[0-9a-f]{12}$/.test(name)) ?? '';
    writeFileSync(join(folder, 'webhook', 'jobs', job, 'journal.ndjson'), 'noise\n');
    removal = await sotra(`webhook jobs remove ${job} --yes`);
    return [200, { uid }];
  };
  await sotra(`${add} @list`);
  expect(removal).toMatchObject({ code: 3, err: expect.stringContaining(`upload ${job} is in use by process`) });
});

test('of an upload that began nothing no record is lost; where its POST has no answer, it is not known whether its webhook was made', async () => {
  const refusal = place(({ method }) => (method === 'GET' ? [200, []] : [400, { error: 'no' }]));
  refusal.write('list', ids(3));
  expect((await refusal.sotra(`${register} @list`)).code).not.toBe(0);
  const refused = await refusal.sotra(`webhook jobs remove ${refusal.jobs()[0]} --yes --json`);
  expect(JSON.parse(refused.out)).toMatchObject({ uid: null, lost: ['1 chunk of 1 not sent yet'] });
  const silence = place(({ method }) => (method === 'GET' ? [200, []] : [503, {}]));
  silence.write('list', ids(3));
  expect((await silence.sotra(`${register} @list --retries 0`)).code).not.toBe(0);
  const lost = await silence.sotra(`webhook jobs remove ${silence.jobs()[0]} --yes --json`);
  expect(JSON.parse(lost.out).lost).toEqual([
    '1 chunk of 1 not sent yet',
    'whether its webhook was made, which sotra webhook list may show',
  ]);
});

test('an upload whose journal is empty is not listed, cannot be resumed, and can be removed; other folders are no uploads', async () => {
  const { sotra, write, jobs, folder } = place();
  write('list', ids(3));
  expect((await sotra(`${add} @list`)).code).toBe(0);
  const [job = ''] = jobs();
  const uploads = join(folder, 'webhook', 'jobs');
  cpSync(join(uploads, job), join(uploads, `old-${job}`), { recursive: true });
  const listed = JSON.parse((await sotra('webhook jobs --json')).out);
  expect(listed).toMatchObject([{ job, finished: true }]);
  writeFileSync(join(uploads, job, 'journal.ndjson'), '');
  expect(JSON.parse((await sotra('webhook jobs --json')).out)).toEqual([]);
  const resumed = await sotra(`webhook resume ${job}`);
  expect([resumed.code, resumed.err]).toEqual([3, expect.stringContaining('journal.ndjson is empty')]);
  const removed = await sotra(`webhook jobs remove ${job} --yes --json`);
  expect([removed.code, JSON.parse(removed.out)]).toEqual([0, { job, uid: null, lost: [] }]);
  expect(readdirSync(uploads)).toEqual([`old-${job}`]);
});

test('a preview makes no folder for uploads', async () => {
  const { sotra, write, folder } = place(fresh);
  write('list', ids(3));
  expect((await sotra(`${register} @list --dry-run`)).code).toBe(0);
  expect(existsSync(join(folder, 'webhook'))).toBe(false);
});

test.each([
  ['more addresses for one webhook', `${add} @one`, `${add} @two`],
  ['registrations for two destinations', `${register} @one`, `webhook register --url ${hook}/2 --addresses-file @two`],
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
