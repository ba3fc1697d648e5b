import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { openDb } from '../../../src/sandbox/db/store.ts';
import { run, stub, temporaryFolder } from '../../support/harness.ts';
import { size } from '../../support/size.ts';

const vitalik = '0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045';
const lowVitalik = '0xd8da6bf26964af9d7eed9e03e53415d37aa96045';
const mint = 'So11111111111111111111111111111111111111112';
const hook = 'http://127.0.0.1:9/hook';

function evm(index: number): string {
  return `0x${index.toString(16).padStart(40, '0')}`;
}

function world() {
  const folder = temporaryFolder();
  const env = { SOTRA_DATA_DIR: folder };
  const file = (text: string | Uint8Array, name = 'addresses.txt') => {
    const path = join(folder, name);
    writeFileSync(path, text);
    return path;
  };
  const held = () => {
    const db = openDb(join(folder, 'sandbox.db'));
    try {
      return db.all<{ uid: string; address: string }>(
        'SELECT w.uid, x.address FROM webhook_wallet x JOIN webhook w ON w.id = x.webhook_id ORDER BY w.id, x.address',
      );
    } finally {
      db.close();
    }
  };
  return { folder, env, file, held };
}

const register = (path: string, more = '') => `--sandbox webhook register --url ${hook} --file ${path} --json ${more}`;

test('a mixed list is normalized, repeats are dropped across case, and what was sent is told', async () => {
  const { env, file, held } = world();
  const path = file(
    [vitalik, mint, 'ext:User_1', lowVitalik, '', `  ${mint}  `, lowVitalik.toUpperCase().replace('0X', '0x')].join(
      '\r\n',
    ),
  );
  const { code, out } = await run(register(path), { env });
  expect(code).toBe(0);
  const result = JSON.parse(out);
  expect(result).toMatchObject({
    destinationUrl: hook,
    addresses: 3,
    chunks: 1,
    duplicates: 3,
    rejected: 0,
  });
  expect(Object.keys(result).sort()).toEqual([
    'addresses',
    'chunks',
    'destinationUrl',
    'duplicates',
    'rejected',
    'secretFile',
    'uid',
  ]);
  expect(
    held()
      .map(({ address }) => address)
      .sort(),
  ).toEqual([lowVitalik, mint, 'ext:User_1'].sort());
});

const bad: readonly [text: string, reason: string][] = [
  ['\\xd8da6bf26964af9d7eed9e03e53415d37aa96045', 'starts with \\x'],
  ['0xD8dA6BF26964aF9D7eEd9e03E53415D37aA96045', 'wrong EIP-55 checksum'],
  ['vitalik.eth', 'a name'],
];

test('every bad line is named with its number and the reason, and nothing is sent', async () => {
  const { env, file } = world();
  const service = await stub((_, response) => response.end('[]'));
  const path = file([lowVitalik, ...bad.map(([text]) => text)].join('\n'));
  const { code, err, out } = await run(`webhook register --url ${hook} --file ${path}`, {
    env: { ...env, ...service.env },
  });
  expect({ code, out, requests: service.requests.length }).toEqual({ code: 2, out: '', requests: 0 });
  for (const [index, [, reason]] of bad.entries()) {
    const line = err.split('\n').find((each) => each.startsWith(`warning: line ${index + 2}: `));
    expect(line).toContain(reason);
  }
  expect(err).toContain('3 lines are not addresses; nothing was sent');
  expect(err).toContain('--skip-invalid');
});

test('addresses come from stdin too', async () => {
  const { env, held } = world();
  expect((await run(register('-'), { env, stdin: `${evm(1)}\n${evm(2)}` })).code).toBe(0);
  expect(held()).toHaveLength(2);
});

test.each([
  [1000, 1],
  [1001, 2],
  [2500, 3],
])('%i addresses are %i chunks', async (count, chunks) => {
  const { env, file, held } = world();
  const path = file(Array.from({ length: count }, (_, index) => evm(index + 1)).join('\n'));
  const { out } = await run(register(path), { env });
  expect(JSON.parse(out)).toMatchObject({ addresses: count, chunks });
  expect(held()).toHaveLength(count);
});

test('the secret goes to --secret-file, mode 0600, before a second request is sent', async () => {
  const { env, file, folder } = world();
  const secretFile = join(folder, 'hook.secret');
  const before: boolean[] = [];
  const service = await stub(({ method }, response) => {
    if (method === 'PUT') before.push(readFileSync(secretFile, 'utf8') === 'the-secret\n');
    response.setHeader('content-type', 'application/json');
    response.end(method === 'GET' ? '[]' : JSON.stringify({ uid: 'u-1', destinationUrl: hook, secret: 'the-secret' }));
  });
  const path = file(Array.from({ length: 3000 }, (_, index) => evm(index)).join('\n'));
  const { code, out } = await run(`webhook register --url ${hook} --file ${path} --secret-file ${secretFile} --json`, {
    env: { ...env, ...service.env },
  });
  expect(code).toBe(0);
  expect(JSON.parse(out)).toMatchObject({ uid: 'u-1', secretFile });
  expect(JSON.parse(out)).not.toHaveProperty('secret');
  expect(before).toEqual([true, true]);
  expect(statSync(secretFile).mode & 0o777).toBe(0o600);
  expect(service.requests.filter(({ method }) => method === 'POST')).toHaveLength(1);
});

test('an upload that stops half-way is exit 10; the same command goes on with what is missing', async () => {
  const { env, file } = world();
  let refusing = true;
  const chunks: string[][] = [];
  const service = await stub(({ method, body }, response) => {
    response.setHeader('content-type', 'application/json');
    if (method === 'PUT' && refusing && chunks.length >= 2) {
      response.statusCode = 400;
      return void response.end('{"error":"not now"}');
    }
    if (method === 'PUT') chunks.push(JSON.parse(body).walletAddresses);
    const webhook = { uid: 'u-1', destinationUrl: hook, secret: 's' };
    response.end(JSON.stringify(method === 'GET' ? (chunks.length > 0 ? [webhook] : []) : webhook));
  });
  const all = { ...env, ...service.env };
  const list = Array.from({ length: 6000 }, (_, index) => evm(index));
  const argv = `webhook register --url ${hook} --file ${file(list.join('\n'))} --concurrency 1 --json`;
  const first = await run(argv, { env: all });
  expect(first).toMatchObject({ code: 10, out: '' });
  const { error } = JSON.parse(first.err);
  expect(error).toMatchObject({ code: 'partial', details: { uid: 'u-1', chunks: 6, confirmed: 3 } });
  expect(error.message).toContain('not now');
  expect(error.hint).toContain('The same command continues; sotra webhook list shows it.');
  refusing = false;
  const second = await run(argv, { env: all });
  expect(second.code).toBe(0);
  expect(JSON.parse(second.out)).toMatchObject({ addresses: 6000, chunks: 6 });
  expect(chunks.flat().sort()).toEqual(list.slice(1000).sort());
  expect(service.requests.filter(({ method }) => method === 'POST')).toHaveLength(1);
  expect(JSON.parse((await run(argv, { env: all })).out)).toMatchObject({ uid: 'u-1' });
});

test('add-addresses, sync and its check: only what is missing is sent, what cannot be removed is named', async () => {
  const { env, file, held } = world();
  const { uid } = JSON.parse((await run(register(file(`${evm(1)}\n${evm(2)}\n`)), { env })).out);
  const added = await run(`--sandbox webhook add-addresses ${uid} --wallet-addresses ${evm(3)},ext:u --json`, { env });
  expect(JSON.parse(added.out)).toMatchObject({ uid, destinationUrl: hook, addresses: 2, chunks: 1 });
  const wanted = file(`${evm(2)}\n${evm(3)}\n${evm(4)}\n${evm(5)}\n`, 'wanted.txt');
  const sync = `--sandbox webhook sync ${uid} --file ${wanted} --json`;
  const check = await run(`${sync} --check`, { env });
  expect(check.code).toBe(10);
  const found = JSON.parse(check.out);
  expect(found).toMatchObject({ missing: 2, sent: 0, notRemovable: 2 });
  const [, listed = ''] = /are listed in (.*)\n/.exec(check.err) ?? [];
  expect(readFileSync(listed, 'utf8').split('\n').sort()).toEqual(['', evm(1), 'ext:u']);
  expect(held()).toHaveLength(4);
  const done = await run(sync, { env });
  expect(done.code).toBe(0);
  expect(JSON.parse(done.out)).toMatchObject({
    missing: 2,
    sent: 2,
    notRemovable: 2,
  });
  expect(held()).toHaveLength(6);
  expect(JSON.parse((await run(sync, { env })).out)).toMatchObject({ missing: 0, sent: 0 });
  const whole = file([1, 2, 3, 4, 5].map(evm).join('\n').concat('\next:u'), 'whole.txt');
  expect((await run(`--sandbox webhook sync ${uid} --file ${whole} --check`, { env })).code).toBe(0);
});

test('an unknown webhook is exit 5', async () => {
  const { env } = world();
  const argv = `--sandbox webhook add-addresses 3f0c1f5e-6a53-4d0c-9e57-0d4b1c2f7a11 --wallet-addresses ${evm(1)}`;
  expect((await run(argv, { env })).code).toBe(5);
});

test('a destination off this machine is refused by the sandbox', async () => {
  const { env } = world();
  const { code, err } = await run(
    `--sandbox webhook register --url https://example.com/h --wallet-addresses ${evm(1)}`,
    { env },
  );
  expect(code).toBe(6);
  expect(err).toContain('this machine only');
});

test('real addresses by the thousand are a chunk each thousand, and all of them are held', async () => {
  const { env, file, held } = world();
  const thousands = size(4, 30);
  const rows = gunzipSync(readFileSync('test/data/addresses-evm/uniswap_airdrop_2020.csv.gz')).toString().split('\n');
  const path = file(gzipSync(rows.slice(0, thousands * 1000 + 1).join('\n')), 'addresses.csv.gz');
  const { code, out } = await run(register(path), { env });
  expect(code).toBe(0);
  expect(JSON.parse(out)).toMatchObject({
    addresses: thousands * 1000,
    chunks: thousands,
    duplicates: 0,
    rejected: 0,
  });
  expect(held()).toHaveLength(thousands * 1000);
});

test('a service that does not repeat the destination is warned of, and the upload goes on', async () => {
  const { env, file } = world();
  const service = await stub(({ method }, response) =>
    response.end(JSON.stringify(method === 'GET' ? [] : { uid: 'u-1', secret: 'a-secret-of-the-service' })),
  );
  const argv = register(file(vitalik)).replace('--sandbox ', '');
  const { code, out, err } = await run(argv, { env: { ...env, ...service.env } });
  expect([code, JSON.parse(out)]).toMatchObject([0, { uid: 'u-1', destinationUrl: hook, addresses: 1 }]);
  expect(err).toContain('unexpected shape at destinationUrl');
});
