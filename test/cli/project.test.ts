import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { run, stub, temporaryFolder } from '../support/harness.ts';

const wallet = '0x143cf5cccbc8447504a99413dec7ea93ec228432';
const other = '0xb7b6f3cea3f66bf525f5d8f965f6dbf6d9b017b2';
const followed = '0xb129d76820940a14c764df8b223d8e39cf94a122';
const least = 'webhooks: [{ destination: http://127.0.0.1:4242/hook, addresses: wallets.txt }]\n';

/** A project in a folder, and what runs a command line in its sandbox. */
function project(yaml: string) {
  const folder = temporaryFolder();
  const env = { SOTRA_CONFIG_DIR: join(folder, 'c'), SOTRA_DATA_DIR: join(folder, 'd'), HOOK_HOST: '127.0.0.1:4242' };
  const put = (name: string, text: string) => writeFileSync(join(folder, name), text);
  put('wallets.txt', `${wallet}\n${other}\n`);
  put('sotra.yaml', yaml);
  const sotra = (argv: string, options = {}) =>
    run(`${argv} --file ${folder}/sotra.yaml --sandbox`, { env, ...options });
  const changesOf = async () => {
    const { changes, byHand, inSync } = JSON.parse((await sotra('plan --yes --json')).out);
    const shown = (one: { action: string; count: number }) => `${one.action} ${one.count}`;
    return { changes: changes.map(shown), byHand: byHand.map(shown), inSync };
  };
  return { folder, env, put, sotra, changesOf };
}

test('the least file: plan shows its webhook, apply makes it, and then nothing differs', async () => {
  const { sotra, changesOf, put } = project(least);
  expect(await sotra('plan --check --yes')).toMatchObject({
    code: 10,
    out: 'register\thttp://127.0.0.1:4242/hook\t2\tapply\twallets.txt\n',
  });
  const { applied } = JSON.parse((await sotra('apply --yes --json')).out);
  expect(applied).toMatchObject([{ action: 'register', count: 2, uid: expect.stringMatching(/^[0-9a-f-]{36}$/) }]);
  expect(await sotra('plan --check')).toMatchObject({ code: 0, out: '' });
  expect(await sotra('apply')).toMatchObject({ code: 0, err: 'Nothing to do: the service has what the file says.\n' });
  put('wallets.txt', `${wallet}\n${followed}\n`);
  expect(await changesOf()).toEqual({ changes: ['add 1'], byHand: ['remove 1'], inSync: false });
  expect(await sotra('apply --yes')).toMatchObject({ code: 0 });
  expect(await changesOf()).toEqual({ changes: [], byHand: ['remove 1'], inSync: false });
});

test('apply shows every change, then asks', async () => {
  const { sotra } = project(`${least}follows: [{ follower: ext:1, targets: [ext:2] }]\n`);
  await sotra('plan --yes');
  const { err, code } = await sotra('apply', { answers: ['n'] });
  expect(code).toBe(2);
  expect(err).toContain(
    '  register http://127.0.0.1:4242/hook (2)\n  follow ext:1 (1)\nMake 2 changes at http://sandbox.localhost? [y/N] ',
  );
});

test('follows are added and removed until they are those of the file, and an undo file is named', async () => {
  const { sotra, changesOf, env } = project(`follows:\n- follower: ext:user_1\n  targets: [${followed}, ext:user_2]\n`);
  await run('--sandbox follow add ext:user_1 ext:user_3 ext:user_2', { env });
  expect(await changesOf()).toEqual({ changes: ['follow 1', 'unfollow 1'], byHand: [], inSync: false });
  const { err, code } = await sotra('apply --yes');
  expect(code).toBe(0);
  const undo = /undone by: sotra follow bulk --file (\S+)/.exec(err)?.[1] ?? '';
  expect(readFileSync(undo, 'utf8').trim().split('\n')).toHaveLength(2);
  expect(await changesOf()).toEqual({ changes: [], byHand: [], inSync: true });
});

test('a file is trusted after a yes and not before; a changed one asks again, and nothing is sent until then', async () => {
  const { sotra, put, env } = project(least);
  expect(await sotra('plan')).toMatchObject({ code: 2, err: expect.stringContaining('stdin is not a terminal') });
  expect(await sotra('plan', { answers: ['n'] })).toMatchObject({ code: 2 });
  const asked = await sotra('plan', { answers: ['y'] });
  expect(asked.code).toBe(0);
  expect(asked.err).toContain('a webhook to http://127.0.0.1:4242/hook for wallets.txt');
  expect(await sotra('plan')).toMatchObject({ code: 0 });
  put('sotra.yaml', `${least}# a line more\n`);
  const changed = await sotra('apply --yes --no-input --dry-run');
  expect(changed).toMatchObject({ code: 0, out: expect.stringContaining('GET http://sandbox.localhost/v1/webhooks') });
  expect(await sotra('plan')).toMatchObject({ code: 2, err: expect.stringContaining('was changed since') });
  const { out } = await run('--sandbox webhook list', { env });
  expect(out).toBe('');
});

test.each([
  ['webhooks: x\n', '1:11: webhooks x: must be a list'],
  ['webhook: []\n', '1:1: webhook: no such field'],
  ['webhooks: [{ destination: http://127.0.0.1/, adresses: a.txt }]\n', '1:46: webhooks[0].adresses: no such field'],
  ['webhooks:\n- addresses: a\n', '2:3: webhooks[0].destination: is required'],
  ['webhooks:\n- destination: ftp://x\n  addresses: a\n', '2:16: webhooks[0].destination ftp://x: must be an http'],
  [`${least}  destination: http://x\n`, '2:1: All mapping items'],
  [`webhooks:\n- destination: http://\${NO_HOST}/\n  addresses: a\n`, `2:16: \${NO_HOST}: this variable is not set`],
  [`webhooks:\n- destination: http://\${SOTRA_API_KEY}/\n  addresses: a\n`, `2:16: \${SOTRA_API_KEY}: `],
  ['follows:\n- follower: ext:1\n  targets: [nope]\n', '3:13: follows[0].targets[0] nope: must be a profile UUID'],
  ['follows:\n- { follower: ext:1, targets: [] }\n- { follower: ext:1, targets: [] }\n', 'is there twice'],
  ['context: a\ncontext: b\n', '2:1: Map keys must be unique'],
  ['--- a\n--- b\n', '2:1: a second document begins here'],
])('a wrong file is refused by line, column and field: %j', async (yaml, told) => {
  const { sotra } = project(yaml);
  const { code, err } = await sotra('plan --yes');
  expect([code, err]).toEqual([3, expect.stringContaining(told)]);
});

test('a secret in the file is refused and not repeated', async () => {
  const { sotra } = project('webhooks:\n- destination: http://x/\n  addresses: a\n  secret: hunter2\n');
  const { code, err } = await sotra('plan --yes');
  expect(code).toBe(3);
  expect(err).toContain('A secret does not belong here: name its file');
  expect(err).not.toContain('hunter2');
});

test('several lists, typed addresses and a variable are one webhook; a wrong line is named with its list', async () => {
  const { put, sotra, changesOf } = project(
    `webhooks:\n- destination: http://\${HOOK_HOST}/hook\n  addresses: [wallets.txt, more.csv, ext:42]\n  secretFile: hook.secret\n`,
  );
  put('more.csv', `address,name\n${wallet},a\n${followed},b\n`);
  expect(await changesOf()).toEqual({ changes: ['register 4'], byHand: [], inSync: false });
  await sotra('apply --yes');
  expect(await changesOf()).toEqual({ changes: [], byHand: [], inSync: true });
  put('more.csv', `address\nnope\n`);
  expect(await sotra('plan')).toMatchObject({
    code: 2,
    err: expect.stringContaining('more.csv: 1 line is not an address'),
  });
});

test('the context of a trusted project is in use in its folders, under flags and variables', async () => {
  const { folder, env } = project('context: sandbox\n');
  const before = process.cwd();
  mkdirSync(join(folder, 'sub'));
  try {
    process.chdir(join(folder, 'sub'));
    expect(await run('plan --check', { env })).toMatchObject({ code: 2 });
    expect(await run('profile get ext:user_1', { env })).toMatchObject({ code: 2 });
    expect(await run('plan --check --yes', { env })).toMatchObject({ code: 0 });
    expect(await run('profile get ext:user_1', { env })).toMatchObject({ code: 0 });
    expect(await run('context show --json --context clicker', { env })).toMatchObject({ code: 0 });
    writeFileSync(join(folder, 'sotra.yaml'), 'context: clicker\n');
    expect(await run('profile get ext:user_1', { env })).toMatchObject({ code: 3 });
    expect(await run('--sandbox profile get ext:user_1', { env })).toMatchObject({ code: 0 });
  } finally {
    process.chdir(before);
  }
});

test('what fails after a change was made ends with 10, and the same command makes the rest', async () => {
  const made: string[] = [];
  let fails = true;
  const service = await stub(({ method, url, body }, response) => {
    response.setHeader('content-type', 'application/json');
    if (method === 'GET') {
      const webhooks = made.map((destinationUrl, index) => ({ uid: `uid-${index}`, destinationUrl }));
      return void response.end(JSON.stringify(url.includes('follows') ? { items: [], cursor: null } : webhooks));
    }
    if (url.includes('bulk')) {
      response.statusCode = fails ? 400 : 200;
      return void response.end(fails ? '{"error":"not now"}' : '{"targetProfiles":[]}');
    }
    const { destinationUrl } = JSON.parse(body);
    made.push(destinationUrl);
    return void response.end(JSON.stringify({ uid: 'uid-0', destinationUrl, secret: 'whsec_abcdefghij' }));
  });
  const { folder, env } = project(`${least}follows: [{ follower: ext:1, targets: [ext:2] }]\n`);
  const line = `apply --yes --json --file ${folder}/sotra.yaml`;
  const partly = await run(line, { env: { ...env, ...service.env } });
  expect(partly.code).toBe(10);
  expect(JSON.parse(partly.err).error).toMatchObject({
    code: 'partial',
    details: { applied: [{ action: 'register' }] },
  });
  fails = false;
  const { out, code } = await run(line, { env: { ...env, ...service.env } });
  expect(code).toBe(0);
  expect(JSON.parse(out).applied).toMatchObject([{ action: 'follow', what: 'ext:1', count: 1 }]);
  expect(service.requests.filter(({ method }) => method === 'POST').map(({ url }) => url)).toEqual([
    '/v1/webhooks/feed',
    '/v1/addresses/follow/bulk',
    '/v1/addresses/follow/bulk',
  ]);
});
