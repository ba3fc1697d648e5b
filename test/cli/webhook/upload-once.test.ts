import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { sameDestination } from '../../../src/api/http-address.ts';
import { NetworkFailure } from '../../../src/client/failures.ts';
import { failure } from '../../support/harness.ts';
import {
  type Answer,
  add,
  fresh,
  hook,
  ids,
  kept,
  lost,
  made,
  place,
  register,
  uid,
} from '../../support/upload-place.ts';

// A registration makes one webhook and keeps its secret, whatever the service makes of the address, the answer, or the disk.

test.each([
  ['http://LOCALHOST:4242', 'http://localhost:4242/'],
  ['HTTPS://D.example.com:443/hook', 'https://d.example.com/hook'],
  ['https://d.example.com/a/../hook', 'https://d.example.com/hook'],
  ['https://d.example.com/%7ehook%c3%a9', 'https://d.example.com/~hook%C3%A9'],
  ['https://d.example.com/hooké', 'https://d.example.com/hook%C3%A9'],
  ['https://d.example.com/hook/', 'https://d.example.com/hook'],
  ['https://d.example.com/hook#top', 'https://d.example.com/hook'],
  ['https://d.example.com?a=1', 'https://d.example.com/?a=1'],
  ['https://b\u00fccher.example/\u00e9?q=\u00e9', 'https://xn--bcher-kva.example/%C3%A9?q=%C3%A9'],
])('the webhook for %s is known by the address %s that the service made of it', async (typed, stored) => {
  const hooks: object[] = [];
  const { sotra, json, write, posts } = place(({ method }) => {
    if (method === 'GET') return [200, hooks];
    if (method === 'PUT') return [200, {}];
    hooks.push({ ...made, destinationUrl: stored });
    return lost();
  });
  write('list', 'ext:a\n');
  write('more', 'ext:b\n');
  expect(await json(`webhook register --url ${typed} --file @list`)).toMatchObject({ uid, addresses: 1 });
  const second = await sotra(`webhook register --url ${typed} --file @more`);
  expect(second).toEqual(failure(6, `webhook ${uid} already sends to ${stored}`));
  expect(posts()).toBe(1);
});

test('a service that leaves out user and password means the same destination', () => {
  expect(sameDestination('https://user:word@d.example.com/h?a=1', 'https://d.example.com/h?a=1')).toBe(true);
});

test.each(['https://d.example.com/other', 'https://d.example.com/hook?a=1', 'http://d.example.com/hook'])(
  'a webhook for %s is none for https://d.example.com/hook',
  async (there) => {
    const { sotra, write, hooks } = kept();
    hooks.push({ ...made, destinationUrl: there });
    write('list', 'ext:a\n');
    expect((await sotra(`${register} @list`)).code).toBe(0);
  },
);

test('the same registration again sends nothing; a URL in other words is the same; another list is refused, and sync named', async () => {
  const { sotra, json, write, methods } = kept();
  write('list', ids(3));
  const register = 'webhook register --url https://d.example.com --file @list';
  await sotra(register);
  const again = await sotra(register.replace('https://d.example.com', 'HTTPS://D.example.com:443/'));
  expect(again.err).toBe('Nothing was sent: webhook w-0 has all 3 addresses.\n');
  write('list', ids(4));
  const other = 'error: webhook w-0 already sends to https://d.example.com\nhint: sotra webhook sync sends';
  expect(await sotra(register)).toEqual(failure(6, other));
  expect(methods()).toBe('GET POST GET GET');
  expect(await json(`${register} --another`)).toMatchObject({ uid: 'w-1' });
});

test('a webhook of an earlier registration that is gone is made anew, with a warning', async () => {
  const { sotra, write, hooks } = kept();
  write('list', ids(3));
  await sotra(`${register} @list`);
  hooks.splice(0, 1, { uid: 'other', destinationUrl: 'https://e.example.com/hook', secret: 'x' });
  const { out, err } = await sotra(`${register} @list --json --show-secrets`);
  expect(JSON.parse(out)).toMatchObject({ uid: 'w-1', secret: 'whsec_1' });
  expect(err).toContain('warning: webhook w-0 of an earlier run is gone: registering a new one\n');
});

test('a registration that was refused leaves nothing; one that did not arrive is continued by the same command', async () => {
  const { sotra, write, fault, uploads, folder, holds } = kept();
  write('list', ids(3));
  fault.answer = ({ method }) => (method === 'POST' ? [400, { error: 'no' }] : undefined);
  expect((await sotra(`${register} @list --secret-file @s`)).code).toBe(6);
  expect([uploads(), existsSync(join(folder, 's'))]).toEqual([[], false]);
  fault.answer = ({ method }) => (method === 'POST' ? [500, { error: 'broken' }] : undefined);
  expect((await sotra(`${register} @list --retries 0`)).code).toBe(8);
  fault.answer = () => undefined;
  expect((await sotra('webhook list')).err).toContain(`continue with: sotra ${register} @list`);
  expect((await sotra(`${register} @list`)).code).toBe(0);
  expect(holds('w-0')).toEqual(['ext:0', 'ext:1', 'ext:2']);
});

/** A place whose service loses the answers of POSTs, and lists what `list` says at the n-th GET. */
const none = () => [];

function losing(list: (looks: number) => object[], posted: Answer = lost) {
  const there = place((request, count) =>
    request.method === 'POST' ? posted(request, count) : [200, request.method === 'GET' ? list(count) : { uid }],
  );
  there.write('list', ids(2500));
  return there;
}

test('a POST whose answer was lost is looked for in the list, and its first chunk is sent once more', async () => {
  const { json, methods, sent } = losing((count) => (count < 3 ? [] : [made]));
  const result = await json(`${register} @list --concurrency 1 --show-secrets`);
  expect(result).toMatchObject({ uid, addresses: 2500, chunks: 3, secret: 'whsec_abcdefghij' });
  expect(methods()).toBe('GET POST GET GET PUT PUT PUT');
  const firsts = sent.slice(4).map(({ body }) => JSON.parse(body ?? '').walletAddresses[0]);
  expect(firsts).toEqual(['ext:0', 'ext:1000', 'ext:2000']);
});

test('with --retries 0 a POST whose answer was lost is looked for, and not sent again', async () => {
  const { json, posts } = losing((count) => (count === 1 ? [] : [made]));
  expect(await json(`${register} @list --retries 0`)).toMatchObject({ uid });
  expect(posts()).toBe(1);
});

test('a lost POST that does not show within eleven looks was not made, and is sent again', async () => {
  const { sotra, methods } = losing(none, (_, count) => (count === 1 ? lost() : [200, made]));
  expect((await sotra(`${register} @list --concurrency 1`)).code).toBe(0);
  expect(methods()).toBe('GET POST GET GET GET GET GET GET GET GET GET GET GET POST PUT PUT');
});

test('a webhook that shows late, when the POST was repeated already, is used', async () => {
  const { json, posts } = losing((count) => (count < 13 ? [] : [made]));
  expect(await json(`${register} @list`)).toMatchObject({ uid });
  expect(posts()).toBe(2);
});

test('an existing webhook is not mistaken for the result of a lost POST', async () => {
  const old = { uid: 'w-1', destinationUrl: hook, secret: 'whsec_of-the-old-one' };
  const { json } = losing((count) => (count === 1 ? [old] : [old, made]));
  const result = await json(`${register} @list --another --show-secrets`);
  expect(result).toMatchObject({ uid, secret: 'whsec_abcdefghij' });
});

test('after a lost POST one that is refused does not say that there is no webhook: the next run looks again', async () => {
  const { sotra, service, posts } = losing(none, (_, count) => (count === 1 ? lost() : [400, { error: 'no' }]));
  expect((await sotra(`${register} @list`)).code).toBe(6);
  service.answer = ({ method }) => [200, method === 'GET' ? [made] : { uid }];
  const { err } = await sotra(`${register} @list`);
  expect(err).toBe('checking the list for 10 s for the webhook: an earlier run ended before the answer\n');
  expect(posts()).toBe(2);
});

const isGone = `its secret was in an answer that was lost\nhint: The service does not show it again: sotra webhook delete`;

test.each([
  ['two webhooks', [made, { ...made, uid: 'other' }], 6, 'and other were both registered'],
  ['one without its secret', [{ ...made, secret: undefined }], 10, isGone],
  ['one with a masked secret', [{ ...made, secret: 'whsec_ab***' }], 10, isGone],
  ['one with the end of a secret', [{ ...made, secret: '…abcdefgh' }], 10, isGone],
  ['one with the start of a secret', [{ ...made, secret: 'whsec_ab...' }], 10, isGone],
  ['one with a word for a secret', [{ ...made, secret: '[hidden]' }], 10, isGone],
])('a lost POST after which the list has %s is not guessed at', async (_, list, code, message) => {
  const { sotra } = losing((count) => (count === 1 ? [] : list));
  expect(await sotra(`${register} @list`)).toEqual(failure(code, message));
});

test.each([[{}], [null], [{ ...made, uid: '' }]])(
  'a POST that answers %j may have made a webhook: the next run looks for it',
  async (answer) => {
    const { sotra, service, methods } = losing(none, () => [200, answer]);
    expect(await sotra(`${register} @list`)).toEqual(failure(13, 'did not return its uid'));
    service.answer = ({ method }) => [200, method === 'GET' ? [made] : { uid }];
    expect((await sotra(`${register} @list --json`)).out).toContain(uid);
    expect(methods()).not.toMatch(/POST.*POST/);
  },
);

test('a POST that surely did not arrive is sent again, five times at most', async () => {
  const refusing = () => {
    throw new NetworkFailure('refused', 'no', undefined);
  };
  const twice = losing(none, (_, count) => (count < 3 ? refusing() : [200, made]));
  expect((await twice.sotra(`${register} @list --concurrency 1`)).code).toBe(0);
  const never = losing(none, refusing);
  expect((await never.sotra(`${register} @list`)).code).toBe(9);
  expect(never.posts()).toBe(5);
});

test('an upload that is stopped says how far it came; one that waits for a lost POST does not wait on', async () => {
  const stop = new AbortController();
  const { sotra, service } = losing(none);
  service.answer = (request, count) => {
    if (request.method === 'PUT') stop.abort();
    return fresh(request, count);
  };
  const stopped = await sotra(`${register} @list --concurrency 1`, { signal: stop.signal });
  expect(stopped).toEqual(failure(130, 'The same command continues; sotra webhook list shows it.'));
  expect(stopped.err).toMatch(/interrupted with [12],000 of 2,500 addresses confirmed/);
  const waiting = losing(none);
  const other = new AbortController();
  waiting.service.answer = ({ method }) => {
    if (method === 'GET') return [200, []];
    other.abort();
    return lost();
  };
  expect((await waiting.sotra(`${register} @list`, { signal: other.signal })).code).toBe(130);
  expect(waiting.methods()).toBe('GET POST');
});

test.each([
  ['registers', 'webhook register --url HTTPS://d.example.com:443/hook --file @list'],
  ['syncs', `webhook sync --url ${hook} --file @list`],
])('while a destination is being registered, a second process that %s is refused with exit 3', async (_, line) => {
  const { sotra, write, fault, hooks, answer } = kept();
  let second: ReturnType<typeof sotra> | undefined;
  fault.answer = async ({ method, url, body }) => {
    if (method === 'POST') second ??= sotra(line);
    await second;
    return answer(method, url.pathname, body);
  };
  write('list', ids(3));
  expect((await sotra(`${register} @list`)).code).toBe(0);
  expect((await second)?.err.toLowerCase()).toMatch(/^error: destination https:\S+ is in use by another process/);
  expect((await second)?.code).toBe(3);
  expect(hooks).toHaveLength(1);
});

test('while a webhook gets addresses, a second process that adds some is refused, and those of another webhook are not', async () => {
  const { sotra, write, service, sent } = place();
  const others: Awaited<ReturnType<typeof sotra>>[] = [];
  service.answer = async () => {
    if (sent.length === 1)
      for (const line of [`${add} @more`, 'webhook add-addresses w-2 --file @more']) others.push(await sotra(line));
    return [200, { uid }];
  };
  write('list', ids(3));
  write('more', ids(4));
  expect((await sotra(`${add} @list`)).code).toBe(0);
  expect(others).toMatchObject([
    { code: 3, err: expect.stringContaining(`error: webhook ${uid} is in use by another process`) },
    { code: 0 },
  ]);
});

test('the secret is kept with mode 0600, in the file that was asked for before a second request, and printed only with --show-secrets', async () => {
  const { sotra, json, write, read, fault, folder } = kept();
  write('list', ids(1500));
  const first = await sotra(`${register} @list --json`);
  const { secretFile } = JSON.parse(first.out);
  expect([readFileSync(secretFile, 'utf8'), statSync(secretFile).mode & 0o777]).toEqual(['whsec_0\n', 0o600]);
  expect(first.out + first.err).not.toContain('whsec_');
  expect(await json(`${register} @list --show-secrets`)).toMatchObject({ secretFile, secret: 'whsec_0' });
  expect((await sotra(`${register} @list --show-secrets`)).err).toContain('The secret is whsec_0\n');
  const later = await json(`${register} @list --secret-file @later`);
  expect([later.secretFile, read('later')]).toEqual([join(folder, 'later'), 'whsec_0\n']);
  const atPut: string[] = [];
  fault.answer = ({ method }) => {
    if (method === 'PUT') atPut.push(read('other'));
    return undefined;
  };
  await sotra(`webhook register --url ${hook}/2 --file @list --secret-file @other`);
  expect([atPut, statSync(join(folder, 'other')).mode & 0o777]).toEqual([['whsec_1\n'], 0o600]);
});

test('a secret file that cannot be written any more ends the upload; the same command continues', async () => {
  const { folder, sotra, write, read, holds, fault, posts } = kept({ toldOnce: true });
  fault.answer = ({ method }) => {
    if (method === 'POST') rmSync(join(folder, 'disk'), { recursive: true });
    return undefined;
  };
  write('list', ids(1500));
  mkdirSync(join(folder, 'disk'));
  const argv = `${register} @list --secret-file @disk/s --json`;
  const { code, err } = await sotra(argv);
  const message = expect.stringContaining('cannot use @disk/s: no such file');
  expect([code, JSON.parse(err).error]).toMatchObject([10, { message, details: { uid: 'w-0', confirmed: 0 } }]);
  mkdirSync(join(folder, 'disk'));
  expect((await sotra(argv)).code).toBe(0);
  expect([read('disk/s'), holds('w-0').length, posts()]).toEqual(['whsec_0\n', 1500, 1]);
});

test('a webhook whose secret can be kept nowhere is used by the next run', async () => {
  const { folder, sotra, write, hooks, fault } = kept();
  const uploads = join(folder, 'webhook', 'uploads');
  fault.answer = ({ method }) => {
    if (method === 'POST') {
      renameSync(uploads, join(folder, 'aside'));
      writeFileSync(uploads, '');
    }
    return undefined;
  };
  write('list', ids(3));
  expect(await sotra(`${register} @list --json`)).toMatchObject({ code: 3, out: '' });
  rmSync(uploads);
  renameSync(join(folder, 'aside'), uploads);
  expect([(await sotra(`${register} @list`)).code, hooks.length]).toEqual([0, 1]);
});

test('a run that was killed before its webhook was noted finds it again in the list, with the secret that it kept', async () => {
  const { folder, json, write, read, uploads, posts } = kept({ toldOnce: true });
  write('list', ids(3));
  const argv = `${register} @list --secret-file @hook.secret`;
  await json(argv);
  const state = join(uploads()[0] ?? '', 'state.json');
  const killed = { ...JSON.parse(readFileSync(state, 'utf8')), uid: null, posting: { before: [] }, line: 'x' };
  writeFileSync(state, JSON.stringify(killed));
  rmSync(join(folder, 'hook.secret'));
  expect(await json(argv)).toMatchObject({ uid: 'w-0' });
  expect([read('hook.secret'), posts()]).toEqual(['whsec_0\n', 1]);
});

test.each([null, '***'])(
  'a registration whose answer has %j as its secret has none to give or to keep',
  async (secret) => {
    const { sotra, write, uploads } = place((request, count) =>
      request.method === 'POST' ? [200, { ...made, secret }] : fresh(request, count),
    );
    write('list', ids(3));
    const { code, out, err } = await sotra(`${register} @list --json`);
    expect([code, JSON.parse(out).uid, 'secretFile' in JSON.parse(out), err]).toEqual([0, uid, false, '']);
    expect(readdirSync(uploads()[0] ?? '').sort()).toEqual(['confirmed.txt', 'state.json']);
  },
);

test.each([0, 3])('with --retries %i no chunk and no registration is sent more often', async (retries) => {
  for (const status of [429, 500, 503]) {
    const adding = place(() => [status, { error: 'busy' }]);
    adding.write('list', ids(3));
    expect((await adding.sotra(`${add} @list --retries ${retries}`)).code).not.toBe(0);
    expect(adding.sent).toHaveLength(retries + 1);
    const { sotra, posts } = losing(none, () => [status, { error: 'busy' }]);
    expect((await sotra(`${register} @list --retries ${retries}`)).code).not.toBe(0);
    expect(posts()).toBe(retries + 1);
  }
});
