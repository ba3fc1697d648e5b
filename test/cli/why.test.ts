import { createServer as createTlsServer } from 'node:https';
import { createServer, type Socket } from 'node:net';
import { generate } from 'selfsigned';
import { expect, test } from 'vitest';
import { failure, newUser, openPort, type RunOptions, run, runJson, type Script, stub } from '../support/harness.ts';

import { fresh, ids, place, register } from '../support/upload-place.ts';

const trader = '0x8c77b2f3a4d5e6f708192a3b4c5d6e7f80910203';

/** What one command line and then `sotra why` say, of a user of its own. */
async function failing(argv: string, env: Record<string, string> = {}, more: RunOptions = {}) {
  const own = { ...newUser().env, ...env };
  const failed = await run(argv, { env: own, skipWaits: true, ...more });
  const asked = await run('why --json', { env: own });
  const shown = (await run('why', { env: own })).out;
  return { failed, why: asked.code === 0 ? JSON.parse(asked.out) : asked, shown, env: own };
}

const answer =
  (status: number, body: unknown, headers: Record<string, string> = {}): Script =>
  (_, response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  };

/** The address of a server that does as it likes with a connection, once something has come. */
async function raw(act: (socket: Socket) => void): Promise<string> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => act(socket));
  });
  return `http://127.0.0.1:${await openPort(server)}`;
}

/** The address of a server whose certificate was valid for a day in 2001. */
async function expired(): Promise<string> {
  const [notBeforeDate, notAfterDate] = [new Date('2001-01-01'), new Date('2001-01-02')];
  const made = await generate([{ name: 'commonName', value: 'localhost' }], {
    keySize: 2048,
    notBeforeDate,
    notAfterDate,
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: 'localhost' }] }],
  } as Parameters<typeof generate>[1]);
  const server = createTlsServer({ key: made.private, cert: made.cert }, (_, response) => void response.end('{}'));
  return `https://localhost:${await openPort(server)}`;
}

/** A port of loopback on which nothing listens. */
const closed = 'http://127.0.0.1:9';
const html = { 'content-type': 'text/html' };
const board = 'leaderboard list --retries 0';
const post =
  'comment post --chain base --tx 0x9576f0179c8926aea242fafa7ce61677196cef975f2793ec0b2988ca8a74cdd0 --token 0x940181a94a35a4569e4529a3cdfb74e38fd98631 --text gm --service-name Clicker --signature 0xd295006801756382610ed2ad14fdab264e0d366423790afa93134a437ff8a5543a335a95eebfef1dca0dc26ae12b9a8bef546f5d21ba94b1eda165bd5644b2901c --signer 0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf --yes';

interface Failure {
  argv?: string;
  /** What the service answers; absent: `serve` gives the address. */
  script?: Script;
  serve?: () => Promise<string>;
  run?: RunOptions;
  /** Gives the address of a proxy. */
  proxy?: () => Promise<string>;
  code: number;
  /** The cause, with `<service>` and `<proxy>` for their addresses. */
  rule: string;
  next?: string;
}

const failures: Readonly<Record<string, Failure>> = {
  'a key that the service does not know': {
    script: answer(401, { error: 'unknown key' }),
    code: 4,
    rule: '<service> rejected the key ...-key from SOTRA_API_KEY: "unknown key".',
    next: 'If it is a sandbox: SOTRA_API_KEY=sandbox-key-a',
  },
  'a key whose plan does not include this': {
    script: answer(403, { error: { message: 'Your plan does not include leaderboards.' } }),
    code: 4,
    rule: 'The key is valid but is not allowed to do this: "Your plan does not include leaderboards".',
    next: 'sotra auth status',
  },
  'a bot check in front of the service': {
    script: answer(403, '<!doctype html><title>Just a moment...</title>', html),
    code: 4,
    rule: 'A proxy or a bot check refused the request before the service saw it: the answer is a web page ("Just a moment...").',
    next: 'sotra context show',
  },
  'a bot check that wants a login': {
    script: answer(401, '<title>Authorization Required</title>', html),
    code: 4,
    rule: 'A proxy or a bot check refused the request before the service saw it: the answer is a web page ("Authorization Required").',
  },
  'a 403 of a proxy that is not JSON': {
    script: answer(403, 'RBAC: access denied', { 'content-type': 'text/plain' }),
    code: 4,
    rule: 'A proxy or a bot check refused the request before the service saw it: the answer is not JSON: "RBAC: access denied".',
  },
  'an id that the service does not know': {
    argv: `profile get ${trader} --retries 0`,
    script: answer(404, { message: 'profile not found' }),
    code: 5,
    rule: `The service did not find identifier ${trader}: "profile not found".`,
    next: 'Check it for a typo. Ids are valid at one service only.',
  },
  'a path that the service does not have': {
    script: answer(404, { error: 'no route' }),
    code: 5,
    rule: 'The service did not find /v2/leaderboard: "no route".',
    next: 'Check the base URL.',
  },
  'a name that is taken': {
    argv: `profile set-name ${trader} --name alice`,
    script: answer(409, { error: 'name taken' }),
    code: 6,
    rule: 'The request conflicts with what the service already has: "name taken".',
  },
  'too many calls, with seconds to wait': {
    script: answer(429, { error: 'slow down' }, { 'retry-after': '3600' }),
    code: 7,
    rule: 'Too many calls to <service>: "slow down". It asks to wait 3600 s.',
    next: 'sotra leaderboard list --retries 0 --timeout 3660s',
  },
  'too many calls, with a date to wait for': {
    script: answer(429, { error: 'slow down' }, { 'retry-after': 'Wed, 25 Nov 2026 10:00:30 GMT' }),
    run: { now: Date.parse('2026-11-25T10:00:00Z') },
    code: 7,
    rule: 'Too many calls to <service>: "slow down". It asks to wait 30 s.',
    next: 'Send it again after 2026-11-25T10:00:30Z.',
  },
  'a service that fails': {
    script: answer(500, { error: 'oops' }, { 'x-request-id': 'r-17' }),
    code: 8,
    rule: 'The service failed with HTTP 500: "oops". The request is not the cause.',
    next: 'Tell the operator of the service the request id r-17.',
  },
  'a gateway in front of a service that is down, after a write': {
    argv: `profile set-name ${trader} --name alice --retries 0`,
    script: answer(502, '<html>bad gateway</html>', html),
    code: 8,
    rule: 'A gateway in front of the service failed with HTTP 502. The request is not the cause.',
    next: 'It may have been done: check before you send it again.',
  },
  'an answer of another shape': {
    script: answer(200, { traders: 'none' }),
    code: 0,
    rule: 'The answer does not match the interface at traders: expected array, found string "none".',
  },
  'an answer of another shape, with --strict': {
    argv: `${board} --strict`,
    script: answer(200, { traders: 'none' }),
    code: 13,
    rule: 'The answer does not match the interface at traders: expected array, found string "none".',
    next: 'Without --strict this is a warning, and the values are shown.',
  },
  'JSON that is wrong': {
    script: answer(200, '{\n  "traders": [],\n}'),
    code: 13,
    rule: 'The answer is not valid JSON: unexpected "}" at line 3, column 1.',
    next: 'sotra doctor',
  },
  'JSON that is cut off': {
    script: answer(200, '{"traders":[{"profile":'),
    code: 13,
    rule: 'The answer ends in the middle of its JSON, at line 1, column 24.',
  },
  'half a body': {
    serve: () => raw((socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{"tra')),
    code: 9,
    rule: '<service> closed the connection in the middle of the answer.',
    next: 'The service or a proxy ended the connection early: try again.',
  },
  'a connection that is closed without an answer': {
    serve: () => raw((socket) => socket.end()),
    code: 9,
    rule: '<service> closed the connection before answering.',
    next: 'If it happens each time, check the port, and whether the address needs https.',
  },
  'no answer in time': {
    argv: `${board} --timeout 200ms`,
    script: () => undefined,
    code: 9,
    rule: '<service> did not answer within 0.2 s.',
    next: 'Allow more time with --timeout 400ms.',
  },
  'a connection that is refused': {
    serve: async () => closed,
    code: 9,
    rule: 'Nothing is listening at <service>.',
    next: 'Check host and port, or start a sandbox there: sotra sandbox start --port 9',
  },
  'a connection that is reset': {
    serve: () => raw((socket) => socket.resetAndDestroy()),
    code: 9,
    rule: '<service> reset the connection before answering.',
  },
  'https asked of a server without TLS': {
    serve: async () =>
      (await raw((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'))).replace('http:', 'https:'),
    code: 9,
    rule: 'The server at <service> does not use TLS.',
    next: 'sotra doctor',
  },
  'http asked of a server with TLS': {
    serve: () => raw((socket) => socket.end('\u0015\u0003\u0003\0\u0002\u0002F')),
    code: 9,
    rule: 'The server at <service> does not speak HTTP.',
    next: 'If it happens each time, check the port, and whether the address needs https.',
  },
  'a certificate that has expired': {
    serve: expired,
    code: 9,
    rule: 'The certificate of <service> has expired, or the clock of this computer is ahead.',
    next: 'Check the clock: date -u.',
  },
  'a proxy that cannot be reached': {
    serve: async () => 'https://service.example',
    proxy: async () => closed,
    code: 9,
    rule: 'The service was not reached: the proxy <proxy> cannot be reached: nothing is listening at 127.0.0.1:9.',
    next: 'HTTPS_PROXY or HTTP_PROXY sets the proxy; NO_PROXY=service.example bypasses it.',
  },
  'a connection that a proxy may have reset': {
    serve: async () => 'https://service.example',
    proxy: () => raw((socket) => socket.resetAndDestroy()),
    code: 9,
    rule: '<service> reset the connection before answering.',
    next: 'If it happens each time, check the port, and whether the address needs https. It may be the proxy <proxy>: NO_PROXY=service.example bypasses it.',
  },
  'a proxy that refuses': {
    serve: async () => 'https://service.example',
    proxy: () => raw((socket) => socket.end('HTTP/1.1 403 Forbidden\r\n\r\n')),
    code: 9,
    rule: 'The service was not reached: the proxy <proxy> answered 403.',
  },
  'a redirect to another origin': {
    script: answer(302, '', { location: 'https://other.example/v2/leaderboard' }),
    code: 9,
    rule: '<service> redirects to https://other.example, and the key is sent to no other origin.',
  },
  'an empty answer': { script: answer(200, ''), code: 13, rule: 'The answer is empty, not JSON.' },
  'a redirect to no address of the web': {
    script: answer(302, '', { location: 'javascript:void(0)' }),
    code: 9,
    rule: '<service> redirects to javascript:void(0).',
  },
  'an answer that is too large': {
    script: answer(200, { traders: [], more: 'x'.repeat(2000) }),
    run: { maxAnswerBytes: 1024 },
    code: 13,
    rule: 'The answer is larger than 1 KB.',
    next: 'Request fewer items with --limit.',
  },
  'a web page instead of JSON': {
    script: answer(200, '<!doctype html><title>Sign in</title>', html),
    code: 13,
    rule: 'A proxy or a web server answered, not the service: the answer is a web page ("Sign in").',
    next: 'sotra doctor',
  },
  'a path that the interface does not have': {
    argv: 'request GET /v2/leaderbord',
    script: answer(404, { error: 'no route' }),
    code: 5,
    rule: 'The interface has no GET /v2/leaderbord; the nearest is GET /v2/leaderboard.',
    next: 'sotra openapi',
  },
  'a web server instead of the service': {
    script: answer(404, '<html><title>Not here</title></html>', html),
    code: 5,
    rule: 'The base URL is not the service: the answer is a web page ("Not here").',
    next: 'sotra context show',
  },
  'a server of another kind instead of the service': {
    script: answer(404, '404 page not found', { 'content-type': 'text/plain' }),
    code: 5,
    rule: 'The base URL is not the service: the answer is not JSON: "404 page not found".',
  },
  'a value that the interface does not allow': {
    argv: 'request GET /v2/leaderboard?limit=500',
    script: answer(400, { error: 'invalid query' }),
    code: 6,
    rule: 'The service refused limit 500: must be a whole number from 1 to 250. It said: "invalid query".',
    next: 'sotra leaderboard list --help',
  },
  'a parameter that the service names': {
    argv: 'leaderboard list --timeframe 7d --retries 0',
    script: answer(400, { error: 'timeframe is not supported here' }),
    code: 6,
    rule: 'The service refused the input: "timeframe is not supported here" (timeframe was "7d").',
    next: 'sotra leaderboard list --help',
  },
  'an explanation of another shape, which is shown as the answer': {
    script: answer(400, { errors: [{ message: 'limit is odd' }] }),
    code: 6,
    rule: 'The service refused the input.',
  },
  'a signature that is not accepted': {
    argv: post,
    script: answer(400, { error: 'signature does not match signerAddress' }),
    code: 6,
    rule: 'The service refused the signature: "signature does not match signerAddress". It was made over the layout five-line, beginning "Clicker Swap Comment:".',
    next: 'Omit --service-name and --layout, to sign for the context.',
  },
  'a signature that is not accepted, with its options typed in one word': {
    argv: post.replace('--service-name Clicker', '--service-name=Clicker'),
    script: answer(400, { error: 'signature does not match signerAddress' }),
    code: 6,
    rule: 'The service refused the signature: "signature does not match signerAddress". It was made over the layout five-line, beginning "Clicker Swap Comment:".',
    next: 'Omit --service-name and --layout, to sign for the context.',
  },
  'a signature that is not accepted, made for the context': {
    argv: post.replace('--service-name Clicker ', ''),
    script: answer(400, { error: 'signature does not match signerAddress' }),
    code: 6,
    rule: 'The service refused the signature: "signature does not match signerAddress". It was made over the layout five-line, beginning "<service name> Swap Comment:".',
    next: "sotra context set '<name>' --layout blank-line",
  },
  'a body that is too large': {
    argv: 'request POST /v1/webhooks/feed --data {"a":1}',
    script: answer(413, { error: 'too large' }),
    code: 6,
    rule: 'The body is larger than the service accepts: 7 bytes.',
    next: 'A call takes 1000 addresses at most: sotra webhook sync sends them in chunks.',
  },
};

test.each(Object.entries(failures))('why explains %s', async (_, failure) => {
  const { argv = board, script, serve, run: more = {}, code, rule, next } = failure;
  const url = script === undefined ? await serve?.() : (await stub(script)).url;
  const proxy = (await failure.proxy?.()) ?? '';
  const env = { SOTRA_BASE_URL: url ?? '', SOTRA_API_KEY: 'stub-key', HTTPS_PROXY: proxy };
  const { failed, why, shown } = await failing(argv, env, more);
  expect(failed.code).toBe(code);
  expect(why.rule).toBe(rule.replaceAll('<service>', url ?? '').replaceAll('<proxy>', proxy));
  if (next !== undefined) expect(why.next).toContain(next.replace('<proxy>', proxy));
  expect(why).toMatchObject({
    exitCode: code === 0 ? null : code,
    asked: { method: expect.any(String), url: expect.stringContaining(url ?? '') },
  });
  expect(why.curl).toContain('curl --silent');
  expect(shown.split('\n').length).toBeLessThanOrEqual(40);
});

test('why explains commands that failed before they made a call: no key, no signing key, a signature that is wrong', async () => {
  const noKey = await failing(`${board} --base-url http://127.0.0.1:9`);
  expect([noKey.failed.code, noKey.why.rule]).toEqual([4, 'No API key for http://127.0.0.1:9.']);
  expect(noKey.why).toMatchObject({ n: null, asked: null, answered: null, curl: null });
  const sign = post
    .replace('comment post', 'comment sign')
    .replace(/ --signature .*/, ' --key-env PRIVATE_KEY --signer 0x0000000000000000000000000000000000000002');
  const unsigned = await failing(sign, { PRIVATE_KEY: `0x${'1'.padStart(64, '0')}` });
  const rule = expect.stringContaining('The key belongs to 0x7E5F');
  expect(unsigned.why).toMatchObject({ exitCode: 11, code: 'signing-key', rule });
  const forged = await failing(
    post.replace('comment post', 'comment verify').replace('--text gm', '--text gn').replace(' --yes', ''),
  );
  expect(forged.failed.code).toBe(12);
  expect(forged.why.rule).toMatch(/^Over this text it is the signature of 0x\w+, not of 0x7E5F/);
});

test('why of an upload that was done in part says that the same command continues it', async () => {
  const { sotra, json, write } = place((request, count) =>
    request.method === 'PUT' ? [503, { error: 'busy' }] : fresh(request, count),
  );
  write('list', ids(1001));
  expect((await sotra(`${register} @list`)).code).toBe(10);
  const rule = 'The service failed with HTTP 503: "busy". The request is not the cause.';
  const why = await json('why');
  expect(why).toMatchObject({ exitCode: 10, rule });
  expect(why.next[0]).toBe('The same command again continues what is left.');
});

test('why leaves out attempts that another followed, and explains them by their number; an interrupted call is named as such', async () => {
  const busyOnce = await stub((_, response, count) =>
    response.writeHead(count === 1 ? 503 : 200).end('{"traders":[]}'),
  );
  const retried = await failing('leaderboard list', busyOnce.env);
  expect([retried.failed.code, retried.why.code]).toEqual([0, 5]);
  expect((await run('why 2', { env: retried.env })).out).toContain('The service failed with HTTP 503');
  const stop = new AbortController();
  const slow = await stub(() => stop.abort());
  const stopped = await failing(board, slow.env, { signal: stop.signal });
  expect([stopped.failed.code, stopped.why.exitCode]).toEqual([130, 130]);
  expect(stopped.why.rule).toBe('The command was interrupted before the answer came.');
});

test('why explains the newest of failures and warnings, and the command if its calls are not why it failed', async () => {
  const env = { ...newUser().env, SOTRA_API_KEY: 'stub-key' };
  const failed = await stub(answer(500, { error: 'oops' }));
  const odd = await stub(answer(200, { traders: 'none' }));
  const refuses = await stub(answer(401, { error: 'unknown key' }));
  const whyAfter = async (argv: string, { url }: { url: string }) => {
    await run(argv, { env: { ...env, SOTRA_BASE_URL: url } });
    return (await run('why', { env: { ...env, SOTRA_BASE_URL: url } })).out.split('\n');
  };
  expect((await whyAfter(board, failed))[1]).toContain('The service failed with HTTP 500: "oops".');
  const [heading, warned] = await whyAfter(board, odd);
  expect(heading).toMatch(/^The last warning, /);
  expect(warned).toContain('does not match the interface at traders');
  expect((await whyAfter('doctor', refuses))[1]).toContain('the service rejected it (HTTP 401)');
});

test('why fits 40 lines, whatever was sent and answered', async () => {
  const profile = { name: 7, addresses: 'none', metrics: [], status: 1 };
  const trade = { profile, pnl: { total: '12', perChain: [] }, hasComments: 'no', isFollowedByUser: 7 };
  const server = await stub(answer(200, { traders: Array.from({ length: 20 }, () => trade) }));
  const odd = await failing(board, server.env);
  expect(odd.shown).toContain('differs   and ');
  const large = await stub(answer(400, { error: 'z'.repeat(50_000) }));
  const body = JSON.stringify({ walletAddresses: Array.from({ length: 1000 }, () => trader) });
  const sent = await failing(`request POST /v1/webhooks/feed --data ${body}`, large.env);
  for (const { shown } of [odd, sent]) {
    expect(shown.split('\n').length).toBeLessThanOrEqual(40);
    expect(Math.max(...shown.split('\n').map(({ length }) => length))).toBeLessThan(420);
  }
  expect(sent.shown).toMatch(/^curl {6}sotra history run c[0-9a-f]{8} --curl$/m);
});

test('a preview that fails is explained; one that finds work to do is not a failure', async () => {
  const key = { PRIVATE_KEY: `0x${'1'.padStart(64, '0')}` };
  const wrong = post.replace(/ --signature .*/, ` --key-env PRIVATE_KEY --signer 0x${'2'.padStart(40, '0')}`);
  const { failed, why } = await failing(`--sandbox ${wrong} --dry-run`, key);
  expect([failed.code, why.exitCode, why.command.endsWith('--dry-run')]).toEqual([11, 11, true]);
  const list = '--wallet-addresses 0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf';
  const sync = await failing(`--sandbox webhook sync --url http://127.0.0.1:9/hook ${list} --check --dry-run`);
  expect([sync.failed.code, sync.why.code]).toEqual([10, 5]);
  const { why: check } = await failing(`--sandbox webhook sync --url http://127.0.0.1:9/hook ${list} --check`);
  expect(check.next).toContain('Run the same command without --check to send what is missing.');
});

test.each([
  ['a key that is refused', answer(401, { error: 'unknown key' }), 'was sent and refused'],
  ['a web page', answer(200, '<html></html>'), 'Check that the base URL is the service itself'],
  ['a failure without a hint', answer(500, { error: 'oops' }), ''],
])('the hint of %s names why, unless the call is not in the log', async (_, script, start) => {
  const { env } = await stub(script);
  const { err } = await run(board, { env });
  expect(err).toContain(start);
  expect(err).toMatch(/hint: .*\bsotra why (says more|shows the request)/);
  expect((await run(board, { env: { ...env, SOTRA_HISTORY: '0' } })).err).not.toContain('sotra why');
});

test('a hint that ends in a command keeps it apart from the name of why', async () => {
  const env = { ...newUser().env, SOTRA_BASE_URL: 'http://127.0.0.1:9', SOTRA_API_KEY: 'k' };
  const { err } = await run(`${board} --retries 0`, { env });
  expect(err).toContain('sotra sandbox start --port 9 (sotra why says more)\n');
});

test('why names the context that a key is for, and does not show the key', async () => {
  const server = await stub(answer(401, { error: 'no' }));
  const staging = { baseUrl: 'https://staging.example', apiKey: 'key-of-staging-7777' };
  const { env } = newUser({ contexts: { staging } });
  const typed = { env: { ...env, SOTRA_API_KEY: staging.apiKey } };
  expect((await run(`${board} --base-url ${server.url}`, typed)).code).toBe(4);
  const { out } = await run('why', typed);
  expect(out).toContain('is the one of context staging, for https://staging.example');
  expect(out).not.toContain(staging.apiKey);
  const later = await run('why', { env: { ...env, SOTRA_API_KEY: 'set-since-then' } });
  expect(later.out).toContain(`${server.url} rejected the key that was sent: "no".`);
});

test('why names parameters without effect with the name that was meant, and fields that differ, of a call that succeeded too', async () => {
  const { env } = newUser();
  await run('--sandbox request GET /v2/leaderboard?limitt=5', { env });
  const { out } = await run('why 1', { env });
  expect(out).toContain('ignored   limitt (did you mean limit?)\n');
  const trade = { profile: null, pnl: { total: '12', perChain: {} }, hasComments: true };
  const server = await stub(answer(200, { traders: [trade, trade] }));
  await run(board, { env: { ...env, ...server.env } });
  const difference = { at: 'traders[].pnl.total', expected: 'number', found: 'string "12"', count: 2 };
  expect((await runJson('why 1', { env })).differences).toContainEqual(difference);
});

test('the next commands name the service if --base-url chose it', async () => {
  const server = await stub(answer(403, { error: 'read only' }));
  const other = await stub(answer(200, { traders: [] }));
  const { why } = await failing(`${board} --base-url ${server.url}`, { SOTRA_API_KEY: 'k1' });
  expect(why.next).toContain(`sotra --base-url ${server.url} auth status`);
  const both = await failing(`${board} --base-url ${server.url}`, other.env);
  expect(both.why.next).toContain(`sotra --base-url ${server.url} auth status`);
  const plain = await failing(board, server.env);
  expect(plain.why.next).toContain('sotra auth status');
});

test('why begins with the age of the failure, and does not count a failed why', async () => {
  const { env } = newUser();
  const atMs = Date.parse('2026-11-25T10:00:00Z');
  await run('--sandbox profile get 00000000-0000-4000-8000-000000000000', { env, now: atMs });
  expect((await run('--sandbox leaderboard list --limit 999', { env, now: atMs + 170_000 })).code).toBe(2);
  expect((await run('why 99', { env, now: atMs + 175_000 })).code).toBe(5);
  const { out } = await run('why', { env, now: atMs + 180_000 });
  const [first = '', second] = out.split('\n');
  expect(first).toBe('The last failure, 3m ago (usage errors are not kept):');
  expect(second).toMatch(/^why {7}The service did not find identifier 00000000-0000-4000-8000-000000000000/);
  expect(out).not.toContain('curl');
  expect((await run('why 1', { env })).out).toMatch(/^why {7}/);
});

test('why ends with 5 and a message if nothing failed or the log is off', async () => {
  const nothing = await failing('--sandbox leaderboard list --limit 1');
  expect(nothing.why).toEqual(failure(5, 'no call in the history failed'));
  const off = await failing('--sandbox profile get 00000000-0000-4000-8000-000000000000', { SOTRA_HISTORY: '0' });
  expect(off.why).toEqual(failure(5, 'SOTRA_HISTORY=0'));
});

test('no retries are suggested for a request that is not sent again by itself', async () => {
  for (const [argv, status] of [['request POST /v1/x --data {}', 500] as const, [board, 520] as const]) {
    const { why } = await failing(argv, (await stub(answer(status, { error: 'oops' }))).env);
    expect(why.next.join()).not.toContain('--retries');
  }
});

test('the suggested line raises the flags that were given', async () => {
  const service = await stub((_, response) => response.writeHead(429).end('{"error":"slow down"}'));
  const { why } = await failing('leaderboard list --retries 12 --rate 1/s', service.env);
  const line = 'sotra leaderboard list';
  expect(why.next).toEqual([`${line} --retries 12 --rate 30/m`, `${line} --rate 1/s --retries 20`]);
  const long = await failing('leaderboard list', (await stub(answer(429, '', { 'retry-after': '3600' }))).env);
  expect(long.why.next.slice(1)).toEqual(['sotra leaderboard list --timeout 3660s']);
  const few = await failing('leaderboard list --retries 1 --rate 100/s', service.env);
  expect(few.why.next).toEqual([`${line} --retries 1 --rate 2/s`, `${line} --rate 100/s --retries 10`]);
});
