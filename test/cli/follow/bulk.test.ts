import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { answering, failure, run, runJson, stub, temporaryFolder } from '../../support/harness.ts';
import { ask, type SandboxServer, serveSandbox } from '../../support/served.ts';
import { size } from '../../support/size.ts';

const wallet = '0xa4e221aa5a7ba51b5d5c7d5c923bfb9bcebcb252';
const other = '0x5180db8f5c931aae63c74266b211f580155ecac8';
const lines = (entries: readonly unknown[]) => entries.map((entry) => `${JSON.stringify(entry)}\n`).join('');

const followers = (count: number, ...targets: string[]) =>
  Array.from({ length: count }, (_, place) => ({ addressOrUid: `ext:u${place}`, targets }));

function file(text: string): string {
  const path = join(temporaryFolder(), 'friends.ndjson');
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
  ['NDJSON of Windows, with empty lines and a mark', `\ufeff\n${lines(entries).replaceAll('\n', '\r\n\r\n')}`],
  ['NDJSON with comments, one cut off', `# mine\n   #"addressOrUid":"ext:u1","tar    \n${lines(entries)}`],
  ['a JSON array', JSON.stringify(entries, null, 2)],
])('%s is sent in order and answered with every target once', async (_, text) => {
  const service = await serveSandbox({ kind: 'empty' });
  const result = await runJson(['follow', 'bulk', '--file', file(text)], { env: service.envA });
  expect(result).toMatchObject({ entries: 3, follows: 2, unfollows: 1, requests: 1, targets: 3 });
  const profiles = [{ addresses: [wallet] }, { addresses: [other] }, { externalId: 'u1' }];
  expect(result.targetProfiles).toMatchObject(profiles);
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
  const [follow] = followers(1, wallet);
  const text = `${good}not json\n[1]\n${lines([
    { targets: [wallet] },
    { ...follow, addressOrUid: 'x' },
    { addressOrUid: 'ext:u1' },
    { ...follow, targets: [] },
    { ...follow, targets: [wallet, '0x1'] },
    { ...follow, action: 'block' },
    { ...follow, targetType: 'ens' },
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
  const refused = await run(['follow', 'bulk', '--file', file(text)], { env: service.env });
  expect(refused).toEqual(failure(2, '(and 8 more); nothing was sent'));
  for (const line of expected) expect(refused.err).toContain(`warning: ${line}`);
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
  const many = followers(2500, wallet);
  const { err } = await run('follow bulk --file -', { env: service.env, stdin: lines(many) });
  const bodies = service.requests.map(({ body }) => JSON.parse(body));
  expect(bodies.map((body) => body.length)).toEqual([1000, 1000, 500]);
  expect(bodies.flat()).toEqual(many);
  expect(err).toContain('sent 2,500 of 2,500 entries');
  const wide = followers(size(6, 12), ...Array<string>(20_000).fill(wallet));
  await run('follow bulk --file -', { env: service.env, stdin: lines(wide) });
  const wideBodies = service.requests.slice(3).map(({ body }) => body);
  expect(wideBodies.flatMap((body) => JSON.parse(body))).toEqual(wide);
  expect(Math.max(...wideBodies.map((body) => body.length))).toBeLessThanOrEqual(4 * 1024 * 1024);
});

test('--dry-run shows the first request, says how many there would be, and leaves nothing behind', async () => {
  const service = await answering({ targetProfiles: [] });
  const env = { ...service.env, SOTRA_DATA_DIR: temporaryFolder() };
  const { out, err } = await run('follow bulk --file - --dry-run', { env, stdin: lines(followers(2001, wallet)) });
  expect(out).toContain(`POST ${service.url}/v1/addresses/follow/bulk\n`);
  expect(JSON.parse(out.trim().split('\n').at(-1) ?? '')).toHaveLength(1000);
  expect(err).toContain('2,001 entries would go in 3 requests; this is the first.');
  expect([service.requests, readdirSync(env.SOTRA_DATA_DIR)]).toEqual([[], []]);
});

test('a failure in the middle says which lines are applied; --from-line continues, the undo files reverse everything', async () => {
  const service = await serveSandbox({ kind: 'empty' });
  const env = { ...service.envA, SOTRA_DATA_DIR: temporaryFolder() };
  const many = followers(2500, wallet);
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
  const rest = await runJson(`follow bulk --file ${path} --from-line 1001`, { env });
  expect(rest).toMatchObject({ entries: 1500, requests: 2 });
  expect(await graph(service)).toHaveLength(2500);
  for (const undo of [rest.undoFile, first])
    expect(await run(['follow', 'bulk', '--file', undo], { env })).toMatchObject({ code: 0 });
  expect(await graph(service)).toEqual([]);
});

test('a request whose answer never came may be applied: the error says so, and its reversal is kept', async () => {
  const service = await stub((_, response, count) => {
    if (count === 1) response.end('{"targetProfiles":[]}');
    else response.writeHead(502).end('{"error":"gone"}');
  });
  const stdin = lines(followers(1500, wallet));
  const { code, err } = await run('follow bulk --file - --json', { env: service.env, stdin });
  expect(code).toBe(10);
  const { error } = JSON.parse(err);
  expect(error.message).toContain('lines 1 to 1000 are applied; lines 1001 to 1500 may or may not be applied');
  expect(error.hint).toContain('Continue with sotra follow bulk --file=- --from-line 1001, or undo');
  expect(readFileSync(error.details.undoFile, 'utf8').split('\n')).toHaveLength(1501);
  expect(service.requests).toHaveLength(2);
});

test('when the first request is refused its own error is printed and no undo file is left', async () => {
  const service = await serveSandbox({ kind: 'empty' });
  const data = temporaryFolder();
  const stdin = lines([{ addressOrUid: 'ext:u1', targets: ['nobody_has_it'], targetType: 'twitterHandle' }]);
  const refused = await run('follow bulk --file -', { env: { ...service.envA, SOTRA_DATA_DIR: data }, stdin });
  expect(refused).toEqual(failure(5, 'targets nobody_has_it: no profile has this Twitter handle'));
  expect(refused.err).toContain('nothing is applied');
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
  const own = join(undo, '..', 'own.ndjson');
  const both = await run([...argv.slice(0, -1), own, '--report', own], { env: service.envA });
  expect([both, existsSync(own)]).toEqual([failure(2, `--report and --undo-file are the same file: ${own}`), false]);
  const nowhere = join(undo, 'below', 'x.ndjson');
  const impossible = await run([...argv.slice(0, -1), nowhere], { env: service.envA });
  expect(impossible).toEqual(failure(3, 'cannot write the undo file'));
  expect(existsSync(nowhere)).toBe(false);
});

test('an empty list is done at once', async () => {
  const service = await answering({});
  for (const stdin of ['', '\n\n', '[]']) {
    const result = await runJson('follow bulk --file -', { env: service.env, stdin });
    expect(result).toMatchObject({ entries: 0, requests: 0, targetProfiles: [], undoFile: null });
  }
  expect(service.requests).toEqual([]);
});

test('Twitter handles are found with or without the at sign, whatever their case', async () => {
  const service = await serveSandbox();
  const follow = (...targets: string[]) => {
    const body = JSON.stringify([{ addressOrUid: 'ext:u1', targets, targetType: 'twitterHandle' }]);
    return ask(service, 'POST', '/v1/addresses/follow/bulk', { body });
  };
  const error = 'targets tamarind_nope: no profile has this Twitter handle';
  expect(await follow('@JunHalv', 'tamarind_nope')).toEqual({ status: 404, body: { error } });
  const found = { metadata: { twitterHandle: 'junhalv' } };
  expect(await follow('@JunHalv', 'junhalv')).toMatchObject({ status: 200, body: { targetProfiles: [found] } });
  const { body } = await ask(service, 'GET', '/v1/addresses/ext%3Au1/follows');
  expect(body).toMatchObject({ items: [found] });
});

test('--report of follow bulk says of each entry what became of it', async () => {
  const { env } = await stub(({ method, body }, response) => {
    const isSecond = body.includes('ext:u1500"');
    response.writeHead(isSecond ? 400 : 200, { 'x-request-id': `${method}-${isSecond ? 2 : 1}` });
    response.end(isSecond ? '{"error":"no"}' : '{"targetProfiles":[]}');
  });
  const report = join(temporaryFolder(), 'report.ndjson');
  const stdin = lines(followers(2500, 'ext:a'));
  expect((await run(`follow bulk --file - --report ${report}`, { env, stdin })).code).toBe(10);
  const rows = readFileSync(report, 'utf8').trim().split('\n');
  const [first, second, last] = [0, 1500, 2400].map((index) => JSON.parse(rows[index] ?? ''));
  expect(rows).toHaveLength(2500);
  const applied = { request: 1, status: 'applied', requestId: 'POST-1' };
  expect(first).toEqual({ line: 1, addressOrUid: 'ext:u0', targets: ['ext:a'], ...applied });
  const failed = { line: 1501, request: 2, status: 'failed', requestId: 'POST-2', error: 'bad-request' };
  expect(second).toMatchObject(failed);
  expect(last).toMatchObject({ line: 2401, request: 3, status: 'not-sent', requestId: null });
});
