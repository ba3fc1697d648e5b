import { createHmac } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { openDb } from '../../../src/sandbox/db/store.ts';
import { fc } from '../../support/draw.ts';
import { failure, newUser, run, runJson, temporaryFolder } from '../../support/harness.ts';
import { size } from '../../support/size.ts';
import { add, fresh, hook, ids, kept, place, register, uid } from '../../support/upload-place.ts';

const vitalik = '0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045';
const lowVitalik = '0xd8da6bf26964af9d7eed9e03e53415d37aa96045';
const mint = 'So11111111111111111111111111111111111111112';

test('a mixed list is normalized, repeats are dropped across case, and the result is counted', async () => {
  const { json, write, holds } = kept();
  const upper = `0x${lowVitalik.slice(2).toUpperCase()}`;
  const lines = [vitalik, mint, 'ext:U', 'ext:u', lowVitalik, '', `  ${mint}  `, upper];
  write('list', lines.join('\r\n'));
  expect(await json(`${register} @list`)).toEqual({
    ...{ uid: 'w-0', destinationUrl: hook, addresses: 4, chunks: 1, duplicates: 3, rejected: 0 },
    secretFile: expect.stringMatching(/secret-[0-9a-f]{12}$/),
  });
  expect(holds('w-0')).toEqual([lowVitalik, mint, 'ext:U', 'ext:u'].sort());
});

test('more addresses for a webhook have no secret', async () => {
  const result = await place().json(`webhook add-addresses ${uid} --wallet-addresses ext:a,ext:b`);
  expect(result).toEqual({ uid, destinationUrl: null, addresses: 2, chunks: 1, duplicates: 0, rejected: 0 });
});

test.each([
  [1000, 1],
  [1001, 2],
  [2500, 3],
])('%i addresses are %i requests', async (count, chunks) => {
  const { json, write, requests, holds } = kept();
  write('list', ids(count));
  expect(await json(`${register} @list`)).toMatchObject({ addresses: count, chunks });
  expect([requests.length, holds('w-0').length]).toEqual([chunks + 1, count]);
});

test('each distinct address is sent once, in order, whatever is repeated between', async () => {
  const external = fc.string({ minLength: 1, maxLength: 20 }).map((id) => `ext:${id.replaceAll(/[\p{C}\s]/gu, 'x')}`);
  const address = fc.oneof(fc.constantFrom(lowVitalik, mint, '116HTnNMXBLL6LCQ1qAQEZ7E9bDXSJjV6hnZsziospk'), external);
  await fc.assert(
    fc.asyncProperty(fc.array(address, { minLength: 1, maxLength: 60 }), async (lines) => {
      const { sotra, sent, write } = place();
      write('list', [...lines, ...lines.slice(0, 3)].join('\n'));
      const { out } = await sotra(`${add} @list --json`);
      const distinct = [...new Set(lines)];
      expect(JSON.parse(sent[0]?.body ?? '')).toEqual({ walletAddresses: distinct });
      const duplicates = lines.length + lines.slice(0, 3).length - distinct.length;
      expect(JSON.parse(out)).toMatchObject({ addresses: distinct.length, duplicates });
    }),
    { numRuns: size(15, 60) },
  );
});

test('an upload that stops half-way is exit 10 and says how far it is and why; the same command sends what is missing', async () => {
  const { sotra, write, fault, sent, holds, posts } = kept();
  write('list', ids(3500));
  fault.answer = ({ method }, count) => (method === 'PUT' && count > 1 ? [401, { error: 'not now' }] : undefined);
  const argv = `${register} @list --concurrency 1`;
  const first = await sotra(`${argv} --json`);
  expect(first).toEqual(failure(10, '2,000 of 3,500 addresses confirmed, then: not now'));
  expect(JSON.parse(first.err).error).toMatchObject({
    code: 'partial',
    hint: expect.stringMatching(/^The same command continues; sotra webhook list shows it\. The key \.\.\.tner from/),
    details: { uid: 'w-0', addresses: 3500, confirmed: 2000 },
  });
  fault.answer = () => undefined;
  expect((await sotra(argv)).code).toBe(0);
  expect([holds('w-0').length, sent.length, posts()]).toEqual([3500, 3500, 1]);
});

test('what is confirmed is not sent again, whatever list it comes in, until --again asks for it', async () => {
  const { sotra, write, sent } = place();
  write('list', ids(3));
  await sotra(`${add} @list`);
  const { err } = await sotra(`${add} @list`);
  expect(err).toBe(`Nothing was sent: webhook ${uid} has all 3 addresses. --again sends them once more.\n`);
  write('more', ids(5));
  await sotra(`${add} @more`);
  expect(sent.at(-1)?.body).toBe('{"walletAddresses":["ext:3","ext:4"]}');
  await sotra(`${add} @list --again`);
  expect(sent.at(-1)?.body).toBe('{"walletAddresses":["ext:0","ext:1","ext:2"]}');
  expect((await sotra(`${add} @more`)).err).toContain('Nothing was sent');
});

test('addresses confirmed by another service, key or webhook do not count', async () => {
  const { sotra, write, sent } = place();
  write('list', 'ext:a\n');
  for (const [line, env] of [
    [`${add} @list`, {}],
    [`${add} @list`, { SOTRA_BASE_URL: 'https://b.example.com' }],
    [`${add} @list`, { SOTRA_API_KEY: 'another-key' }],
    ['webhook add-addresses other --file @list', {}],
  ] as const)
    await sotra(line, { env });
  expect(sent).toHaveLength(4);
});

test('the line of an address that a crash cut off does not count as confirmed', async () => {
  const { sotra, write, sent, uploads } = place();
  write('list', ids(3));
  await sotra(`${add} @list`);
  writeFileSync(join(uploads()[0] ?? '', 'confirmed.txt'), 'ext:0\next:1\next:');
  await sotra(`${add} @list`);
  expect(sent.at(-1)?.body).toBe('{"walletAddresses":["ext:2"]}');
  expect(readFileSync(join(uploads()[0] ?? '', 'confirmed.txt'), 'utf8')).toBe('ext:0\next:1\next:2\n');
});

test('on a terminal each chunk says how far an upload is, and a failed request what it waits for', async () => {
  const { sotra, write } = place((request, count) =>
    request.method === 'PUT' && count === 1 ? [503, { error: 'busy' }] : fresh(request, count),
  );
  write('list', ids(2500));
  const { err } = await sotra(`${register} @list --concurrency 1`, { tty: 200 });
  for (const step of [
    'reading addresses: 2,500',
    'registering the webhook',
    '40 %: 1,000 of 2,500 addresses confirmed',
    `busy (HTTP 503 from PUT /v1/webhooks/feed/${uid}); trying again after 1 s`,
    '100 %: 2,500 of 2,500 addresses confirmed',
  ])
    expect(err).toContain(` ${step}\u001b`);
});

test('in a log a line each five seconds says how far an upload is', async () => {
  const { sotra, write } = place();
  write('list', ids(8000));
  const progress = async (rate: string) =>
    (await sotra(`${add} @list --again --concurrency 1 ${rate}`, { now: Date.UTC(2026, 10, 21) })).err;
  expect(await progress('')).toBe('');
  expect(await progress('--rate 1/s')).toBe('75 %: 6,000 of 8,000 addresses confirmed\n');
});

test('--dry-run and --curl show the next request and how many there are, and change nothing', async () => {
  const { sotra, write, fault, requests, uploads } = kept();
  write('list', ids(2500));
  const dry = await sotra(`${register} @list --dry-run`);
  const others = 'this is the first, the others are PUTs of up to 1,000.\n';
  expect([dry.err, uploads()]).toEqual([`2,500 addresses in 3 requests; ${others}`, []]);
  expect(dry.out).toMatch(/^POST https:\/\/a\.example\.com\/v1\/webhooks\/feed\n/);
  expect(dry.out).toMatch(/\{"walletAddresses":\["ext:0",.*"ext:999"\],"destinationUrl":"https:.*hook"\}/);
  fault.answer = ({ method }) => (method === 'PUT' ? [400, { error: 'no' }] : undefined);
  expect((await sotra(`${register} @list`)).code).toBe(10);
  const [folder = ''] = uploads();
  const files = () => ['state.json', 'confirmed.txt'].map((name) => readFileSync(join(folder, name), 'utf8'));
  const before = { sent: requests.length, files: files() };
  const left = await sotra(`${register} @list --dry-run`);
  expect(left.err).toBe(`1,500 of 2,500 addresses in 2 requests; ${others}`);
  expect(left.out).toMatch(/^PUT https:\/\/a\.example\.com\/v1\/webhooks\/feed\/w-0\n/);
  const curl = await sotra('webhook sync w-0 --file @list --curl');
  expect(curl.out).toContain(`--data-raw '{"walletAddresses":["ext:1000",`);
  expect({ sent: requests.length, files: files() }).toEqual(before);
  fault.answer = () => undefined;
  await sotra(`${register} @list`);
  const none = await sotra(`${register} @list --dry-run`);
  expect(none).toEqual(failure(0, 'Nothing was sent: webhook w-0 has all 2,500 addresses.\n'));
});

test.each([
  ['', '--file or --wallet-addresses is required', 'Give a file, - for stdin, or --wallet-addresses.'],
  ['--file @folder', '--file @folder: a folder, not a file', ''],
  ['--file @empty', '@empty has no addresses', 'One a line, CSV with a header, NDJSON or a JSON array.'],
  ['--file -', 'stdin has no addresses', 'One a line, CSV with a header, NDJSON or a JSON array.'],
  ['--wallet-addresses ext:a,x', '--wallet-addresses: 1 item is not an address; nothing was sent', 'Correct them, or'],
  ['--file @checksum', '@checksum: 2 lines are not addresses; nothing was sent', 'accepted with --allow-bad-checksum.'],
])('webhook add-addresses %s: %s', async (flags, message, hint) => {
  const { folder, sotra, write, sent } = place();
  write('list', 'ext:a\n');
  write('empty', '\n\n');
  write('checksum', 'x\n0xD8dA6BF26964aF9D7eEd9e03E53415D37aA96045\n');
  mkdirSync(join(folder, 'folder'));
  const refused = await sotra(`webhook add-addresses ${uid} ${flags}`);
  expect(refused).toEqual(failure(2, `error: ${message}\n`));
  expect(refused.err).toContain(hint);
  expect(sent).toEqual([]);
});

test('every bad line is named with its number and what is wrong, and nothing is sent', async () => {
  const { sotra, write, sent, uploads } = place();
  const bad = ['d8da6bf26964af9d7eed9e03e53415d37aa96045', '0xD8dA6BF26964aF9D7eEd9e03E53415D37aA96045', 'vitalik.eth'];
  write('list', [lowVitalik, ...bad, `${lowVitalik.slice(0, 41)}\u200b`, `ext:a`, `\ufeff${mint}\u200b`].join('\n'));
  const { code, out, err } = await sotra(`${add} @list`);
  expect([code, out, sent, uploads()]).toEqual([2, '', [], []]);
  expect(err.split('\n').slice(0, 6)).toEqual([
    'warning: line 2: d8da6b…6045: 0x is missing in front of the 40 hex digits',
    'warning: line 3: 0xD8dA6BF26964aF9D7eEd9e03E53415D37aA96045: wrong EIP-55 checksum: a letter or digit is mistyped',
    'warning: line 4: vitalik.eth: a name: give its address',
    `warning: line 5: ${lowVitalik.slice(0, 41)}<U+200B>: not hexadecimal: <U+200B> at character 42`,
    'warning: line 7: (44 characters, not shown): not base58, nor 0x and 40 hex digits: <U+200B> at character 44',
    'error: @list: 5 lines are not addresses; nothing was sent',
  ]);
  write('list', 'vitalik.eth\n');
  expect(await sotra(`${add} @list`)).toEqual(failure(2, 'nothing was sent\nhint: Correct them.\n'));
  const named = await sotra(`${add.replace('--file', '--wallet-addresses')} list`);
  expect(named).toEqual(failure(2, 'hint: Separate addresses with commas; a file goes to --file.\n'));
});

test('twenty bad lines are shown and the others counted; a file has them all', async () => {
  const { folder, sotra, write } = place();
  write('twenty', 'x\n'.repeat(20));
  const twenty = await sotra(`${add} @twenty`);
  expect([twenty.err.match(/^warning: line/gm)?.length, twenty.err.includes('more bad lines')]).toEqual([20, false]);
  write('many', `{"wallet":1}\n${'{"wallet":" x "}\n'.repeat(120)}`);
  const many = await sotra(`${add} @many --column wallet --rejects @rejects`);
  expect(many.err.match(/^warning: line/gm)).toHaveLength(20);
  expect(many.err).toContain('warning: line 1: (12 characters, not shown): has no text in a field wallet\n');
  expect(many.err).toContain('warning: 101 more bad lines\n');
  const rejects = readFileSync(join(folder, 'rejects'), 'utf8').trim().split('\n');
  expect([rejects.length, JSON.parse(rejects[120] ?? '')]).toMatchObject([121, { line: 121, text: 'x' }]);
});

test('a wrong checksum is sent in lowercase if it is accepted', async () => {
  const { sotra, write, sent } = place();
  write('list', '0xD8dA6BF26964aF9D7eEd9e03E53415D37aA96045\n');
  expect((await sotra(`${add} @list --allow-bad-checksum`)).code).toBe(0);
  expect(sent[0]?.body).toBe(`{"walletAddresses":["${lowVitalik}"]}`);
});

test('the column is named for a file and for stdin, packed or not', async () => {
  const { sotra, write, folder, sent } = place();
  const table = 'sep=;\naddress;other\next:a;ext:b\next:c;ext:d\n';
  write('list', table);
  writeFileSync(join(folder, 'list.gz'), gzipSync(table));
  await sotra(`${add} @list --column other`);
  await sotra('webhook add-addresses w-3 --file @list.gz --column other');
  await sotra('webhook add-addresses w-4 --file - --column other', { stdin: table });
  expect(sent.map(({ body }) => body)).toEqual(Array(3).fill('{"walletAddresses":["ext:b","ext:d"]}'));
  const wrong = await sotra(`${add} - --column nothing`, { stdin: table });
  expect(wrong.err).toContain('error: --column nothing: stdin has no such column');
});

test('a list that does not exist is exit 3; one that is interrupted while it is read is exit 130', async () => {
  const { sotra, sent, uploads } = place();
  expect(await sotra(`${add} @none`)).toEqual(failure(3, '--file @none: no such file\n'));
  const stopped = new AbortController();
  async function* list() {
    yield Buffer.from(ids(1000));
    stopped.abort();
    yield Buffer.from(ids(1000));
  }
  const { code, err } = await sotra(`${add} -`, { stdin: list(), signal: stopped.signal });
  expect([code, err, sent, uploads()]).toEqual([130, 'error: interrupted; nothing was sent\n', [], []]);
});

test('a service that does not repeat the destination is warned of, and the upload goes on', async () => {
  const { sotra, write } = place(({ method }) => [
    200,
    method === 'GET' ? [] : { uid, secret: 'a-secret-of-the-service' },
  ]);
  write('list', 'ext:a\n');
  const { out, err } = await sotra(`${register} @list --json`);
  expect(JSON.parse(out)).toMatchObject({ uid, destinationUrl: hook, addresses: 1 });
  expect(err).toContain('unexpected shape at destinationUrl');
});

test.each([
  ['whsec_a', ['whsec_a']],
  ['# mine\n\n  \n  whsec_a \r\n #x\n#\nb\n', ['whsec_a', 'b']],
  ['a#b\n', ['a#b']],
])('the secret file %j holds %j', async (text, secrets) => {
  const file = join(temporaryFolder(), 's');
  writeFileSync(file, text, { mode: 0o600 });
  for (const secret of secrets) {
    const signature = createHmac('sha256', secret).update('1.{}').digest('base64url');
    const argv = `webhook verify --header t=1,v1=${signature} --secret-file ${file}`;
    expect([secret, (await run(argv, { stdin: '{}' })).code]).toEqual([secret, 0]);
  }
});

test('a secret file without a secret, or that cannot be read, is named', async () => {
  const file = join(temporaryFolder(), 's');
  const hint = 'sotra webhook sync --url <url> --file <file> --secret-file <file> writes one.';
  const check = () => run(`webhook verify --header t=1,v1=a --secret-file ${file}`, { stdin: '{}' });
  const refusal = (problem: string) => failure(3, `--secret-file ${file}: ${problem}\nhint: ${hint}\n`);
  expect(await check()).toEqual(refusal('no such file'));
  writeFileSync(file, '# none\n \n');
  expect(await check()).toEqual(refusal('holds no secret'));
  writeFileSync(file, 'whsec_a\n***\n');
  expect(await check()).toEqual(refusal('holds *** instead of a secret'));
});

test('real addresses by the thousand are a request each thousand, and the sandbox holds all of them', async () => {
  const thousands = size(4, 30);
  const rows = gunzipSync(readFileSync('test/data/addresses-evm/uniswap_airdrop_2020.csv.gz')).toString().split('\n');
  const file = join(temporaryFolder(), 'addresses.csv.gz');
  writeFileSync(file, gzipSync(rows.slice(0, thousands * 1000 + 1).join('\n')));
  const { env } = newUser();
  const told = await runJson(`--sandbox webhook register --url http://127.0.0.1:9/hook --file ${file}`, { env });
  expect(told).toMatchObject({ addresses: thousands * 1000, chunks: thousands, duplicates: 0, rejected: 0 });
  const db = openDb(join(env.SOTRA_DATA_DIR, 'sandbox.db'));
  expect(db.value('SELECT count(*) FROM webhook_wallet')).toBe(thousands * 1000);
  db.close();
});
