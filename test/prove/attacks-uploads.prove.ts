import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Seen, stub, temporaryFolder } from '../support/harness.ts';
import { attack, smallDisk } from '../support/hostile/attack.ts';
import { fileCases } from '../support/hostile/kill-cases.ts';
import { killEverywhere } from '../support/hostile/kill-points.ts';

interface Made {
  uid: string;
  destinationUrl: string;
  secret?: string;
}

/** A service that keeps webhooks as told, and loses or refuses what `answer` says. */
async function service(options: {
  stores?: (url: string) => string;
  toldOnce?: boolean;
  /** Of a POST, before it is answered: whether the answer is lost. */
  onPost?: (count: number) => 'lost' | 'unarrived' | undefined;
  onPut?: (count: number) => number;
}) {
  const { stores = (url: string) => url, toldOnce = false, onPost = () => undefined, onPut = () => 200 } = options;
  const hooks: Made[] = [];
  const held = new Map<string, Set<string>>();
  const [posts, puts] = [[] as string[], [] as string[]];
  const answer = (response: ServerResponse, value: unknown, status = 200) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
  const { url, env } = await stub(({ method, url: path, body }: Seen, response) => {
    if (method === 'GET')
      return answer(
        response,
        hooks.map((each) => (toldOnce ? { ...each, secret: undefined } : each)),
      );
    const sent = JSON.parse(body);
    if (method === 'POST') {
      posts.push(body);
      const fate = onPost(posts.length);
      if (fate === 'unarrived') return response.destroy();
      const uid = `w-${hooks.length}`;
      hooks.push({ uid, destinationUrl: stores(sent.destinationUrl), secret: `whsec_secret${hooks.length}` });
      held.set(uid, new Set(sent.walletAddresses));
      return fate === 'lost' ? response.destroy() : answer(response, hooks.at(-1));
    }
    puts.push(body);
    const status = onPut(puts.length);
    const uid = path.split('/').at(-1) ?? '';
    if (status === 200) for (const each of sent.walletAddresses) held.get(uid)?.add(each);
    return answer(response, status === 200 ? { uid } : { error: 'no' }, status);
  });
  return { url, env, hooks, held, posts, puts };
}

const ids = (count: number, from = 0) => Array.from({ length: count }, (_, index) => `ext:${from + index}\n`).join('');

function place(list = ids(1500)) {
  const folder = temporaryFolder();
  const file = join(folder, 'list.txt');
  writeFileSync(file, list);
  const jobs = join(folder, 'webhook', 'jobs');
  return { folder, file, jobs, data: { SOTRA_DATA_DIR: folder } };
}

const normalized = (text: string) => new URL(text).href.replace('%7E', '~').replace('%7e', '~');
const shortened = (text: string) => new URL(text).href.replace(/\/$/, '');

test.each([
  ['http://127.0.0.1:4242', normalized],
  ['HTTP://LocalHost:80/Hook', normalized],
  ['https://d.example.com:443', normalized],
  ['https://d.example.com/a/../b', normalized],
  ['https://d.example.com/%7ehook', normalized],
  ['https://d.example.com/hook/', shortened],
  ['https://b\u00fccher.example/\u00e9?q=\u00e9 x', normalized],
  ['https://d.example.com?a=1', normalized],
])(
  'an answer that is lost for %s makes one webhook, also where the service writes the address another way',
  {},
  async (typed, stores) => {
    const { env, hooks, posts } = await service({ stores, onPost: (count) => (count < 4 ? 'lost' : undefined) });
    const { file, data } = place();
    const argv = ['webhook', 'register', '--url', typed, '--file', file];
    const first = await attack(argv, { env: { ...env, ...data } });
    expect([first.code, hooks.length]).toEqual([0, 1]);
    const other = place('ext:other\n');
    const guarded = await attack([...argv.slice(0, -1), other.file], { env: { ...env, ...other.data } });
    expect([guarded.code, hooks.length, posts.length]).toEqual([6, 1, 1]);
  },
);

const isRoot = process.getuid?.() === 0;

test.runIf(isRoot)(
  'a disk that is full, or fills up while the webhook is made, loses no secret that is told once',
  {},
  async () => {
    const disk = smallDisk(1);
    if (disk === undefined) return;
    const fill = () => {
      for (const bytes of [100_000, 4096, 100, 1])
        try {
          for (;;) writeFileSync(join(disk, 'filling'), Buffer.alloc(bytes), { flag: 'a' });
        } catch {
          // Smaller pieces may still fit.
        }
    };
    const secretFile = join(disk, 'hook.secret');
    const register = (file: string) =>
      `webhook register --url https://d.example.com/h --file ${file} --secret-file ${secretFile} --json`;
    // There is no room from the start.
    fill();
    const full = await service({ toldOnce: true });
    const first = place();
    const refused = await attack(register(first.file), { env: { ...full.env, ...first.data } });
    expect([refused.code, full.posts.length]).toEqual([3, 0]);
    rmSync(join(disk, 'filling'));
    // It fills up while the service makes the webhook.
    const filling = await service({ toldOnce: true, onPost: () => void fill() });
    const made = await attack(register(first.file), { env: { ...filling.env, ...first.data } });
    const places = [secretFile, ...readdirSync(first.jobs).map((job) => join(first.jobs, job, 'secret'))];
    const texts = places.filter((each) => existsSync(each)).map((each) => readFileSync(each, 'utf8'));
    expect(texts).toContain('whsec_secret0\n');
    if (made.code !== 0) expect(made.err).toContain('w-0');
    rmSync(join(disk, 'filling'));
    const again = await attack(register(first.file), { env: { ...filling.env, ...first.data } });
    expect([again.code, readFileSync(secretFile, 'utf8'), filling.posts.length]).toEqual([0, 'whsec_secret0\n', 1]);
  },
);

test('a registration whose secret is told once, killed at any of its writes, loses nothing that it has', async () => {
  const [found] = fileCases.filter(({ name }) => name === 'webhook register, its secret told once');
  if (found === undefined) throw new Error('the case is gone');
  const { kills, failures } = await killEverywhere(found, { most: 12 });
  expect(failures).toEqual([]);
  expect(kills).toBeGreaterThan(8);
});

test('a journal from a clock that was ahead keeps no registration waiting', async () => {
  for (const hours of [1, 24 * 365]) {
    const lost = await service({ onPost: (count) => (count === 1 ? 'unarrived' : undefined) });
    const { folder, file, data } = place();
    const clock = join(folder, 'clock.mjs');
    writeFileSync(clock, `const { now } = Date; Date.now = () => now() + ${hours} * 3_600_000;`);
    const argv = `webhook register --url https://d.example.com/h --file ${file} --retries 0`;
    const ahead = { NODE_OPTIONS: `--max-old-space-size=256 --import ${clock}` };
    const first = await attack(argv, { env: { ...lost.env, ...data, ...ahead } });
    expect([9, 10]).toContain(first.code);
    const second = await attack(argv, { env: { ...lost.env, ...data } });
    expect([hours, second.code, lost.hooks.length, second.err.length > 0]).toEqual([hours, 0, 1, true]);
  }
});

test('of any flipped bit in a journal nothing is lost without a word', async () => {
  const broken = await service({ onPut: (count) => (count === 1 ? 200 : 400) });
  const { folder, file, jobs } = place(ids(4000));
  const argv = `webhook register --url https://d.example.com/h --file ${file} --concurrency 1`;
  expect((await attack(argv, { env: { ...broken.env, SOTRA_DATA_DIR: folder } })).code).toBe(10);
  const [job = ''] = readdirSync(jobs);
  const text = readFileSync(join(jobs, job, 'journal.ndjson'));
  const registered = [...(broken.held.get('w-0') ?? [])];
  // Digits and letters of every line, the chunk of each `done` among them.
  const chosen = [...text.toString('latin1').matchAll(/"chunk":(\d)/g)].map(({ index }) => index + '"chunk":'.length);
  const spread = Array.from({ length: 12 }, (_, step) => Math.floor((step * text.length) / 12));
  const wrong: string[] = [];
  const flipAt = async (at: number, bit: number) => {
    const well = await service({});
    well.hooks.push({ uid: 'w-0', destinationUrl: 'https://d.example.com/h', secret: 'whsec_secret0' });
    well.held.set('w-0', new Set(registered));
    const copy = temporaryFolder();
    cpSync(folder, copy, { recursive: true });
    const flipped = Buffer.from(text);
    flipped[at] = (flipped[at] ?? 0) ^ (1 << bit);
    writeFileSync(join(copy, 'webhook', 'jobs', job, 'journal.ndjson'), flipped);
    const env = { ...well.env, SOTRA_BASE_URL: broken.env.SOTRA_BASE_URL ?? '', SOTRA_DATA_DIR: copy };
    const { code, signal } = await attack(argv.replace(folder, copy), {
      env: { ...env, SOTRA_BASE_URL: well.url },
    });
    const isWhole = well.held.get('w-0')?.size === 4000;
    if (signal !== null || code === 1 || (code === 0 && !isWhole && well.hooks.length === 1))
      wrong.push(`${at}: ${code}`);
  };
  await Promise.all([
    ...chosen.flatMap((at) => [flipAt(at, 0), flipAt(at, 1)]),
    ...spread.map((at, index) => flipAt(at, index % 8)),
  ]);
  expect(wrong).toEqual([]);
});

test('ten registrations of one destination at once make one webhook; the others end in a sentence', async () => {
  const slow = await service({});
  const { file, folder, data } = place();
  const argv = `webhook register --url https://d.example.com/h --file ${file} --secret-file ${folder}/secret`;
  const all = await Promise.all(Array.from({ length: 10 }, () => attack(argv, { env: { ...slow.env, ...data } })));
  expect(all.filter(({ code }) => code === 0).length).toBeGreaterThan(0);
  for (const { code, err } of all)
    expect([code === 0 || code === 3, err]).toEqual([true, expect.not.stringMatching(/ENOTEMPTY|internal|\n\s+at /)]);
  expect([slow.hooks.length, slow.held.get('w-0')?.size, readFileSync(join(folder, 'secret'), 'utf8')]).toEqual([
    1,
    1500,
    'whsec_secret0\n',
  ]);
});

test('a registration whose POST never arrived takes no webhook of another one', async () => {
  const shared = await service({ onPost: (count) => (count === 1 ? 'unarrived' : undefined) });
  const [one, two] = [place('ext:one\n'), place('ext:two\n')];
  mkdirSync(join(one.folder, 'x'));
  const register = (file: string) => `webhook register --url https://d.example.com/h --file ${file} --retries 0`;
  const env = { ...shared.env, ...one.data };
  expect([9, 10]).toContain((await attack(register(one.file), { env })).code);
  expect((await attack(register(two.file), { env })).code).toBe(0);
  const late = await attack(register(one.file), { env });
  expect([late.code, shared.hooks.length, [...(shared.held.get('w-0') ?? [])]]).toEqual([6, 1, ['ext:two']]);
});
