import { readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { answering, run, stub, temporaryFolder } from '../../support/harness.ts';

const wallet = '0xb7b6f3cea3f66bf525f5d8f965f6dbf6d9b017b2';
const uid = '2f1d3c5e-7a90-4b8c-9d6e-0f1a2b3c4d5e';

test('what was recorded is answered again without network, key or base URL, whatever the method', async () => {
  const folder = join(temporaryFolder(), 'recorded.har');
  const env = { SOTRA_DATA_DIR: temporaryFolder() };
  const lines = [
    'leaderboard list --limit 3',
    'leaderboard list --limit 3 --format csv',
    `profile positions ${wallet} closed --all --limit 2 --json`,
    `follow add ${wallet} ext:2 --json`,
    `profile set-name ${wallet} --name moon_cat --json`,
    `profile delete-name ${wallet} --yes --json`,
    'request GET /v2/leaderboard?limit=2 --paginate',
    'request POST /v1/nothing --data {"b":1,"a":2} --json',
  ];
  for (const line of lines) {
    const there = await run(`--sandbox ${line} --record ${folder}`, { env });
    const again = await run(`${line} --replay ${folder}`);
    // What is replayed is not in the log, which `why` reads.
    const err = there.err.replace(/"hint":"sotra why [^"]*"/, '"hint":null');
    expect([line, again.code, again.out, again.err]).toEqual([line, there.code, there.out, err]);
  }
  expect(statSync(folder).mode & 0o777).toBe(0o600);
  const { log } = JSON.parse(readFileSync(folder, 'utf8'));
  expect(log.entries[0]).toMatchObject({ request: { method: 'GET' }, _sotra: { attempt: 1 } });
});

test('an upload with its webhook, and a signed comment, are replayed; no key, secret or signature is in the recording', async () => {
  const folder = join(temporaryFolder(), 'recorded.har');
  const secret = 'whsec_abcdefgh12345678';
  const made = { uid, destinationUrl: 'http://127.0.0.1:9/hook', secret };
  const service = await stub(({ method, url }, response) => {
    if (url === '/v1/swap-comments')
      return response.end(JSON.stringify({ uid, signature: '0x1111aaaa', echo: 'sk-very-secret' }));
    return response.end(JSON.stringify(method === 'GET' ? [] : made));
  });
  const env = { ...service.env, SOTRA_API_KEY: 'sk-very-secret' };
  const wallets = Array.from({ length: 2500 }, (_, index) => `0x${String(index + 1).padStart(40, '0')}`).join('\n');
  const register = 'webhook register --url http://127.0.0.1:9/hook --file - --json';
  const there = await run(`${register} --record ${folder}`, { env, stdin: wallets });
  const again = await run(`${register} --replay ${folder}`, { stdin: wallets });
  expect([there.code, again.code]).toEqual([0, 0]);
  expect(JSON.parse(again.out)).toMatchObject({ uid, addresses: 2500, chunks: 3 });
  expect([JSON.parse(again.out).secret, again.err]).toEqual([
    undefined,
    `warning: a recording does not hold the secret of webhook ${uid}\n`,
  ]);
  const add = `webhook add-addresses ${uid} --file - --json`;
  await run(`${add} --record ${folder}`, { env, stdin: wallets });
  expect(await run(`${add} --replay ${folder}`, { stdin: wallets })).toMatchObject({ code: 0, err: '' });
  const file = join(temporaryFolder(), 'hook.secret');
  const asked = await run(`${register} --replay ${folder} --secret-file ${file}`, { stdin: wallets });
  expect([asked.code, asked.err]).toEqual([0, expect.stringContaining(`nothing is written to ${file}`)]);
  const listening = await run(`webhook verify --secret-file ${file} --header t=1`, { stdin: '{}' });
  expect([listening.code, listening.err]).toEqual([3, expect.stringContaining(file)]);
  writeFileSync(file, '***\n');
  const hidden = await run(`webhook verify --secret-file ${file} --header t=1`, { stdin: '{}' });
  expect([hidden.code, hidden.err]).toEqual([3, expect.stringContaining('holds *** in place of a secret')]);
  const post = (signature: string) => ['request', 'POST', '/v1/swap-comments', '--data', JSON.stringify({ signature })];
  await run([...post('0x2222bbbb'), '--record', folder], { env });
  const posted = await run([...post('0x3333cccc'), '--replay', folder]);
  expect(posted).toMatchObject({ code: 0, out: expect.stringContaining(uid) });
  expect(readFileSync(folder, 'utf8')).not.toMatch(/very-secret|abcdefgh12345678|1111aaaa|2222bbbb/);
});

test('the query may be in another order, and numbers and bodies that are no JSON stay as they came', async () => {
  const folder = join(temporaryFolder(), 'recorded.har');
  const bodies = ['{"n": 12345678901234567890}', '{"n":2}', 'sorry'];
  const service = await stub((_, response, count) => response.end(bodies[count - 1]));
  const ask = (how: string) => run(`request GET /v1/x?b=2&a=1 ${how}`, { env: service.env });
  const there = [];
  for (const _ of bodies) there.push(await ask(`--record ${folder}`));
  const again = await run(`request GET /v1/x?a=1&b=2 --replay ${folder} --base-url https://elsewhere.example`);
  expect(again).toEqual(there[0]);
  expect(service.requests.length).toBe(3);
});

test('a request that was not recorded is an error that names the nearest one', async () => {
  const folder = join(temporaryFolder(), 'recorded.har');
  await run(`--sandbox leaderboard list --limit 3 --record ${folder}`);
  await run(['--sandbox', 'request', 'POST', '/v1/x', '--data', '{"a":1}', '--record', folder]);
  const other = await run(`leaderboard list --limit 4 --replay ${folder} --json`);
  expect([other.code, other.out]).toEqual([3, '']);
  expect(JSON.parse(other.err).error).toMatchObject({
    code: 'not-recorded',
    message: `GET /v2/leaderboard?limit=4 is not in the recording ${folder}; the nearest is GET /v2/leaderboard?limit=3`,
  });
  const body = await run(['request', 'POST', '/v1/x', '--data', '{"a":2}', '--replay', folder]);
  expect(body.err).toContain('the nearest is the same with another body');
});

test('archives of --trace-file and of browsers are replayed', async () => {
  const folder = temporaryFolder();
  const ours = join(folder, 'ours.har');
  const there = await run(`--sandbox leaderboard list --limit 3 --trace-file ${ours}`);
  expect((await run(`leaderboard list --limit 3 --replay ${ours}`)).out).toBe(there.out);
  const text = Buffer.from('{"traders":[]}').toString('base64');
  const entry = (method: string, url: string, content: object, status = 200) => ({
    request: { method, url, headers: [], queryString: [] },
    response: {
      status,
      headers: [
        { name: 'Content-Encoding', value: 'gzip' },
        { name: ':status', value: '200' },
      ],
      content,
    },
  });
  const entries = [
    entry('GET', 'https://pictures.example/logo.png', { mimeType: 'image/png' }),
    entry('GET', 'https://social.example/api/v2/leaderboard?limit=3', {}, 0),
    entry('GET', 'https://social.example/api/v2/leaderboard?limit=3', { text, encoding: 'base64' }),
  ];
  const theirs = join(folder, 'theirs.har');
  writeFileSync(theirs, `\uFEFF${JSON.stringify({ log: { version: '1.2', pages: [], entries } })}`);
  const { code, out } = await run(`leaderboard list --limit 3 --json --replay ${theirs}`);
  expect([code, JSON.parse(out)]).toEqual([0, { traders: [] }]);
});

test('a call of the history is replayed; processes share a recording', async () => {
  const env = { SOTRA_DATA_DIR: temporaryFolder() };
  const there = await run('--sandbox leaderboard list --limit 3', { env });
  const one = join(temporaryFolder(), 'one.har');
  writeFileSync(one, (await run('history show 1 --har', { env })).out);
  expect((await run(`leaderboard list --limit 3 --replay ${one}`)).out).toBe(there.out);
  const both = join(temporaryFolder(), 'both.har');
  const lines = [1, 2, 3, 4].map((limit) => `leaderboard list --limit ${limit}`);
  await Promise.all(lines.map((line) => run(`--sandbox ${line} --record ${both}`)));
  for (const line of lines) expect((await run(`${line} --replay ${both}`)).code).toBe(0);
});

test('recordings that are none or too large, files that cannot be written and both flags at once are refused', async () => {
  const folder = temporaryFolder();
  const file = join(folder, 'file');
  writeFileSync(file, '{}');
  const [empty, damaged, huge] = [join(folder, 'empty'), join(folder, 'damaged'), join(folder, 'huge')];
  writeFileSync(empty, '{"log":{"entries":[]}}');
  writeFileSync(damaged, '{"log":{"entries":[{"request":');
  writeFileSync(huge, '{"log":');
  truncateSync(huge, 300 * 1024 * 1024);
  for (const [flags, code, why] of [
    [`--replay ${join(folder, 'none')}`, 3, 'there is no such file'],
    [`--replay ${folder}`, 3, 'is a folder: a recording is one file (HAR)'],
    [`--replay ${file}`, 3, 'is not an HTTP archive (HAR)'],
    [`--replay ${empty}`, 3, 'holds no answer'],
    [`--replay ${damaged}`, 3, 'is not an HTTP archive (HAR)'],
    [`--replay ${huge}`, 3, 'is a file of 300 MB, and at most 64 MB are read'],
    [`--record ${join(file, 'below')} --sandbox`, 3, '--record'],
    ['--record no-such-folder/x.har --sandbox', 3, '--record no-such-folder/x.har: there is no folder no-such-folder'],
    [`--record ${file} --sandbox`, 3, 'is not a file that --record wrote'],
    [`--record ${damaged} --sandbox`, 3, 'is not a file that --record wrote'],
    [`--record ${folder} --sandbox`, 3, 'is a folder, not a regular file'],
    [`--record ${file}.a --trace-file ${file}.b`, 2, '--trace-file is the same flag as --record'],
    [`--record ${folder} --replay ${folder}`, 2, '--record and --replay contradict each other'],
  ] as const) {
    const outcome = await run(`leaderboard list ${flags}`);
    expect([flags, outcome.code, outcome.err]).toEqual([flags, code, expect.stringContaining(why)]);
  }
  const service = await answering({ traders: [] });
  expect((await run(`doctor --replay ${folder}`, { env: service.env })).code).toBe(2);
  expect(service.requests).toEqual([]);
});

/** Every file below a folder with its content. */
function snapshot(folder: string): Record<string, string> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return Object.fromEntries(
    files.map(({ parentPath, name }) => [join(parentPath, name), readFileSync(join(parentPath, name), 'latin1')]),
  );
}

test('under --replay nothing that this machine keeps of a service is read or changed, whoever made the recording', async () => {
  const temporary = temporaryFolder();
  vi.stubEnv('TMPDIR', temporary);
  onTestFinished(() => void vi.unstubAllEnvs());
  const folder = temporaryFolder();
  const recorded = join(temporaryFolder(), 'recorded.har');
  const hook = 'http://127.0.0.1:9/hook';
  const attacker = await stub(({ method, url }, response) => {
    const bob = { profile: { name: 'bob', addresses: [`0x${'f'.repeat(40)}`] } };
    if (url.startsWith('/v2')) return response.end(JSON.stringify({ traders: [bob] }));
    if (url.startsWith('/v1/feed')) return response.end(JSON.stringify({ items: [], pagination: {} }));
    return response.end(
      JSON.stringify(method === 'GET' ? [] : { uid, destinationUrl: hook, secret: 'of-the-attacker-4711' }),
    );
  });
  const lines = [
    'leaderboard list',
    `webhook register --url ${hook} --wallet-addresses ${wallet}`,
    `webhook add-addresses ${uid} --wallet-addresses ${wallet}`,
    `feed actor ${wallet} --all`,
    `comment copy 2f991d88-4e6a-54f7-b130-a9788a9a06ab --token ${wallet} --chain base --actor-address ${wallet}`,
    `profile get ${wallet}`,
  ];
  const theirs = { ...attacker.env, SOTRA_DATA_DIR: temporaryFolder() };
  for (const line of lines) await run(`${line} --record ${recorded}`, { env: theirs });
  // The secret is masked by us; whoever forges a recording writes what he likes.
  const forged = '\\"secret\\":\\"of-the-attacker-4711\\"';
  writeFileSync(recorded, readFileSync(recorded, 'utf8').replaceAll('\\"secret\\":\\"***\\"', forged));
  expect(readFileSync(recorded, 'utf8')).toContain('attacker-4711');
  const own = { SOTRA_BASE_URL: attacker.url, SOTRA_API_KEY: 'k-1', SOTRA_DATA_DIR: folder, SOTRA_CONFIG_DIR: folder };
  await run('leaderboard list', { env: own, tty: 100 });
  await run(`webhook register --url ${hook}/own --wallet-addresses ${wallet}`, { env: own });
  const before = snapshot(folder);
  for (const line of lines) {
    const { code, err } = await run(`${line} --replay ${recorded}`, { env: own, tty: 100 });
    // Some answers are too poor for their tables.
    expect([line, [0, 13].includes(code), err.includes('bob is')]).toEqual([line, true, false]);
    expect(snapshot(folder)).toEqual(before);
  }
  expect((await run(`webhook secret ${uid} --out ${folder}/s`, { env: own })).out).not.toContain('attacker');
  const jobs = JSON.parse((await run(`webhook jobs --json`, { env: own })).out);
  expect(jobs).toMatchObject([{ destinationUrl: hook }]);
  const login = await run(
    `auth login --context own --with-key --store file --offline --base-url ${attacker.url} --replay ${recorded}`,
    { env: own, stdin: 'k-2' },
  );
  expect([login.code, login.err]).toEqual([2, expect.stringContaining('--replay')]);
  expect(readdirSync(temporary).filter((name) => name.startsWith('sotra-replay-'))).toEqual([]);
});
