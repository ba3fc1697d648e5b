import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openPort, run, type Script, stub, temporaryFolder } from '../support/harness.ts';

const trader = '0x8c77b2f3a4d5e6f708192a3b4c5d6e7f80910203';

/** What one command line and then `sotra why` say, of a user of its own. */
async function failing(argv: string, env: Record<string, string> = {}) {
  const folder = temporaryFolder();
  const own = { SOTRA_CONFIG_DIR: join(folder, 'config'), SOTRA_DATA_DIR: join(folder, 'data'), ...env };
  const failed = await run(argv, { env: own, skipWaits: true });
  const asked = await run('why --json', { env: own });
  return { failed, why: asked.code === 0 ? JSON.parse(asked.out) : asked, env: own };
}

const answer =
  (status: number, body: unknown, headers: Record<string, string> = {}): Script =>
  (_, response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  };

/** Fails once with a status, then succeeds. */
const answerOnce =
  (status: number): Script =>
  (_, response, count) =>
    response.writeHead(count === 1 ? status : 200).end('{"traders":[]}');

const board = 'leaderboard list --retries 0';
const post =
  'comment post --chain base --tx 0x9576f0179c8926aea242fafa7ce61677196cef975f2793ec0b2988ca8a74cdd0 --token 0x940181a94a35a4569e4529a3cdfb74e38fd98631 --text gm --service-name Clicker --signature 0xd295006801756382610ed2ad14fdab264e0d366423790afa93134a437ff8a5543a335a95eebfef1dca0dc26ae12b9a8bef546f5d21ba94b1eda165bd5644b2901c --signer 0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf --yes';

interface Failure {
  what: string;
  argv?: string;
  script: Script;
  code: number;
  rule: string | RegExp;
  next?: string;
}

const failures: readonly Failure[] = [
  {
    what: 'a key that the service does not know',
    script: answer(401, { error: 'unknown key' }),
    code: 4,
    rule: /^http:\/\/127\.0\.0\.1:\d+ does not know the key \.\.\.-key from SOTRA_API_KEY: "unknown key"\.$/,
    next: 'sotra auth status',
  },
  {
    what: 'a key that is of another sandbox',
    script: answer(401, { error: 'unknown key' }),
    code: 4,
    rule: /^http:\/\/127\.0\.0\.1:\d+ does not know the key/,
    next: 'If it is a sandbox: SOTRA_API_KEY=sandbox-key-a',
  },
  {
    what: 'a key that may not do this',
    script: answer(403, { error: 'read only' }),
    code: 4,
    rule: 'The key is not allowed to do this: "read only".',
    next: 'sotra auth status',
  },
  {
    what: 'an id that the service does not know',
    argv: `profile get ${trader} --retries 0`,
    script: answer(404, { error: 'profile not found' }),
    code: 5,
    rule: `The service knows no identifier ${trader}: "profile not found".`,
    next: 'Check it for a typo. Ids of one service mean nothing to another.',
  },
  {
    what: 'a path that the interface does not have',
    argv: 'request GET /v2/leaderbord',
    script: answer(404, { error: 'no route' }),
    code: 5,
    rule: 'The interface has no GET /v2/leaderbord; the nearest is GET /v2/leaderboard.',
    next: 'sotra openapi',
  },
  {
    what: 'a web server in place of the service',
    script: answer(404, '<html><title>Not here</title></html>', { 'content-type': 'text/html' }),
    code: 5,
    rule: 'A web server answered, not the service: the base URL is another.',
    next: 'sotra context show',
  },
  {
    what: 'a value that the interface does not allow',
    argv: 'request GET /v2/leaderboard?limit=500',
    script: answer(400, { error: 'invalid query' }),
    code: 6,
    rule: 'The service refused limit 500: must be a whole number from 1 to 250. It said: "invalid query".',
    next: 'sotra leaderboard list --help',
  },
  {
    what: 'a parameter that the service names',
    argv: 'leaderboard list --timeframe 7d --retries 0',
    script: answer(400, { error: 'timeframe is not supported here' }),
    code: 6,
    rule: 'The service refused the input: "timeframe is not supported here" (timeframe was "7d").',
    next: 'sotra leaderboard list --help',
  },
  {
    what: 'a signature that is not accepted',
    argv: post,
    script: answer(400, { error: 'signature does not match signerAddress' }),
    code: 6,
    rule: 'The service refused the signature: "signature does not match signerAddress". It was made over the layout five-line, beginning " Swap Comment:".',
    next: "sotra context set '<name>' --layout blank-line",
  },
  {
    what: 'a name that is taken',
    argv: `profile set-name ${trader} --name alice`,
    script: answer(409, { error: 'name taken' }),
    code: 6,
    rule: 'What was asked for is taken or exists already: "name taken".',
  },
  {
    what: 'a method that the path does not take',
    argv: 'request POST /v2/leaderboard --data {}',
    script: answer(405, { error: 'no' }, { allow: 'GET' }),
    code: 6,
    rule: 'This path does not take POST; it takes GET.',
  },
  {
    what: 'a body that is too large',
    argv: 'request POST /v1/webhooks/feed --data {"a":1}',
    script: answer(413, { error: 'too large' }),
    code: 6,
    rule: 'The body is larger than the service takes: 7 bytes.',
    next: 'A call takes 1000 addresses at most: sotra webhook sync sends them in chunks.',
  },
  {
    what: 'a proxy that wants a password',
    script: answer(407, 'login', { 'content-type': 'text/plain' }),
    code: 6,
    rule: 'A proxy asks for a password: the service was not reached.',
  },
  {
    what: 'too many calls',
    script: answer(429, { error: 'slow down' }, { 'retry-after': '30' }),
    code: 7,
    rule: /^http:\/\/127\.0\.0\.1:\d+ takes no more calls for now\. It asks to wait 30 s\.$/,
    next: 'sotra leaderboard list --retries 0 --rate 2/s',
  },
  {
    what: 'a service that fails',
    script: answer(500, { error: 'oops' }, { 'x-request-id': 'r-17' }),
    code: 8,
    rule: 'The service failed with 500: "oops": no fault of the request.',
    next: 'Tell the operator of the service the request id r-17.',
  },
  {
    what: 'a gateway in front of a service that is down, after a write',
    argv: `profile set-name ${trader} --name alice --retries 0`,
    script: answer(502, '<html>bad gateway</html>', { 'content-type': 'text/html' }),
    code: 8,
    rule: 'A gateway in front of the service failed with 502: no fault of the request.',
    next: 'It may have been done: look before you send it again.',
  },
  {
    what: 'a connection that breaks',
    script: (_, response) => response.destroy(),
    code: 9,
    rule: /^The connection to http:\/\/127\.0\.0\.1:\d+ broke before the answer was whole\.$/,
  },
  {
    what: 'no answer in time',
    argv: `${board} --timeout 200ms`,
    script: () => undefined,
    code: 9,
    rule: /^http:\/\/127\.0\.0\.1:\d+ did not answer in time: the call ended after 0\.\d s\.$/,
    next: 'sotra leaderboard list --retries 0 --timeout 5m',
  },
  {
    what: 'a redirect to another origin',
    script: answer(302, '', { location: 'https://other.example/v2/leaderboard' }),
    code: 9,
    rule: /^http:\/\/127\.0\.0\.1:\d+ redirects to https:\/\/other\.example, and the key is sent to no other origin\.$/,
  },
  {
    what: 'a web page in place of JSON',
    script: answer(200, '<!doctype html><title>Sign in</title>', { 'content-type': 'text/html' }),
    code: 13,
    rule: 'The answer is a web page ("Sign in"): a proxy or a web server answered in place of the service.',
    next: 'sotra doctor',
  },
  {
    what: 'JSON that is cut off',
    script: answer(200, '{"traders":[{"profile":'),
    code: 13,
    rule: 'The answer ends before its JSON does.',
  },
  {
    what: 'an empty answer',
    script: answer(200, ''),
    code: 13,
    rule: 'The answer is empty, where the interface has JSON.',
  },
  {
    what: 'an answer of another shape',
    argv: `${board} --strict`,
    script: answer(200, { traders: 'none' }),
    code: 13,
    rule: 'The answer differs from the interface at traders: it should be array and is string "none".',
  },
];

test.each(failures)('why says what is behind $what', async ({ argv = board, script, code, rule, next }) => {
  const server = await stub(script);
  const { failed, why } = await failing(argv, server.env);
  expect(failed.code).toBe(code);
  if (typeof rule === 'string') expect(why.rule).toBe(rule);
  else expect(why.rule).toMatch(rule);
  if (next !== undefined) expect(why.next).toContain(next);
  expect(why).toMatchObject({
    exitCode: code,
    asked: { method: expect.any(String), url: expect.stringContaining(server.url) },
  });
  expect(why.curl).toContain('curl --silent');
});

test('why says that nothing listens at an address, and how to start a sandbox there', async () => {
  const { failed, why } = await failing(`${board} --base-url http://127.0.0.1:9`, { SOTRA_API_KEY: 'stub-key' });
  expect(failed.code).toBe(9);
  expect(why.rule).toBe('Nothing listens at http://127.0.0.1:9.');
  expect(why.next).toContain('sotra sandbox start --port 9');
});

test('why says that a server does not speak TLS', async () => {
  const server = createServer((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
  const port = await openPort(server);
  const { why } = await failing(`${board} --base-url https://127.0.0.1:${port}`, { SOTRA_API_KEY: 'stub-key' });
  expect(why.rule).toBe(`What listens at https://127.0.0.1:${port} does not speak TLS.`);
});

test('why explains commands that failed before they made a call: no key, no signing key, a signature that is wrong', async () => {
  const noKey = await failing(`${board} --base-url http://127.0.0.1:9`);
  expect([noKey.failed.code, noKey.why.rule]).toEqual([4, 'No API key for http://127.0.0.1:9.']);
  expect(noKey.why).toMatchObject({ n: null, asked: null, answered: null, curl: null });
  const sign = post
    .replace('comment post', 'comment sign')
    .replace(/ --signature .*/, ' --key-env PRIVATE_KEY --signer 0x0000000000000000000000000000000000000002');
  const unsigned = await failing(sign, { PRIVATE_KEY: `0x${'1'.padStart(64, '0')}` });
  expect(unsigned.failed.code).toBe(11);
  expect(unsigned.why).toMatchObject({
    exitCode: 11,
    code: 'signing-key',
    rule: expect.stringContaining('The key is that of 0x7E5F'),
  });
  const forged = await failing(
    post.replace('comment post', 'comment verify').replace('--text gm', '--text gn').replace(' --yes', ''),
  );
  expect(forged.failed.code).toBe(12);
  expect(forged.why.rule).toMatch(/^Over this text it is the signature of 0x\w+, not of 0x7E5F/);
});

test('why of an upload that was done in part says that the same command continues it', async () => {
  const made = { uid: '2f1d3c5e-7a90-4b8c-9d6e-0f1a2b3c4d5e', destinationUrl: 'http://127.0.0.1:9/hook', secret: 's' };
  const server = await stub(({ method }, response) => {
    if (method === 'PUT') return void response.writeHead(503).end('{"error":"busy"}');
    response.end(JSON.stringify(method === 'GET' ? [] : made));
  });
  const file = join(temporaryFolder(), 'addresses.txt');
  writeFileSync(file, Array.from({ length: 1001 }, (_, n) => `0x${String(n + 1).padStart(40, '0')}\n`).join(''));
  const { failed, why } = await failing(`webhook register --url ${made.destinationUrl} --file ${file}`, server.env);
  expect(failed.code).toBe(10);
  expect(why).toMatchObject({ exitCode: 10, rule: 'The service failed with 503: "busy": no fault of the request.' });
  expect(why.next[0]).toBe('The same command again continues what is left.');
});

test('why leaves out attempts that another followed; a call that was interrupted or killed is said to be', async () => {
  const retried = await failing(board.replace(' --retries 0', ''), (await stub(answerOnce(503))).env);
  expect([retried.failed.code, retried.why.code]).toEqual([0, 5]);
  expect((await run('why c1', { env: retried.env })).out).toContain('The service failed with 503');
  const stop = new AbortController();
  const slow = await stub(() => stop.abort());
  const folder = temporaryFolder();
  const env = { ...slow.env, SOTRA_CONFIG_DIR: folder, SOTRA_DATA_DIR: folder };
  expect((await run(board, { env, signal: stop.signal })).code).toBe(130);
  expect((await run('why', { env })).out).toContain('The command was interrupted before the answer came.');
  const [name = ''] = readdirSync(join(folder, 'history'));
  const kept = join(folder, 'history', name);
  // What a killed process leaves: the request alone.
  writeFileSync(kept, `${readFileSync(kept, 'utf8').split('\n')[0]}\n`);
  expect((await run('why 1', { env })).out).toContain('The command was killed before the answer came');
});

test('a preview that fails is explained; one that finds work to do is no failure', async () => {
  const key = { PRIVATE_KEY: `0x${'1'.padStart(64, '0')}` };
  const wrong = post.replace(
    / --signature .*/,
    ' --key-env PRIVATE_KEY --signer 0x0000000000000000000000000000000000000002',
  );
  const { failed, why } = await failing(`--sandbox ${wrong} --dry-run`, key);
  expect([failed.code, why.exitCode, why.command.endsWith('--dry-run')]).toEqual([11, 11, true]);
  const file = join(temporaryFolder(), 'addresses.txt');
  writeFileSync(file, '0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf\n');
  const sync = await failing(`--sandbox webhook sync --url http://127.0.0.1:9/hook --file ${file} --dry-run`);
  expect([sync.failed.code, sync.why.code]).toEqual([10, 5]);
});

test.each([
  ['a key that is refused', answer(401, { error: 'unknown key' }), 'was sent and refused'],
  ['a web page', answer(200, '<html></html>'), 'Check that the base URL is the service itself'],
  ['a failure without a hint', answer(500, { error: 'oops' }), ''],
])('the hint of %s names why; where the call is not in the log it does not', async (_, script, start) => {
  const { env } = await stub(script);
  const { err } = await run(board, { env });
  expect(err).toContain(start);
  expect(err).toMatch(/hint: .*\bsotra why says /);
  expect((await run(board, { env: { ...env, SOTRA_HISTORY: '0' } })).err).not.toContain('sotra why');
});

test('why names the context that a key is for, and does not show the key', async () => {
  const server = await stub(answer(401, { error: 'no' }));
  const folder = temporaryFolder();
  const env = { SOTRA_CONFIG_DIR: join(folder, 'config'), SOTRA_DATA_DIR: join(folder, 'data') };
  const typed = { env: { ...env, SOTRA_API_KEY: 'key-of-staging-7777' } };
  await run('context set staging --base-url https://staging.example', { env });
  await run('auth login --context staging --with-key --offline --store file', { env, stdin: 'key-of-staging-7777\n' });
  expect((await run(`${board} --base-url ${server.url}`, typed)).code).toBe(4);
  const { out } = await run('why', typed);
  expect(out).toContain('is the one of context staging, for https://staging.example');
  expect(out).not.toContain('key-of-staging-7777');
});

test('why names parameters without effect with the name that was meant, and fields that differ, of a call that succeeded too', async () => {
  const folder = temporaryFolder();
  const env = { SOTRA_CONFIG_DIR: join(folder, 'config'), SOTRA_DATA_DIR: join(folder, 'data') };
  await run('--sandbox request GET /v2/leaderboard?limitt=5', { env });
  const { out } = await run('why 1', { env });
  expect(out).toContain('ignored   limitt (did you mean limit?)\n');
  const trade = { profile: null, pnl: { total: '12', perChain: {} }, hasComments: true };
  const server = await stub(answer(200, { traders: [trade, trade] }));
  await run(board, { env: { ...env, ...server.env } });
  const why = JSON.parse((await run('why 1 --json', { env })).out);
  expect(why.differences).toContainEqual({
    at: 'traders[].pnl.total',
    expected: 'number',
    found: 'string "12"',
    count: 2,
  });
});

test('why says that a service gave more than was asked for, and that the clock is off', async () => {
  const server = await stub(answer(200, { traders: [] }, { date: 'Wed, 25 Nov 2026 00:00:00 GMT' }));
  const folder = temporaryFolder();
  const env = { ...server.env, SOTRA_CONFIG_DIR: join(folder, 'config'), SOTRA_DATA_DIR: join(folder, 'data') };
  await run(board, { env, now: Date.parse('2026-11-25T00:10:00Z') });
  const why = JSON.parse((await run('why 1 --json', { env })).out);
  expect(why.notes).toContain(
    "The clock of this machine is 10 minutes ahead of the service's: correct it, as signatures and times depend on it.",
  );
  const positions = await stub(answer(200, [{}, {}, {}]));
  await run(`profile positions ${trader} open --limit 2 --retries 0`, { env: { ...env, ...positions.env } });
  const ignored = JSON.parse((await run('why 1 --json', { env })).out).ignored;
  expect(ignored).toEqual([{ name: 'limit=2', meant: null }]);
});

test('what to type next names the service where --base-url chose it', async () => {
  const server = await stub(answer(403, { error: 'read only' }));
  const other = await stub(answer(200, { traders: [] }));
  const { why } = await failing(`${board} --base-url ${server.url}`, { SOTRA_API_KEY: 'k1' });
  expect(why.next).toContain(`sotra --base-url ${server.url} auth status`);
  const both = await failing(`${board} --base-url ${server.url}`, other.env);
  expect(both.why.next).toContain(`sotra --base-url ${server.url} auth status`);
  const plain = await failing(board, server.env);
  expect(plain.why.next).toContain('sotra auth status');
});

test('why says first how old the failure is that it tells, and a failed why is none', async () => {
  const folder = temporaryFolder();
  const env = { SOTRA_CONFIG_DIR: join(folder, 'config'), SOTRA_DATA_DIR: join(folder, 'data') };
  const atMs = Date.parse('2026-11-25T10:00:00Z');
  await run('--sandbox profile get 00000000-0000-4000-8000-000000000000', { env, now: atMs });
  expect((await run('--sandbox leaderboard list --limit 999', { env, now: atMs + 170_000 })).code).toBe(2);
  expect((await run('why 99', { env, now: atMs + 175_000 })).code).toBe(5);
  const { out } = await run('why', { env, now: atMs + 180_000 });
  const [first = '', second] = out.split('\n');
  expect(first).toBe('The last failure, 3m ago (errors with exit 2 or 3, such as a wrong flag, are not kept):');
  expect(second).toMatch(/^why {7}The service knows no identifier 00000000-0000-4000-8000-000000000000/);
  expect(out).not.toContain('curl');
  expect((await run('why 1', { env })).out).toMatch(/^why {7}/);
});

test('why ends with 5 where nothing failed or the log is off, and says so', async () => {
  const nothing = await failing('--sandbox leaderboard list --limit 1');
  expect(nothing.why).toMatchObject({ code: 5, err: expect.stringContaining('no call in the history failed') });
  const off = await failing('--sandbox profile get 00000000-0000-4000-8000-000000000000', { SOTRA_HISTORY: '0' });
  expect(off.why).toMatchObject({ code: 5, err: expect.stringContaining('SOTRA_HISTORY=0') });
});

test('the next line goes further than the flags that were given', async () => {
  const service = await stub((_, response) => response.writeHead(429).end('{"error":"slow down"}'));
  const { why } = await failing('leaderboard list --retries 12 --rate 1/s', service.env);
  expect(why.next).toEqual([
    'sotra leaderboard list --retries 12 --rate 30/m',
    'sotra leaderboard list --rate 1/s --retries 20',
  ]);
  const few = await failing('leaderboard list --retries 1 --rate 100/s', service.env);
  expect(few.why.next).toEqual([
    'sotra leaderboard list --retries 1 --rate 2/s',
    'sotra leaderboard list --rate 100/s --retries 10',
  ]);
});
