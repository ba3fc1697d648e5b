import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
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
  for (const loss of losses) expect(no.err).toContain(`This loses ${loss}.\n`);
  const before = readFileSync(join(folder, 'webhook', 'jobs', job, 'journal.ndjson'));
  const dry = await sotra(`webhook jobs remove ${job} --dry-run --json`);
  expect([dry.code, JSON.parse(dry.out).changes.map(({ what }: { what: string }) => what)]).toEqual([
    0,
    [`upload ${job}`, ...losses],
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

test('an upload that runs is not removed, exit 3', async () => {
  const { sotra, write, jobs, service, folder } = place(fresh);
  write('list', ids(3));
  let removal: Awaited<ReturnType<typeof sotra>> | undefined;
  service.answer = async (request, count) => {
    if (request.method === 'POST') removal = await sotra(`webhook jobs remove ${jobs()[0]?.slice(0, 4)} --yes`);
    return fresh(request, count);
  };
  const { code, out } = await sotra(`${register} @list --json`);
  expect(removal).toMatchObject({ code: 3, err: expect.stringContaining('is in use by process') });
  expect([code, JSON.parse(out).uid]).toEqual([0, made.uid]);
  expect(existsSync(join(folder, 'webhook', 'jobs', JSON.parse(out).job))).toBe(true);
});
