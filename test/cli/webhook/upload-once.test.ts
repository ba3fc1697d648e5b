import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { sameDestination } from '../../../src/api/http-address.ts';
import { NetworkFailure } from '../../../src/client/failures.ts';
import { type Answer, add, fresh, hook, ids, made, place, register, uid } from '../../support/upload-place.ts';

// A registration makes one webhook, whatever the service makes of the address, the answer, the clock or the disk.

const down = () => {
  throw new NetworkFailure('broken', 'cut', undefined);
};

test.each([
  ['http://LOCALHOST:4242', 'http://localhost:4242/'],
  ['HTTPS://D.example.com:443/hook', 'https://d.example.com/hook'],
  ['https://d.example.com/a/../hook', 'https://d.example.com/hook'],
  ['https://d.example.com/%7ehook%c3%a9', 'https://d.example.com/~hook%C3%A9'],
  ['https://d.example.com/hooké', 'https://d.example.com/hook%C3%A9'],
  ['https://d.example.com/hook/', 'https://d.example.com/hook'],
  ['https://d.example.com/hook', 'https://d.example.com/hook/'],
  ['https://d.example.com/hook#top', 'https://d.example.com/hook'],
])('the webhook for %s is known by the address %s that the service made of it', async (typed, stored) => {
  const hooks: object[] = [];
  const { sotra, write, sent } = place(({ method }) => {
    if (method === 'GET') return [200, hooks];
    if (method === 'PUT') return [200, {}];
    hooks.push({ ...made, destinationUrl: stored });
    return down();
  });
  write('list', 'ext:a\n');
  write('more', 'ext:b\n');
  const first = await sotra(`webhook register --url ${typed} --file @list --json`);
  expect([first.code, JSON.parse(first.out)]).toEqual([0, expect.objectContaining({ uid, addresses: 1 })]);
  const second = await sotra(`webhook register --url ${typed} --file @more`);
  expect([second.code, second.err.includes(`webhook ${uid} sends to ${stored} already`)]).toEqual([6, true]);
  expect(sent.filter(({ method }) => method === 'POST')).toHaveLength(1);
});

test('a service that leaves out user and password means the same destination', () => {
  expect(sameDestination('https://user:word@d.example.com/h?a=1', 'https://d.example.com/h?a=1')).toBe(true);
});

test.each(['https://d.example.com/other', 'https://d.example.com/hook?a=1', 'http://d.example.com/hook'])(
  'a webhook for %s is none for https://d.example.com/hook',
  async (there) => {
    const { sotra, write } = place(({ method }) => [
      200,
      method === 'GET' ? [{ ...made, destinationUrl: there }] : made,
    ]);
    write('list', 'ext:a\n');
    expect((await sotra(`${register} @list`)).code).toBe(0);
  },
);

test('the same list for the same destination in other words is the same upload', async () => {
  const { sotra, write, sent } = place(({ method }, count) => [
    200,
    method === 'GET' && count === 1 ? [] : method === 'GET' ? [made] : made,
  ]);
  write('list', 'ext:a\n');
  await sotra('webhook register --url https://d.example.com --file @list');
  const again = await sotra('webhook register --url HTTPS://D.example.com:443/ --file @list');
  expect([again.code, again.err.includes('was finished at')]).toEqual([0, true]);
  expect(sent.filter(({ method }) => method === 'POST')).toHaveLength(1);
});

/** A place whose service loses the answers of POSTs, and lists what `list` says at the n-th GET. */
function losing(list: (looks: number) => object[], posted: Answer = down) {
  const there = place((request, count) =>
    request.method === 'POST' ? posted(request, count) : [200, request.method === 'GET' ? list(count) : { uid }],
  );
  there.write('list', ids(2500));
  const methods = () => there.sent.map(({ method }) => method).join(' ');
  const bodies = () =>
    there.sent.flatMap(({ method, body }) => (method === 'PUT' ? [JSON.parse(body ?? '').walletAddresses[0]] : []));
  return { ...there, methods, bodies };
}

test('a POST whose answer was lost is looked for in the list, and its first chunk is sent once more', async () => {
  const { sotra, methods, bodies } = losing((count) => (count < 3 ? [] : [made]));
  const { code, out } = await sotra(`${register} @list --concurrency 1 --json --show-secrets`);
  expect([code, JSON.parse(out)]).toMatchObject([0, { uid, addresses: 2500, chunks: 3, secret: 'whsec_abcdefghij' }]);
  expect([methods(), bodies()]).toEqual(['GET POST GET GET PUT PUT PUT', ['ext:0', 'ext:1000', 'ext:2000']]);
});

test('a lost POST that does not show within eleven looks was not made, and is sent again', async () => {
  const { sotra, methods } = losing(
    () => [],
    (_, count) => (count === 1 ? down() : [200, made]),
  );
  expect((await sotra(`${register} @list --concurrency 1`)).code).toBe(0);
  expect(methods()).toBe('GET POST GET GET GET GET GET GET GET GET GET GET GET POST PUT PUT');
});

test('a webhook that shows late, when the POST was repeated already, is taken and told from the second one', async () => {
  const { sotra, methods } = losing((count) => (count < 13 ? [] : [made]));
  const { code, out } = await sotra(`${register} @list --json`);
  expect([code, JSON.parse(out).uid, methods().match(/POST/g)?.length]).toEqual([0, uid, 2]);
});

test('a lost POST is not taken for the webhook that was there before it', async () => {
  const old = { uid: 'w-1', destinationUrl: hook, secret: 'whsec_of-the-old-one' };
  const { sotra } = losing((count) => (count === 1 ? [old] : [old, made]));
  const { code, out } = await sotra(`${register} @list --another --json --show-secrets`);
  expect([code, JSON.parse(out)]).toMatchObject([0, { uid, secret: 'whsec_abcdefghij' }]);
});

test('after a lost POST one that is refused does not say that there is no webhook: the next run looks again, and says so', async () => {
  const { sotra, service, sent } = losing(
    () => [],
    (_, count) => (count === 1 ? down() : [400, { error: 'no' }]),
  );
  expect((await sotra(`${register} @list`)).code).toBe(6);
  service.answer = ({ method }) => [200, method === 'GET' ? [made] : { uid }];
  const posts = sent.filter(({ method }) => method === 'POST').length;
  const { code, err } = await sotra(`${register} @list`);
  expect([
    code,
    err.includes('looking in the list for 10 s'),
    err.includes(`webhook ${uid} found in the list`),
  ]).toEqual([0, true, true]);
  expect(sent.filter(({ method }) => method === 'POST')).toHaveLength(posts);
});

const unclear: readonly [what: string, list: object[], code: number, message: RegExp, hint: string][] = [
  [
    'two webhooks',
    [made, { ...made, uid: 'other' }],
    6,
    /and other were both made/,
    'Delete the one that is not yours with sotra webhook delete, then run this again.',
  ],
  ...[undefined, '', 'whsec_ab***', 'whsec_ab…', '…abcdefgh'].map((secret): (typeof unclear)[number] => [
    `one with the secret ${secret}`,
    [{ ...made, secret }],
    10,
    /its secret was in an answer that got lost/,
    `The service does not show it again: sotra webhook delete ${uid} --yes, then run this again.`,
  ]),
];

test.each(unclear)(
  'a lost POST after which the list has %s is not guessed at',
  async (_, list, code, message, hint) => {
    const { sotra } = losing((count) => (count === 1 ? [] : list));
    const failed = await sotra(`${register} @list --json`);
    const { error } = JSON.parse(failed.err.split('\n').find((line) => line.startsWith('{')) ?? '');
    expect([failed.code, error]).toMatchObject([code, { message: expect.stringMatching(message), hint }]);
  },
);

test.each([[{}], [null]])(
  'a POST that answers %j may have made a webhook: the next run looks for it',
  async (answer) => {
    const { sotra, service, methods } = losing(
      () => [],
      () => [200, answer],
    );
    const { code, err } = await sotra(`${register} @list`);
    expect([code, err.includes('did not say its uid'), methods()]).toEqual([13, true, 'GET POST']);
    service.answer = ({ method }) => [200, method === 'GET' ? [made] : { uid }];
    expect((await sotra(`${register} @list`)).err).toContain(`webhook ${uid} found in the list`);
  },
);

test('a POST that surely did not arrive is sent again, five times at most', async () => {
  const refusing = () => {
    throw new NetworkFailure('refused', 'no', undefined);
  };
  const twice = losing(
    () => [],
    (_, count) => (count < 3 ? refusing() : [200, made]),
  );
  expect((await twice.sotra(`${register} @list --concurrency 1`)).code).toBe(0);
  const never = losing(() => [], refusing);
  expect((await never.sotra(`${register} @list`)).code).toBe(9);
  // Each of the five may be tried three times by the call itself.
  expect(never.methods().match(/POST/g)?.length).toBe(15);
});

test('who stops an upload is told how far it came; one that waits for a lost POST does not wait on', async () => {
  const stop = new AbortController();
  const { sotra, service, methods } = losing(() => []);
  service.answer = (request, count) => {
    if (request.method === 'PUT') stop.abort();
    return fresh(request, count);
  };
  const { code, err } = await sotra(`${register} @list --concurrency 1`, { signal: stop.signal });
  expect([code, err]).toEqual([130, expect.stringMatching(/interrupted with [12] of 3 chunks confirmed/)]);
  expect(err).toContain('The same command continues; sotra webhook list shows it.');
  const lost = losing(() => []);
  const other = new AbortController();
  lost.service.answer = ({ method }) => {
    if (method === 'GET') return [200, []];
    other.abort();
    return down();
  };
  expect((await lost.sotra(`${register} @list`, { signal: other.signal })).code).toBe(130);
  expect([methods(), lost.methods()]).toEqual(['GET POST PUT', 'GET POST']);
});

test('what another upload of this machine registered is not taken for the webhook of a POST that never arrived', async () => {
  let arrives = false;
  const hooks: object[] = [];
  const { sotra, write, sent } = place(({ method }) => {
    if (method === 'GET') return [200, hooks];
    if (method === 'PUT') return [200, {}];
    if (!arrives) return down();
    hooks.push({ ...made, uid: `w-${hooks.length}` });
    return [200, hooks.at(-1)];
  });
  write('one', 'ext:a\n');
  write('two', 'ext:b\n');
  expect((await sotra(`${register} @one --retries 0`)).code).toBe(9);
  arrives = true;
  expect(JSON.parse((await sotra(`${register} @two --json`)).out)).toMatchObject({ uid: 'w-0' });
  const refused = await sotra(`${register} @one`);
  expect([refused.code, refused.err.includes('webhook w-0 sends to')]).toEqual([6, true]);
  const another = await sotra(`${register} @one --another --json`);
  expect([another.code, JSON.parse(another.out).uid]).toEqual([0, 'w-1']);
  expect(sent.filter(({ method }) => method === 'PUT')).toEqual([]);
});

test('a second list for a destination that is just being registered is refused, exit 3, and makes no webhook', async () => {
  const hooks: object[] = [];
  let second: ReturnType<typeof sotra> | undefined;
  const { sotra, write, service, sent } = place();
  service.answer = async ({ method }) => {
    if (method === 'GET') return [200, hooks];
    second ??= sotra(`webhook register --url HTTPS://d.example.com:443/hook --file @two`);
    await second;
    hooks.push(made);
    return [200, made];
  };
  write('one', ids(1500));
  write('two', 'ext:b\n');
  expect((await sotra(`${register} @one`)).code).toBe(0);
  const { code, err } = await (second ?? Promise.reject(new Error('the second did not run')));
  expect([code, err]).toEqual([
    3,
    expect.stringContaining('error: destination HTTPS://d.example.com:443/hook is in use by another process'),
  ]);
  expect(sent.filter(({ method }) => method === 'POST')).toHaveLength(1);
});

test('the same list for the same webhook twice at once: the second is refused, exit 3, and its addresses are sent once', async () => {
  const { sotra, write, service, sent, jobs } = place();
  let second: ReturnType<typeof sotra> | undefined;
  service.answer = async () => {
    second ??= sotra(`${add} @list`);
    await second;
    return [200, { uid }];
  };
  write('list', ids(3));
  expect((await sotra(`${add} @list`)).code).toBe(0);
  const [job] = jobs();
  expect(await second).toMatchObject({
    code: 3,
    err: expect.stringContaining(`error: upload ${job} is in use by another process`),
  });
  expect(sent).toHaveLength(1);
});

/** A service that tells a secret once, at registration. */
const secretive = (onPost: () => void = () => undefined) => {
  const hooks: object[] = [];
  return place(({ method }) => {
    if (method === 'PUT') return [200, {}];
    if (method === 'GET') return [200, hooks.map((each) => ({ ...each, secret: undefined }))];
    hooks.push(made);
    onPost();
    return [200, made];
  });
};

test('a secret file that cannot be written any more falls back to the folder of the upload; the same command again puts it right', async () => {
  let secretFile = '';
  const { folder, sotra, write, jobs } = secretive(() => rmSync(dirname(secretFile), { recursive: true }));
  secretFile = join(folder, 'disk', 'hook.secret');
  write('list', ids(1500));
  mkdirSync(dirname(secretFile));
  const argv = `${register} @list --secret-file ${secretFile} --json`;
  const first = await sotra(argv);
  const { error } = JSON.parse(first.err.split('\n').filter((line) => line.startsWith('{'))[0] ?? '');
  const kept = join(folder, 'webhook', 'jobs', jobs()[0] ?? '', 'secret');
  expect([first.code, error.code, error.details.uid, error.details.secretFile]).toEqual([
    10,
    'partial',
    uid,
    kept.replace(`${folder}/`, '@'),
  ]);
  expect(error.hint).toContain(`The secret of webhook ${uid} is in ${kept.replace(`${folder}/`, '@')}`);
  expect(readFileSync(kept, 'utf8')).toBe('whsec_abcdefghij\n');
  mkdirSync(dirname(secretFile));
  expect((await sotra(argv)).code).toBe(0);
  expect(readFileSync(secretFile, 'utf8')).toBe('whsec_abcdefghij\n');
  expect(readdirSync(dirname(secretFile))).toEqual(['hook.secret']);
});

test('a secret file that cannot be written any more is warned of, with the place of the secret', async () => {
  const { folder, sotra, write, jobs } = secretive(() => rmSync(join(folder, 'disk'), { recursive: true }));
  write('list', ids(3));
  mkdirSync(join(folder, 'disk'));
  const { code, err } = await sotra(`${register} @list --secret-file @disk/s`);
  expect([code, err.split('\n').find((line) => line.startsWith('warning: '))]).toEqual([
    10,
    expect.stringMatching(/^warning: --secret-file @disk\/s: cannot be written: no such file or folder/),
  ]);
  expect(err).toContain(`; the secret of webhook ${uid} is in @webhook/jobs/${jobs()[0]}/secret for now\n`);
});

const killed: readonly [where: string, files: Record<string, string>][] = [
  ['the folder of the upload', { '@job/secret': 'whsec_abcdefghij\n' }],
  ['its file too', { '@job/secret': 'whsec_abcdefghij\n', 'hook.secret': 'whsec_abcdefghij\n' }],
];

test.each(killed)(
  'a registration that was killed before it noted its webhook finds it again, and its secret in %s',
  async (_, files) => {
    const { folder, sotra, write, jobs, sent } = secretive();
    write('list', ids(3));
    const argv = `${register} @list --secret-file @hook.secret --json`;
    expect((await sotra(argv)).code).toBe(0);
    const job = join(folder, 'webhook', 'jobs', jobs()[0] ?? '');
    const [plan, posting] = readFileSync(join(job, 'journal.ndjson'), 'utf8').split('\n');
    writeFileSync(join(job, 'journal.ndjson'), `${plan}\n${posting}\n`);
    for (const name of [join(folder, 'hook.secret'), join(job, 'secret')]) rmSync(name);
    for (const [name, text] of Object.entries(files))
      writeFileSync(name.startsWith('@job/') ? join(job, name.slice(5)) : join(folder, name), text);
    const { code, out } = await sotra(argv);
    expect([code, JSON.parse(out).uid]).toEqual([0, uid]);
    expect(readFileSync(join(folder, 'hook.secret'), 'utf8')).toBe('whsec_abcdefghij\n');
    expect(readdirSync(job).sort()).toEqual(['journal.ndjson', 'secret']);
    expect(sent.filter(({ method }) => method === 'POST')).toHaveLength(1);
  },
);

test('where a secret could not be kept nothing is sent', async () => {
  const { folder, sotra, write, jobs, sent, service } = place();
  write('list', ids(3));
  const argv = `${register} @list --secret-file @hook.secret`;
  service.answer = down;
  expect((await sotra(`${argv} --retries 0`)).code).toBe(9);
  const before = sent.length;
  mkdirSync(join(folder, 'webhook', 'jobs', jobs()[0] ?? '', 'secret'));
  const { code, err } = await sotra(argv);
  expect([code, err, sent.length]).toEqual([
    3,
    expect.stringContaining('/secret is a folder, not a regular file'),
    before,
  ]);
  expect(readdirSync(folder).filter((name) => name.startsWith('hook.secret'))).toEqual([]);
});

test('a webhook that got more addresses before its registration was settled is found all the same', async () => {
  const hooks: object[] = [];
  const { sotra, write, sent, service } = place(({ method }) => {
    if (method === 'GET') return hooks.length === 0 ? [200, []] : [403, { error: 'no' }];
    hooks.push(made);
    return down();
  });
  write('one', 'ext:a\n');
  write('two', 'ext:b\n');
  expect((await sotra(`${register} @one`)).code).toBe(4);
  service.answer = ({ method }) => [200, method === 'GET' ? hooks : { uid }];
  expect((await sotra(`${add} @two`)).code).toBe(0);
  const { code, out } = await sotra(`${register} @one --json`);
  expect([code, JSON.parse(out).uid]).toEqual([0, uid]);
  expect(sent.filter(({ method }) => method === 'POST')).toHaveLength(1);
});

test('a secret that can be kept nowhere ends the upload, which says what was made and how to go on', async () => {
  let jobsFolder = '';
  const { folder, sotra, write } = secretive(() => rmSync(jobsFolder, { recursive: true }));
  jobsFolder = join(folder, 'webhook', 'jobs');
  write('list', ids(3));
  const { code, out, err } = await sotra(`${register} @list --json`);
  const { error } = JSON.parse(err.split('\n').find((line) => line.startsWith('{')) ?? '');
  expect([code, out, error.code, error.details.uid]).toEqual([10, '', 'partial', uid]);
  expect(error.message).toContain(`webhook ${uid} was made, then: `);
  expect(error.hint).toContain('The same command continues');
});

test.each([
  ['0', 1],
  ['1', 2],
  ['3', 4],
])('--retries %s sends no chunk and no registration more than %i times', async (retries, most) => {
  for (const status of [429, 500, 503]) {
    const adding = place(() => [status, { error: 'busy' }]);
    adding.write('list', ids(3));
    expect((await adding.sotra(`${add} @list --retries ${retries}`)).code).not.toBe(0);
    expect(adding.sent).toHaveLength(most);
    const { sotra, methods } = losing(
      () => [],
      () => [status, { error: 'busy' }],
    );
    expect((await sotra(`${register} @list --retries ${retries}`)).code).not.toBe(0);
    expect(methods().match(/POST/g)).toHaveLength(most);
  }
});

test.each([
  [0, 1],
  [1, 2],
  [3, 4],
])(
  '--retries %i counts together what a call repeats by itself and what the upload repeats: %i requests',
  async (retries, requests) => {
    // A call repeats itself after 503, not after 500.
    const { sotra, write, sent } = place((_, count) => [count === 1 ? 500 : 503, { error: 'busy' }]);
    write('list', ids(3));
    expect((await sotra(`${add} @list --retries ${retries}`)).code).not.toBe(0);
    expect(sent).toHaveLength(requests);
  },
);

test.each([null, '***'])(
  'a registration whose answer has %j as its secret has none to give or to keep',
  async (secret) => {
    const { sotra, write, folder, jobs } = place((request, count) =>
      request.method === 'POST' ? [200, { ...made, secret }] : fresh(request, count),
    );
    write('list', ids(3));
    const { code, out, err } = await sotra(`${register} @list --json`);
    expect([code, JSON.parse(out).uid, 'secret' in JSON.parse(out), err]).toEqual([0, uid, false, '']);
    expect(readdirSync(join(folder, 'webhook', 'jobs', jobs()[0] ?? ''))).not.toContain('secret');
  },
);

test('an upload that gives up counts every attempt of its last chunk', async () => {
  const { sotra, write, sent } = place((request, count) =>
    request.method === 'PUT' ? [503, { error: 'busy' }] : fresh(request, count),
  );
  write('list', 'ext:a\n');
  const { err } = await sotra(`${add} @list --retries 7`);
  expect(sent.filter(({ method }) => method === 'PUT')).toHaveLength(8);
  expect(err.match(/\(after .*\)/g)).toEqual(['(after 8 attempts)']);
});
