import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { answering, failure, run, runJson, stub, temporaryFolder } from '../../support/harness.ts';
import { ask, type SandboxServer, serveSandbox } from '../../support/served.ts';
import { size } from '../../support/size.ts';

const wallet = '0xa4e221aa5a7ba51b5d5c7d5c923bfb9bcebcb252';
const other = '0x5180db8f5c931aae63c74266b211f580155ecac8';
const lines = (entries: readonly unknown[]) => entries.map((entry) => `${JSON.stringify(entry)}\n`).join('');

function file(text: string, name = 'friends.ndjson'): string {
  const path = join(temporaryFolder(), name);
  writeFileSync(path, text);
  return path;
}

async function graph(service: SandboxServer): Promise<string[]> {
  const rows = service.db.all<{ follower: string; target: string }>(
    'SELECT follower_id AS follower, target_id AS target FROM follow ORDER BY 1, 2',
  );
  return rows.map(({ follower, target }) => `${follower}>${target}`);
}

const entries = [
  { addressOrUid: 'ext:u1', targets: [wallet, other] },
  { addressOrUid: 'ext:u2', targets: ['ext:u1'], action: 'follow' },
  { addressOrUid: 'ext:u1', targets: [other], targetType: 'addressOrUid', action: 'unfollow' },
];

test.each([
  ['NDJSON', lines(entries)],
  [
    'NDJSON with empty lines, a byte order mark and Windows ends',
    `\ufeff\n${lines(entries).replaceAll('\n', '\r\n\r\n')}`,
  ],
  [
    'NDJSON with comments, also one that a kill has cut',
    `# mine\n     #"addressOrUid":"ext:u1","tar      \n  #"addressOrUid":"ext:u9","targets":["ext:u8"]}\n${lines(entries)}`,
  ],
  ['a JSON array', JSON.stringify(entries, null, 2)],
])('%s is sent in order and answered with every target once', async (_, text) => {
  const service = await serveSandbox({ kind: 'empty' });
  const { code, out } = await run(['follow', 'bulk', '--file', file(text), '--json'], { env: service.envA });
  expect(code).toBe(0);
  const result = JSON.parse(out);
  expect(result).toMatchObject({ entries: 3, follows: 2, unfollows: 1, requests: 1, targets: 3 });
  expect(
    result.targetProfiles.map(
      (one: { addresses: string[]; externalId?: string }) => one.addresses[0] ?? one.externalId,
    ),
  ).toEqual([wallet, other, 'u1']);
  expect(await graph(service)).toHaveLength(2);
});

test('stdin works, and its undo file reverses everything, last first', async () => {
  const service = await serveSandbox({ kind: 'empty' });
  const data = temporaryFolder();
  const env = { ...service.envA, SOTRA_DATA_DIR: data };
  const { undoFile } = await runJson('follow bulk --file -', { env, stdin: lines(entries) });
  expect(undoFile.startsWith(join(data, 'undo', 'stdin-'))).toBe(true);
  expect(readFileSync(undoFile, 'utf8')).toBe(
    `{"addressOrUid":"ext:u1","targets":["${other}"],"targetType":"addressOrUid","action":"follow"}\n` +
      '{"addressOrUid":"ext:u2","targets":["ext:u1"],"action":"unfollow"}\n' +
      `{"addressOrUid":"ext:u1","targets":["${wallet}","${other}"],"action":"unfollow"}\n`,
  );
  expect(await run(`follow bulk --file ${undoFile}`, { env })).toMatchObject({ code: 0 });
  expect(await graph(service)).toEqual([]);
  expect(readdirSync(data)).toEqual(['history', 'undo']);
});

test('every bad line is reported with its number before anything is sent', async () => {
  const service = await answering({ targetProfiles: [] });
  const good = lines([entries[0]]);
  const text = `${good}not json\n[1]\n${lines([
    { targets: [wallet] },
    { addressOrUid: 'x', targets: [wallet] },
    { addressOrUid: 'ext:u1' },
    { addressOrUid: 'ext:u1', targets: [] },
    { addressOrUid: 'ext:u1', targets: [wallet, '0x1'] },
    { addressOrUid: 'ext:u1', targets: [wallet], action: 'block' },
    { addressOrUid: 'ext:u1', targets: [wallet], targetType: 'ens' },
  ])}`;
  const expected = [
    'line 2: not a JSON object on one line',
    'line 3: must be a JSON object',
    'line 4: addressOrUid is required: must be text',
    'line 5: addressOrUid "x": must be a profile UUID',
    'line 6: targets is required: must be a list',
    'line 7: targets []: must have at least 1 item',
    'line 8: targets "0x1": has 1 hex digit, 40 are needed',
    'line 9: action "block": must be one of follow, unfollow',
    'line 10: targetType "ens": must be one of addressOrUid, twitterHandle',
  ];
  const { code, out, err } = await run(['follow', 'bulk', '--file', file(text)], { env: service.env });
  expect({ code, out }).toEqual({ code: 2, out: '' });
  for (const line of expected) expect(err).toContain(`warning: ${line}`);
  expect(err).toContain('(and 8 more); nothing was sent');
  const asJson = await run(['follow', 'bulk', '--file', file(text), '--json'], { env: service.env });
  const { error } = JSON.parse(asJson.err);
  expect(error).toMatchObject({ code: 'usage', exitCode: 2, details: { rejectedCount: 9 } });
  expect(error.details.rejected[1]).toEqual({ line: 3, reason: 'must be a JSON object' });
  expect(service.requests).toEqual([]);
});

test.each([
  ['a misspelled field', { addressOrUid: 'ext:u1', targets: [wallet], actoin: 'unfollow' }, 'actoin: no such field'],
  [
    'the follower itself',
    { addressOrUid: wallet, targets: [wallet.toUpperCase().replace('0X', '0x')] },
    'a profile cannot follow itself',
  ],
  [
    'a Twitter handle that is none',
    { addressOrUid: 'ext:u1', targets: ['no spaces'], targetType: 'twitterHandle' },
    'must be a Twitter handle',
  ],
  [
    'a larger entry than a line may be',
    { addressOrUid: 'ext:u1', targets: Array.from({ length: 30_000 }, () => wallet) },
    'larger than 1 MB: split its targets',
  ],
])('an entry with %s is refused by its place in the array', async (_, entry, message) => {
  const service = await answering({ targetProfiles: [] });
  const text = JSON.stringify([entries[0], entry]);
  const { code, err } = await run('follow bulk --file -', { env: service.env, stdin: text });
  expect(code).toBe(2);
  expect(err).toContain('stdin entry 2: ');
  expect(err).toContain(message);
  expect(service.requests).toEqual([]);
});

test('many entries go in requests of at most 1000 entries and 4 MB, in order', async () => {
  const service = await answering({ targetProfiles: [] });
  const many = Array.from({ length: 2500 }, (_, place) => ({ addressOrUid: `ext:u${place}`, targets: [wallet] }));
  const { code, err } = await run('follow bulk --file -', { env: service.env, stdin: lines(many) });
  expect(code).toBe(0);
  const bodies = service.requests.map(({ body }) => JSON.parse(body));
  expect(bodies.map((body) => body.length)).toEqual([1000, 1000, 500]);
  expect(bodies.flat()).toEqual(many);
  expect(err).toContain('sent 2,500 of 2,500 entries');
  const wide = Array.from({ length: size(6, 12) }, (_, place) => ({
    addressOrUid: `ext:u${place}`,
    targets: Array.from({ length: 20_000 }, () => wallet),
  }));
  await run('follow bulk --file -', { env: service.env, stdin: lines(wide) });
  const wideBodies = service.requests.slice(3).map(({ body }) => body);
  expect(wideBodies.flatMap((body) => JSON.parse(body))).toEqual(wide);
  expect(Math.max(...wideBodies.map((body) => body.length))).toBeLessThanOrEqual(4 * 1024 * 1024);
});

test('--dry-run shows the first request, says how many there would be, and leaves nothing behind', async () => {
  const service = await answering({ targetProfiles: [] });
  const data = temporaryFolder();
  const many = Array.from({ length: 2001 }, (_, place) => ({ addressOrUid: `ext:u${place}`, targets: [wallet] }));
  const { code, out, err } = await run('follow bulk --file - --dry-run', {
    env: { ...service.env, SOTRA_DATA_DIR: data },
    stdin: lines(many),
  });
  expect(code).toBe(0);
  expect(out).toContain(`POST ${service.url}/v1/addresses/follow/bulk\n`);
  expect(JSON.parse(out.trim().split('\n').at(-1) ?? '')).toHaveLength(1000);
  expect(err).toContain('2,001 entries would go in 3 requests; this is the first.');
  expect([service.requests, readdirSync(data)]).toEqual([[], []]);
});

test('a failure in the middle says which lines are applied; --from-line continues, the undo files reverse everything', async () => {
  const service = await serveSandbox({ kind: 'empty' });
  const data = temporaryFolder();
  const env = { ...service.envA, SOTRA_DATA_DIR: data };
  const many: { addressOrUid: string; targets: string[] }[] = Array.from({ length: 2500 }, (_, place) => ({
    addressOrUid: `ext:u${place}`,
    targets: [wallet],
  }));
  many[1200] = { addressOrUid: 'ext:u1200', targets: ['3f0c1f5e-6a53-4d0c-9e57-0d4b1c2f7a11'] };
  const path = file(lines(many));
  const { code, out, err } = await run(['follow', 'bulk', '--file', path, '--json'], { env });
  expect({ code, out }).toEqual({ code: 10, out: '' });
  const { error } = JSON.parse(err);
  expect(error).toMatchObject({
    code: 'partial',
    status: 404,
    details: { appliedThrough: 1000, failedFrom: 1001, failedTo: 2000, mayBeApplied: false },
  });
  expect(error.message).toContain('lines 1 to 1000 are applied; line 1001 and later are not applied');
  expect(error.hint).toContain(`Continue with sotra follow bulk --file ${path} --from-line 1001`);
  expect(await graph(service)).toHaveLength(1000);
  const first = error.details.undoFile;
  expect(readFileSync(first, 'utf8').split('\n')).toHaveLength(1001);
  expect(readFileSync(first, 'utf8').startsWith('{"addressOrUid":"ext:u999"')).toBe(true);
  many[1200] = { addressOrUid: 'ext:u1200', targets: [other] };
  writeFileSync(path, lines(many));
  const rest = await run(['follow', 'bulk', '--file', path, '--from-line', '1001', '--json'], { env });
  expect(rest.code).toBe(0);
  expect(JSON.parse(rest.out)).toMatchObject({ entries: 1500, requests: 2 });
  expect(await graph(service)).toHaveLength(2500);
  for (const undo of [JSON.parse(rest.out).undoFile, first])
    expect(await run(['follow', 'bulk', '--file', undo], { env })).toMatchObject({ code: 0 });
  expect(await graph(service)).toEqual([]);
});

test('a request whose answer never came may be applied: the error says so, and its reversal is kept', async () => {
  const service = await stub((_, response, count) => {
    if (count === 1) response.end('{"targetProfiles":[]}');
    else response.writeHead(502).end('{"error":"gone"}');
  });
  const data = temporaryFolder();
  const many = Array.from({ length: 1500 }, (_, place) => ({ addressOrUid: `ext:u${place}`, targets: [wallet] }));
  const { code, err } = await run('follow bulk --file - --json', {
    env: { ...service.env, SOTRA_DATA_DIR: data },
    stdin: lines(many),
  });
  expect(code).toBe(10);
  const { error } = JSON.parse(err);
  expect(error.message).toContain('lines 1 to 1000 are applied; lines 1001 to 1500 may or may not be applied');
  expect(readFileSync(error.details.undoFile, 'utf8').split('\n')).toHaveLength(1501);
  expect(service.requests).toHaveLength(2);
});

test('when the first request is refused its own error is printed and no undo file is left', async () => {
  const service = await serveSandbox({ kind: 'empty' });
  const data = temporaryFolder();
  const stdin = lines([{ addressOrUid: 'ext:u1', targets: ['nobody_has_it'], targetType: 'twitterHandle' }]);
  const { code, err } = await run('follow bulk --file -', { env: { ...service.envA, SOTRA_DATA_DIR: data }, stdin });
  expect(code).toBe(5);
  expect(err).toContain('targets nobody_has_it: no profile has this Twitter handle');
  expect(err).toContain('nothing is applied');
  expect(readdirSync(join(data, 'undo'))).toEqual([]);
});

test('--undo-file names the place, and a file that is there is left alone', async () => {
  const service = await serveSandbox({ kind: 'empty' });
  const undo = join(temporaryFolder(), 'back.ndjson');
  const argv = ['follow', 'bulk', '--file', file(lines(entries)), '--undo-file', undo];
  expect(await run(argv, { env: service.envA })).toMatchObject({ code: 0, out: expect.stringContaining(undo) });
  const text = readFileSync(undo, 'utf8');
  expect(await run(argv, { env: service.envA })).toEqual(failure(2, `--undo-file ${undo}: already exists`));
  expect(readFileSync(undo, 'utf8')).toBe(text);
  const nowhere = join(undo, 'below', 'x.ndjson');
  const impossible = await run(['follow', 'bulk', '--file', file(lines(entries)), '--undo-file', nowhere], {
    env: service.envA,
  });
  expect(impossible).toEqual(failure(3, 'cannot write the undo file'));
  expect(existsSync(nowhere)).toBe(false);
});

test('an empty list is done at once', async () => {
  const service = await answering({});
  for (const stdin of ['', '\n\n', '[]']) {
    const { code, out, err } = await run('follow bulk --file - --json', { env: service.env, stdin });
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ entries: 0, requests: 0, targetProfiles: [], undoFile: null });
    expect(err).toContain('No entries');
  }
  expect(service.requests).toEqual([]);
});

test('Twitter handles are found with or without the at sign, whatever their case', async () => {
  const service = await serveSandbox();
  const body = JSON.stringify([
    { addressOrUid: 'ext:u1', targets: ['@JunHalv', 'tamarind_nope'], targetType: 'twitterHandle', action: 'follow' },
  ]);
  const missing = await ask(service, 'POST', '/v1/addresses/follow/bulk', { body });
  expect(missing).toEqual({
    status: 404,
    body: { error: 'targets tamarind_nope: no profile has this Twitter handle' },
  });
  const good = JSON.stringify([
    { addressOrUid: 'ext:u1', targets: ['@JunHalv', 'junhalv'], targetType: 'twitterHandle' },
  ]);
  const { status, body: answer } = await ask(service, 'POST', '/v1/addresses/follow/bulk', { body: good });
  expect(status).toBe(200);
  expect(answer).toMatchObject({ targetProfiles: [{ metadata: { twitterHandle: 'junhalv' } }] });
  expect(await ask(service, 'GET', '/v1/addresses/ext%3Au1/follows')).toMatchObject({
    body: { items: [{ metadata: { twitterHandle: 'junhalv' } }] },
  });
});

test('--report of follow bulk says of each entry what became of it', async () => {
  const { env } = await stub(({ method, body }, response) => {
    const isSecond = body.includes('ext:1500"');
    response.writeHead(isSecond ? 400 : 200, {
      'content-type': 'application/json',
      'x-request-id': `${method}-${isSecond ? 2 : 1}`,
    });
    response.end(isSecond ? '{"error":"no"}' : '{"targetProfiles":[]}');
  });
  const folder = temporaryFolder();
  const [list, report] = [join(folder, 'list.ndjson'), join(folder, 'report.ndjson')];
  const entry = (index: number) => `{"addressOrUid":"ext:${index}","targets":["ext:a"]}\n`;
  writeFileSync(list, Array.from({ length: 2500 }, (_, index) => entry(index)).join(''));
  expect(
    (await run(`follow bulk --file ${list} --report ${report}`, { env: { ...env, SOTRA_DATA_DIR: folder } })).code,
  ).toBe(10);
  const lines = readFileSync(report, 'utf8').trim().split('\n');
  const partly = lines.map((line) => JSON.parse(line));
  expect([partly[0], partly[1500], partly[2400], partly.length]).toEqual([
    { line: 1, addressOrUid: 'ext:0', targets: ['ext:a'], request: 1, status: 'applied', requestId: 'POST-1' },
    {
      line: 1501,
      addressOrUid: 'ext:1500',
      targets: ['ext:a'],
      request: 2,
      status: 'failed',
      requestId: 'POST-2',
      error: 'bad-request',
    },
    { line: 2401, addressOrUid: 'ext:2400', targets: ['ext:a'], request: 3, status: 'not-sent', requestId: null },
    2500,
  ]);
});

test('--report replaces a file only with --yes', async () => {
  const service = await answering({ targetProfiles: [] });
  const [list, report] = [file(lines(entries)), file('kept\n', 'report.ndjson')];
  const send = (...more: string[]) =>
    run(['follow', 'bulk', '--file', list, '--report', report, ...more], { env: service.env });
  expect(await send()).toEqual(failure(2, `replace ${report} (--report)`));
  expect([readFileSync(report, 'utf8'), service.requests]).toEqual(['kept\n', []]);
  expect((await send('--yes')).code).toBe(0);
  expect(readFileSync(report, 'utf8')).toContain('"status":"applied"');
});
