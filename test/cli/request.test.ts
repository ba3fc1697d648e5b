import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { answering, failure, run, runJson, stub, temporaryFolder } from '../support/harness.ts';
import { serveSandbox } from '../support/served.ts';

test('any path is asked with the same key, and its JSON comes out as it came', async () => {
  const service = await answering('{"big":12345678901234567890,"one":1.0}');
  const { out } = await run('request get /v1/whatever/it?x=1 -q a=b -q a=c,d -q e=f=g --query h=', service);
  expect(out).toBe('{\n  "big": 12345678901234567890,\n  "one": 1.0\n}\n');
  expect(service.requests).toMatchObject([{ method: 'GET', url: '/v1/whatever/it?x=1&a=b&a=c%2Cd&e=f%3Dg&h=' }]);
  expect(service.requests[0]?.headers).toMatchObject({ authorization: 'Bearer stub-key', accept: 'application/json' });
});

test('a query with two pairs is sent as one parameter, with a warning that names it', async () => {
  const service = await answering({});
  const { err } = await run('request GET /v1/x -q limit=1,a=2', { env: service.env });
  expect(err).toBe(
    'warning: --query limit=1,a=2 is one parameter, limit, with the value 1,a=2. Several: -q a=1 -q b=2.\n',
  );
  expect(service.requests).toMatchObject([{ url: '/v1/x?limit=1%2Ca%3D2' }]);
});

test('the body is the text that was given, as an argument, from a file and from stdin', async () => {
  const service = await answering({});
  const body = '{"n":12345678901234567890,"n":1.0,"s":"ü"}';
  const file = join(temporaryFolder(), 'body.json');
  writeFileSync(file, `${body}\n`);
  await run(['request', 'POST', '/v1/x', '-d', body], { env: service.env });
  await run(['request', 'PUT', '/v1/x', '--data', `@${file}`], { env: service.env });
  await run(['request', 'DELETE', '/v1/x', '-d', '-', '--yes'], { env: service.env, stdin: body });
  expect(service.requests.flatMap(({ method, body }) => [method, body])).toEqual([
    'POST',
    body,
    'PUT',
    body,
    'DELETE',
    body,
  ]);
  expect(service.requests[0]?.headers['content-type']).toBe('application/json');
});

test.each([
  ['request GET v2/leaderboard', 'must begin with a slash', 'Did you mean /v2/leaderboard?'],
  ['request GET https://elsewhere.example/v2/leaderboard', 'the key is sent nowhere else', '--base-url'],
  ['request GET /v1/x -q limit', '--query limit: must be name=value', ''],
  ['request POST /v1/x -d {a:1}', '--data {a:1}: is not JSON', '@file'],
  ['request POST /v1/x -d -', '--data -: is not JSON: it is empty', ''],
  ['request GET /v1/x -d {}', '--data cannot be used with GET', ''],
  ['request POST /v1/x -d {} --paginate', '--paginate cannot be used with POST', ''],
])('%s is refused before anything is sent', async (argv, message, hint) => {
  const service = await answering({});
  const refused = await run(argv, { env: service.env });
  expect(refused).toEqual(failure(2, message));
  expect(refused.err).toContain(hint);
  expect(service.requests).toEqual([]);
});

test('a full URL of the service itself is used unchanged', async () => {
  const service = await answering({ a: 1 });
  expect(await run(`request GET ${service.url}/v1/x?y=1 -q z=2`, { env: service.env })).toMatchObject({ code: 0 });
  expect(service.requests.map(({ url }) => url)).toEqual(['/v1/x?y=1&z=2']);
});

test('--paginate follows links both ways', async () => {
  const service = await stub(({ url }, response) => {
    const older = url === '/v1/feed' ? `${service.url}/v1/feed?olderThan=1` : null;
    const newer = url.endsWith('newerThan=0') ? '/v1/feed?newerThan=1' : null;
    response.end(JSON.stringify({ items: [url], pagination: { olderItemsURL: older, newerItemsURL: newer } }));
  });
  const walk = (path: string) => runJson(`request GET ${path} --paginate`, { env: service.env });
  expect(await walk('/v1/feed')).toEqual(['/v1/feed', '/v1/feed?olderThan=1']);
  expect(await walk('/v1/feed?newerThan=0')).toEqual(['/v1/feed?newerThan=0', '/v1/feed?newerThan=1']);
});

test('--paginate walks cursors, links and numbered pages of the real endpoints to the same items as --all', async () => {
  const { envA: env } = await serveSandbox();
  const list = (argv: string) => runJson(argv, { env });
  const [address] = (await list('leaderboard list --limit 1')).traders[0].profile.addresses;
  for (const [path, limit, argv] of [
    [`/v1/addresses/${address}/followers?`, 2, `profile followers ${address}`],
    [`/v1/feed/actor?identifier=${address}&`, 8, `feed actor ${address}`],
    [`/v1/addresses/${address}/positions/closed?`, 6, `profile positions ${address} closed`],
  ] as const) {
    const items = await list(`request GET ${path}limit=${limit} --paginate`);
    expect([path, items]).toEqual([path, await list(`${argv} --limit 50 --all`)]);
    expect(items.length).toBeGreaterThan(limit);
  }
});

test('--dry-run and --curl show the request, brackets and all', async () => {
  const env = { SOTRA_BASE_URL: 'https://api.example.com' };
  const dry = await run(['request', 'POST', '/v1/x', '-d', '{"a":1.0}', '--dry-run'], { env });
  expect(dry.out).toContain('POST https://api.example.com/v1/x\n');
  expect(dry.out).toContain('\n{"a":1.0}\n');
  const { out } = await run(['request', 'GET', '/v1/x?a[]=1', '--curl'], { env });
  expect(out).toContain("--globoff --request GET 'https://api.example.com/v1/x?a[]=1'");
});
