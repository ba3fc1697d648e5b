import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
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
}) {
  const { stores = (url: string) => url, toldOnce = false, onPost = () => undefined } = options;
  const hooks: Made[] = [];
  const held = new Map<string, Set<string>>();
  const posts: string[] = [];
  const answer = (response: ServerResponse, value: unknown) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
  const { env } = await stub(({ method, url: path, body }: Seen, response) => {
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
    const uid = path.split('/').at(-1) ?? '';
    for (const each of sent.walletAddresses) held.get(uid)?.add(each);
    return answer(response, { uid });
  });
  return { env, hooks, held, posts };
}

const ids = (count: number, from = 0) => Array.from({ length: count }, (_, index) => `ext:${from + index}\n`).join('');

function place(list = ids(1500)) {
  const folder = temporaryFolder();
  const file = join(folder, 'list.txt');
  writeFileSync(file, list);
  return { folder, file, data: { SOTRA_DATA_DIR: folder } };
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
  'a disk that fills up while the webhook is made: its uid is shown, and the same command finds it',
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
    const { file } = place();
    const argv = `webhook register --url https://d.example.com/h --file ${file} --secret-file ${disk}/hook.secret --json`;
    const filling = await service({ onPost: () => void fill() });
    const env = { ...filling.env, SOTRA_DATA_DIR: disk };
    const made = await attack(argv, { env });
    expect([made.code, made.err]).toEqual([10, expect.stringContaining('w-0')]);
    rmSync(join(disk, 'filling'));
    const again = await attack(argv, { env });
    expect([again.code, readFileSync(join(disk, 'hook.secret'), 'utf8'), filling.posts.length]).toEqual([
      0,
      'whsec_secret0\n',
      1,
    ]);
    expect(filling.held.get('w-0')?.size).toBe(1500);
  },
);

test('a registration whose secret is returned once, killed at any of its writes, loses nothing that it has', async () => {
  const [found] = fileCases.filter(({ name }) => name === 'webhook register, its secret told once');
  if (found === undefined) throw new Error('the case is gone');
  const { kills, failures } = await killEverywhere(found, { most: 12 });
  expect(failures).toEqual([]);
  expect(kills).toBeGreaterThan(8);
});

test('a state from a clock that was ahead keeps no registration waiting', async () => {
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
