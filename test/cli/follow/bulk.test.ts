import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { answering, run, temporaryFolder } from '../../support/harness.ts';
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
    'line 4: addressOrUid is required: must be a profile UUID',
    'line 5: addressOrUid "x": must be a profile UUID',
    'line 6: targets is required: must be an array of at least one target',
    'line 7: targets []: must be an array of at least one target',
    'line 8: targets[1] "0x1": must be a profile UUID',
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

test('a file that is missing, no file, broken or not text is refused', async () => {
  const service = await answering({ targetProfiles: [] });
  const cases = [
    ['/nowhere/friends.json', 3, 'no such file'],
    [temporaryFolder(), 2, 'not a file'],
    [file('[{"addressOrUid":"ext:u1"'), 2, 'starts with [ and is not a JSON array: Expected'],
  ] as const;
  for (const [path, code, message] of cases)
    expect(await run(['follow', 'bulk', '--file', path], { env: service.env })).toMatchObject({
      code,
      err: expect.stringContaining(message),
    });
  const binary = await run('follow bulk --file -', { env: service.env, stdin: new Uint8Array([0x7b, 0xff, 0xfe]) });
  expect(binary).toMatchObject({ code: 2, err: expect.stringContaining('stdin: line 1 is not UTF-8 text') });
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

test('--dry-run shows the first request, and says how many there would be', async () => {
  const service = await answering({ targetProfiles: [] });
  const many = Array.from({ length: 2001 }, (_, place) => ({ addressOrUid: `ext:u${place}`, targets: [wallet] }));
  const { code, out, err } = await run('follow bulk --file - --dry-run', {
    env: service.env,
    stdin: lines(many),
  });
  expect(code).toBe(0);
  expect(out).toContain(`POST ${service.url}/v1/addresses/follow/bulk\n`);
  expect(JSON.parse(out.trim().split('\n').at(-1) ?? '')).toHaveLength(1000);
  expect(err).toContain('2,001 entries would go in 3 requests; this is the first.');
  expect(service.requests).toEqual([]);
});

test('a failure in the middle says which lines are applied, and --from-line goes on', async () => {
  const service = await serveSandbox({ kind: 'empty' });
  const many: { addressOrUid: string; targets: string[] }[] = Array.from({ length: 2500 }, (_, place) => ({
    addressOrUid: `ext:u${place}`,
    targets: [wallet],
  }));
  many[1200] = { addressOrUid: 'ext:u1200', targets: ['3f0c1f5e-6a53-4d0c-9e57-0d4b1c2f7a11'] };
  const path = file(lines(many));
  const { code, out, err } = await run(['follow', 'bulk', '--file', path, '--json'], { env: service.envA });
  expect({ code, out }).toEqual({ code: 10, out: '' });
  const { error } = JSON.parse(err);
  expect(error).toMatchObject({ code: 'partial', status: 404, details: { appliedThrough: 1000 } });
  expect(error.message).toContain('; the lines before line 1001 are applied');
  expect(error.hint).toContain(`Continue with sotra follow bulk --file ${path} --from-line 1001`);
  expect(await graph(service)).toHaveLength(1000);
  many[1200] = { addressOrUid: 'ext:u1200', targets: [other] };
  writeFileSync(path, lines(many));
  const rest = await run(['follow', 'bulk', '--file', path, '--from-line', '1001', '--json'], { env: service.envA });
  expect(rest.code).toBe(0);
  expect(JSON.parse(rest.out)).toMatchObject({ entries: 1500, requests: 2 });
  expect(await graph(service)).toHaveLength(2500);
});

test('when the first request is refused its own error is told', async () => {
  const service = await serveSandbox({ kind: 'empty' });
  const stdin = lines([{ addressOrUid: 'ext:u1', targets: ['nobody_has_it'], targetType: 'twitterHandle' }]);
  const { code, err } = await run('follow bulk --file -', { env: service.envA, stdin });
  expect(code).toBe(5);
  expect(err).toContain('targets nobody_has_it: no profile has this Twitter handle');
});

test('an empty list is done at once', async () => {
  const service = await answering({});
  for (const stdin of ['', '\n\n', '[]']) {
    const { code, out, err } = await run('follow bulk --file - --json', { env: service.env, stdin });
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ entries: 0, requests: 0, targetProfiles: [] });
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

test.each([
  ['an object', {}, /must be an array of \{addressOrUid, targets\}/],
  ['an entry without follower', [{ targets: [wallet] }], /\[0\]\.addressOrUid is required/],
  [
    'a wrong action',
    [entries[0], { ...entries[0], action: 'block' }],
    /\[1\]\.action "block": must be one of follow, unfollow/,
  ],
  [
    'a wrong target',
    [{ addressOrUid: 'ext:u1', targets: ['0x1'] }],
    /\[0\]\.targets\[0\] "0x1": must be a profile UUID/,
  ],
])('the sandbox answers 400 to %s, naming the field, and applies nothing', async (_, body, message) => {
  const service = await serveSandbox({ kind: 'empty' });
  const reply = await ask(service, 'POST', '/v1/addresses/follow/bulk', { body: JSON.stringify(body) });
  expect(reply).toEqual({ status: 400, body: { error: expect.stringMatching(message) } });
  expect(await graph(service)).toEqual([]);
});
