import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ClosedPipe } from '../../../src/lib/io.ts';
import { readSecrets } from '../../../src/upload/secrets.ts';
import { answering, run, stub, temporaryFolder } from '../../support/harness.ts';
import { add, fresh, hook, ids, place, register, uid, well } from '../../support/upload-place.ts';

test('an upload is told in lines: what it is, what was made, how far it is', async () => {
  const { sotra, write, jobs } = place(fresh);
  write('list', `${ids(1001)}ext:1\nnonsense\n`);
  const { code, err } = await sotra(`${register} @list --skip-invalid --concurrency 1`);
  const [job] = jobs();
  expect([code, err.split('\n')]).toEqual([
    0,
    [
      'warning: line 1003: (8 characters, not shown): wrong length: 8 base58 characters that are not the 32 bytes of a Solana address',
      `upload ${job}: 1,001 addresses in 2 chunks (1 duplicate, 1 bad line)`,
      `webhook ${uid} registered`,
      '',
    ],
  ]);
});

test('one address is one, and nothing is said of what there is none of', async () => {
  const { sotra, write, jobs } = place();
  write('list', 'ext:a\n');
  const { err } = await sotra(`${add} @list`);
  expect(err).toBe(`upload ${jobs()[0]}: 1 address in 1 chunk\n`);
});

test('duplicates alone and bad lines alone are counted', async () => {
  const { sotra, write } = place();
  write('repeated', 'ext:a\next:a\n');
  expect((await sotra(`${add} @repeated`)).err).toContain(': 1 address in 1 chunk (1 duplicate)\n');
  write('bad', 'ext:b\nx\n');
  expect((await sotra(`${add} @bad --skip-invalid`)).err).toContain(': 1 address in 1 chunk (1 bad line)\n');
});

test('on a terminal a bar says how far an upload is, what it waits for and what was confirmed earlier', async () => {
  const { sotra, write, service } = place((request, count) =>
    request.method === 'PUT' ? [count > 3 ? 400 : 503, { error: 'busy' }] : fresh(request, count),
  );
  write('list', ids(2500));
  const { err } = await sotra(`${register} @list --concurrency 1`, { tty: 200 });
  const busy = `busy (HTTP 503 from PUT /v1/webhooks/feed/${uid})`;
  for (const step of [
    'reading addresses',
    'reading addresses: 2,500',
    'registering the webhook',
    `${busy}; trying again after 1 s`,
    `chunk 2: ${busy} (after 3 attempts); trying again after 1 s`,
  ])
    expect(err).toContain(` ${step}\u001b`);
  expect(err).toMatch(/ \[████████░{12}\] 40 %: 1,000 of 2,500 addresses, [\d,]+ a second, \d+ s left/);
  service.answer = well;
  const again = await sotra(`${register} @list --concurrency 1`, { tty: 200 });
  expect(again.err).toContain('40 %: 1,000 of 2,500 addresses\u001b');
  expect(again.err).toMatch(/\[█{16}░{4}\] 80 %: 2,000 of 2,500 addresses, /);
  expect(again.err).toMatch(/\[█{20}\] 100 %: 2,500 of 2,500 addresses, /);
});

test('an upload that stops says how far it is, why, and that the same command goes on', async () => {
  const { sotra, write } = place((request, count) =>
    request.method === 'PUT' && count > 1 ? [400, { error: 'no' }] : fresh(request, count),
  );
  write('list', ids(3500));
  const { code, err } = await sotra(`${register} @list --concurrency 1`);
  expect([code, err.split('\n').slice(-3)]).toEqual([
    10,
    [
      `error: 2 of 4 chunks are confirmed, then: no (HTTP 400 from PUT /v1/webhooks/feed/${uid})`,
      'hint: The same command continues; sotra webhook list shows it.',
      '',
    ],
  ]);
});

test('where a key is refused half-way, what to do about that is told too', async () => {
  const { sotra, write } = place((request, count) =>
    request.method === 'PUT' && count > 1 ? [401, { error: 'no' }] : fresh(request, count),
  );
  write('list', ids(3500));
  const { code, err } = await sotra(`${register} @list --concurrency 1`);
  expect([code, err]).toEqual([
    10,
    expect.stringContaining(
      'hint: The same command continues; sotra webhook list shows it. The key ...tner from SOTRA_API_KEY was sent and refused: ',
    ),
  ]);
});

test('a preview of a registration shows its POST, whose destination and addresses are those of the list', async () => {
  const { sotra, write } = place();
  write('list', ids(2));
  const { out } = await sotra(`${register} @list --dry-run`);
  expect(out).toContain('POST https://a.example.com/v1/webhooks/feed');
  expect(out).toContain(`{"walletAddresses":["ext:0","ext:1"],"destinationUrl":"${hook}"}`);
});

test('--again does not send again what an upload that is not finished has confirmed', async () => {
  const { sotra, write, service, sent } = place((request, count) =>
    count > 1 ? [400, { error: 'no' }] : well(request, count),
  );
  write('list', ids(2500));
  expect((await sotra(`${add} @list --concurrency 1`)).code).toBe(10);
  service.answer = well;
  const before = sent.length;
  expect((await sotra(`${add} @list --again`)).code).toBe(0);
  expect(sent.length - before).toBe(2);
});

test('an upload whose events nobody reads any more ends quietly, and the same command continues', async () => {
  const { sotra, write } = place(fresh);
  write('list', 'ext:a\n');
  const closed = () => {
    throw new ClosedPipe();
  };
  expect(await sotra(`${register} @list --format ndjson`, { onOut: closed })).toMatchObject({ code: 0, err: '' });
  expect((await sotra(`${register} @list`)).code).toBe(0);
});

test('the log of an upload that takes less than a second has no lines of progress', async () => {
  const { sotra, write } = place();
  write('list', ids(5000));
  expect((await sotra(`${add} @list`)).err).not.toContain(' % ');
});

test('what was finished is told with its time, nothing is sent, and --again sends it once more', async () => {
  const { sotra, write, sent, jobs } = place();
  write('list', 'ext:a\n');
  const now = Date.UTC(2026, 10, 21, 10, 0, 0);
  await sotra(`${add} @list`, { now });
  const [job] = jobs();
  const second = await sotra(`${add} @list`, { now });
  expect(second.err).toContain(`upload ${job} was finished at 2026-11-21 10:00`);
  expect(second.err).toContain(': nothing was sent.');
  const dry = await sotra(`${add} @list --dry-run`, { now });
  expect([dry.code, dry.err.includes(': nothing was sent.'), sent.length]).toEqual([0, true, 1]);
  expect((await sotra(`${add} @list --again`, { now })).code).toBe(0);
  expect(sent.map(({ method }) => method)).toEqual(['PUT', 'PUT']);
  expect(jobs()).toEqual([job]);
});

test('an upload of another service or key is another upload', async () => {
  const { sotra, write, jobs } = place();
  write('list', 'ext:a\n');
  await sotra(`${add} @list`);
  await sotra(`${add} @list`, { env: { SOTRA_BASE_URL: 'https://b.example.com' } });
  await sotra(`${add} @list`, { env: { SOTRA_API_KEY: 'another-key' } });
  expect(jobs()).toHaveLength(3);
});

test('a webhook that was made keeps its secret where it was told to, and gives it again', async () => {
  const { folder, sotra, write } = place(fresh);
  write('list', 'ext:a\n');
  const first = await sotra(`${register} @list --json`);
  const { secretFile } = JSON.parse(first.out);
  expect([JSON.parse(first.out).uid, readFileSync(secretFile, 'utf8')]).toEqual([uid, 'whsec_abcdefghij\n']);
  expect(statSync(secretFile).mode & 0o777).toBe(0o600);
  expect(first.out + first.err).not.toContain('whsec_');
  const shown = await sotra(`${register} @list --json --show-secrets`);
  expect(JSON.parse(shown.out)).toMatchObject({ secretFile, secret: 'whsec_abcdefghij' });
  expect((await sotra(`${register} @list --show-secrets`)).err).toContain('The secret is whsec_abcdefghij\n');
  const later = await sotra(`${register} @list --secret-file @later --json`);
  expect(JSON.parse(later.out)).toMatchObject({ secretFile: join(folder, 'later') });
  expect(readFileSync(join(folder, 'later'), 'utf8')).toBe('whsec_abcdefghij\n');
  writeFileSync(join(folder, 'later'), 'mine\n');
  expect(await sotra(`${register} @list --secret-file @later`)).toMatchObject({
    code: 2,
    err: expect.stringContaining(
      'error: --secret-file @later: exists and is not empty\nhint: Name a new file. If it is the one of this webhook, sotra webhook sync',
    ),
  });
  expect(readFileSync(join(folder, 'later'), 'utf8')).toBe('mine\n');
});

test('more addresses for a webhook have no secret to tell', async () => {
  const { sotra, write } = place();
  write('list', 'ext:a\n');
  const { out } = await sotra(`${add} @list --json`);
  expect(Object.keys(JSON.parse(out)).sort()).toEqual([
    'addresses',
    'chunks',
    'destinationUrl',
    'duplicates',
    'rejected',
    'uid',
  ]);
});

test('a list that is another is another upload; so is another destination', async () => {
  const { sotra, write, jobs } = place(fresh);
  write('a', 'ext:a\n');
  write('b', 'ext:b\n');
  await sotra(`${add} @a`);
  await sotra(`${add} @b`);
  await sotra(`webhook add-addresses other --file @a`);
  await sotra(`${register} @a`);
  await sotra(`webhook register --url ${hook}/2 --file @a`);
  expect(jobs()).toHaveLength(5);
  for (const job of jobs()) expect(job).toMatch(/^[0-9a-f]{12}$/);
});

test('an upload is named as ever, so that another version of sotra goes on with it', async () => {
  const { sotra, write, jobs, service } = place();
  write('list', 'ext:a\n');
  await sotra(`${add} @list`);
  // L=$(printf 'ext:a\n' | sha256sum | cut -c 1-64)
  // S='{"baseUrl":"https://a.example.com","keyId":"0bab96736bcaebd3"}'
  // printf '[%s,"add-addresses","2f1d3c5e-7a90-4b8c-9d6e-0f1a2b3c4d5e","","%s"]' $S $L | sha256sum | cut -c 1-12
  // printf '[%s,"register",null,"https://d.example.com/hook","%s"]' $S $L | sha256sum | cut -c 1-12
  let meanwhile: string[] = [];
  service.answer = (request, count) => {
    meanwhile = jobs().sort();
    return fresh(request, count);
  };
  await sotra(`${register} @list`);
  expect(meanwhile).toEqual(['2794fa469557', 'ec925e826c4e']);
});

test('a run before the upload leaves no draft behind, whatever comes of it', async () => {
  const { sotra, write, jobs, sent } = place();
  write('bad', 'x\n');
  write('good', ids(1001));
  expect((await sotra(`${add} @bad`)).code).toBe(2);
  const dry = await sotra(`${add} @good --dry-run`);
  expect([dry.code, dry.err]).toEqual([
    0,
    '1,001 addresses in 2 requests; this is the first, the others are PUTs of up to 1,000.\n',
  ]);
  expect((await sotra(`${add} @good --curl`)).out).toMatch(/^curl /);
  write('one', 'ext:a\n');
  expect((await sotra(`${add} @one --dry-run`)).err).toBe('1 address in one request.\n');
  expect([jobs(), sent]).toEqual([[], []]);
});

const files: readonly [flags: string, message: string, hint: string][] = [
  ['--file @list --wallet-addresses ext:a', '--file and --wallet-addresses both give addresses', 'Omit one of them.'],
  ['', '--file is required: which addresses?', 'Give a file, - for stdin, or --wallet-addresses.'],
  ['--wallet-addresses ext:a --column wallet', '--column is for --file', 'Omit it.'],
  ['--file @folder', '--file @folder: a folder, not a file', ''],
  ['--file @empty', '@empty holds no address', 'One a line, CSV with a header, NDJSON or a JSON array.'],
  ['--file -', 'stdin holds no address', 'One a line, CSV with a header, NDJSON or a JSON array.'],
  [
    '--wallet-addresses ext:a --wallet-addresses x',
    '--wallet-addresses: 1 line is not an address; nothing was sent',
    'Correct them, or send the rest (1) with --skip-invalid.',
  ],
  [
    '--file @bad',
    '@bad: 2 lines are not addresses; nothing was sent',
    'Correct them, or send the rest (2) with --skip-invalid.',
  ],
  [
    '--file @checksum',
    '@checksum: 2 lines are not addresses; nothing was sent',
    'Correct them, or send the rest (0) with --skip-invalid. A wrong checksum is accepted with --allow-bad-checksum.',
  ],
];

test.each(files)('webhook add-addresses %s: %s', async (flags, message, hint) => {
  const { folder, sotra, write, sent } = place();
  write('list', 'ext:a\n');
  write('empty', '\n\n');
  write('bad', 'ext:a\nx\next:b\ny\n');
  write('checksum', 'x\n0xD8dA6BF26964aF9D7eEd9e03E53415D37aA96045\n');
  mkdirSync(join(folder, 'folder'));
  const { code, err } = await sotra(`webhook add-addresses ${uid} ${flags}`);
  expect([code, sent.length]).toEqual([2, 0]);
  expect(err).toContain(`error: ${message}\n`);
  expect(err).toContain(hint && `hint: ${hint}\n`);
});

test('a list that does not exist is exit 3, and nothing is sent', async () => {
  const { sotra, sent } = place();
  const { code, err } = await sotra(`${add} @none`);
  expect([code, sent]).toEqual([3, []]);
  expect(err).toContain('error: --file @none: no such file\n');
});

test('a row without an address is named with what it lacks; what is rejected is written without the blanks around it', async () => {
  const { folder, sotra, write } = place();
  write('rows', '{"wallet":"ext:a"}\n{"wallet":1}\n{"wallet":" x "}\n');
  const { err } = await sotra(`${add} @rows --column wallet --rejects @rejects --skip-invalid`);
  expect(err).toContain('warning: line 2: (12 characters, not shown): has no text in a field wallet\n');
  const rejects = readFileSync(join(folder, 'rejects'), 'utf8').trim().split('\n');
  expect(rejects.map((line) => JSON.parse(line))).toMatchObject([{ line: 2 }, { line: 3, text: 'x' }]);
  const again = await sotra(`${add} @rows --column wallet --rejects @rejects --skip-invalid`);
  expect([again.code, again.err]).toEqual([2, expect.stringContaining('cannot ask whether to replace')]);
});

test('an upload that is interrupted while its list is read is exit 130, and sends nothing', async () => {
  const { sotra, sent, jobs } = place();
  const stopped = new AbortController();
  async function* list() {
    yield Buffer.from(ids(1000));
    stopped.abort();
    yield Buffer.from(ids(1000));
  }
  const { code, err } = await sotra(`${add} -`, { stdin: list(), signal: stopped.signal });
  expect([code, err, sent, jobs()]).toEqual([130, 'error: interrupted; nothing was sent\n', [], []]);
});

test('a typed address that is wrong is named by its place', async () => {
  const { sotra } = place();
  const { err } = await sotra(`webhook add-addresses ${uid} --wallet-addresses ext:a --wallet-addresses x`);
  expect(err).toContain('warning: line 2: x: ');
});

test('twenty bad lines are shown and the others counted; a JSON error lists a hundred, a file all', async () => {
  const { folder, sotra, write } = place();
  const bad = (count: number) => 'x\n'.repeat(count);
  write('twenty', bad(20));
  const twenty = await sotra(`${add} @twenty`);
  expect([twenty.err.match(/^warning: line/gm)?.length, twenty.err.includes('more bad lines')]).toEqual([20, false]);
  write('many', bad(121));
  const many = await sotra(`${add} @many --rejects @rejects`);
  expect(many.err.match(/^warning: line/gm)).toHaveLength(20);
  expect(many.err).toContain('warning: 101 more bad lines; --rejects <file> writes them all\n');
  const said = (await sotra(`${add} @many --json`)).err.split('\n');
  const { error } = JSON.parse(said.find((line) => line.startsWith('{"error"')) ?? '');
  expect([error.details.rejected.length, error.details.rejected[99].line]).toEqual([100, 100]);
  const lines = readFileSync(join(folder, 'rejects'), 'utf8').trim().split('\n');
  expect(lines).toHaveLength(121);
  for (const line of [1, 121]) expect(JSON.parse(lines[line - 1] ?? '')).toMatchObject({ line, text: 'x' });
});

test('a checksum that is wrong is taken where that is asked for', async () => {
  const { sotra, write, sent } = place();
  write('list', '0x5AAeb6053F3E94C9b9A09f33669435E7Ef1BeAed\n');
  expect((await sotra(`${add} @list`)).code).toBe(2);
  expect((await sotra(`${add} @list --allow-bad-checksum`)).code).toBe(0);
  expect(JSON.parse(sent[0]?.body ?? '')).toEqual({ walletAddresses: ['0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed'] });
});

const secretFiles: readonly [text: string, secrets: string[]][] = [
  ['whsec_a', ['whsec_a']],
  ['whsec_a\n', ['whsec_a']],
  ['# mine\n\n  \n  whsec_a \r\n #x\n#\nb\n', ['whsec_a', 'b']],
  ['a#b\n', ['a#b']],
];

test.each(secretFiles)('the secret file %j holds %j', (text, secrets) => {
  const file = join(temporaryFolder(), 's');
  writeFileSync(file, text);
  expect(readSecrets(file)).toEqual(secrets);
});

test('a secret file without a secret, or that cannot be read, is told', () => {
  const file = join(temporaryFolder(), 's');
  const hint = 'sotra webhook sync --url <url> --file <file> --secret-file <file> writes one.';
  const error = (message: string) =>
    expect.objectContaining({ code: 'local-file', message: expect.stringContaining(message), hint });
  expect(() => readSecrets(file)).toThrow(error(`the secret file ${file} cannot be read: no such file or folder`));
  writeFileSync(file, '# none\n \n');
  expect(() => readSecrets(file)).toThrow(error(`the secret file ${file} holds no secret`));
  writeFileSync(file, 'whsec_a\n***\n');
  expect(() => readSecrets(file)).toThrow(error(`the secret file ${file} holds *** in place of a secret`));
});

const user = (number: number) => `ext:user-${String(number).padStart(4, '0')}`;

test('--dry-run and --curl of an upload that stopped show what would be sent next, send nothing and leave all as it is', async () => {
  let isWell = false;
  const service = await stub(({ body }, response) => {
    const isSecond = body.includes(user(1500));
    response.writeHead(isSecond && !isWell ? 400 : 200).end(isSecond && !isWell ? '{"error":"no"}' : '{}');
  });
  const folder = temporaryFolder();
  const env = { ...service.env, SOTRA_DATA_DIR: folder, SOTRA_CONFIG_DIR: folder };
  const list = join(folder, 'users.txt');
  writeFileSync(list, Array.from({ length: 2500 }, (_, index) => `${user(index)}\n`).join(''));
  const upload = `webhook add-addresses ${uid} --file ${list} --concurrency 1`;
  expect((await run(upload, { env })).code).toBe(10);
  const [job = ''] = readdirSync(join(folder, 'webhook', 'jobs'));
  const journal = join(folder, 'webhook', 'jobs', job, 'journal.ndjson');
  const before = { sent: service.requests.length, journal: readFileSync(journal, 'utf8') };
  const dry = await run(`${upload} --dry-run`, { env });
  expect([dry.code, dry.err]).toEqual([
    0,
    'Still to be sent: 2 requests; this is the first, the others are PUTs of up to 1,000.\n',
  ]);
  expect(dry.out).toMatch(new RegExp(`^PUT http://127\\.0\\.0\\.1:\\d+/v1/webhooks/feed/${uid}\n`));
  expect(dry.out).toContain(`{"walletAddresses":["ext:user-1000",`);
  const sync = `webhook sync ${uid} --file ${list}`;
  for (const argv of [upload, sync]) {
    const curl = await run(`${argv} --curl`, { env });
    expect([argv, curl.code]).toEqual([argv, 0]);
    expect(curl.out).toContain(`--data-raw '{"walletAddresses":["ext:user-1000",`);
  }
  const checked = await run(`${sync} --dry-run`, { env });
  expect([checked.code, checked.err]).toEqual([
    10,
    expect.stringContaining(
      `confirmed; continue with: sotra webhook add-addresses ${uid} --file ${folder}/users.txt\nWould send 1,500 of 2,500 addresses to webhook ${uid}.\n`,
    ),
  ]);
  expect({ sent: service.requests.length, journal: readFileSync(journal, 'utf8') }).toEqual(before);
  isWell = true;
  expect((await run(upload, { env })).code).toBe(0);
  expect(service.requests.length).toBe(before.sent + 2);
  const finished = readFileSync(journal, 'utf8');
  expect(await run(`${upload} --dry-run`, { env })).toEqual({
    code: 0,
    out: '',
    err: expect.stringMatching(/^upload \w+ was finished at .*: nothing was sent\.\n$/),
  });
  expect(readFileSync(journal, 'utf8')).toBe(finished);
});

test('webhook list masks secrets also in an answer that is no list', async () => {
  const secret = 'hush.canary.webhook.4242';
  const service = await answering({
    webhooks: [{ uid: 1, secret }],
    signing: { hookSecret: secret },
    k: 'whsec_abcdefghij',
  });
  const { code, out } = await run('webhook list --json', { env: service.env });
  expect([code, JSON.parse(out)]).toEqual([
    0,
    { webhooks: [{ uid: 1, secret: '***' }], signing: { hookSecret: '***' }, k: '***' },
  ]);
  const asked = await run('webhook list --json --show-secrets', { env: service.env });
  expect(asked.out).toContain(secret);
});
