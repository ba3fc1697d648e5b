import { expect, test } from 'vitest';
import { tryParseJson } from '../../../src/api/json.ts';
import { answering, run, stub } from '../../support/harness.ts';
import { sessionOf, startPage } from '../../support/page.ts';

const trader = '0x143cf5cccbc8447504a99413dec7ea93ec228432';

/** A served sandbox, its page as the browser asks it, and requests of programs. */
async function open(faults: readonly string[] = []) {
  const start = ['sandbox', 'start', '--port', '0', '--ui', '--as-of', '2026-11-20T12:00:00Z'];
  const { url, ui, env } = await startPage([...start, ...faults.flatMap((fault) => ['--fault', fault])]);
  const { origin } = new URL(ui);
  const headers = { ...(await sessionOf(ui)), origin, 'content-type': 'application/json' };
  const page = async (path: string, body?: unknown, own: Record<string, string> = headers) => {
    const sent = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
    const answer = await fetch(`${origin}/api/service/${path}`, { headers: own, ...sent });
    const text = await answer.text();
    // biome-ignore lint/suspicious/noExplicitAny: what it holds is what is tested
    return { status: answer.status, text, json: tryParseJson(text) as any };
  };
  const ask = (path: string, key: string, init: RequestInit = {}) =>
    fetch(url + path, { ...init, headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' } });
  return { url, env, page, ask, headers };
}

test('a request is shown with why it failed in the words of sotra why, and sent again with what is changed', async () => {
  const { url, page, ask } = await open();
  await ask('/v2/leaderboard?limit=900&limits=3', 'sandbox-key-a');
  const shown = (await page('request?number=1')).json;
  expect(shown.row).toMatchObject({ number: 1, status: 400, error: 'limit 900: must be a whole number from 1 to 250' });
  expect(shown.why).toEqual([
    ['why', 'The service refused limit 900: must be a whole number from 1 to 250.'],
    ['next', 'sotra leaderboard list --help'],
  ]);
  expect(shown.commands[0].line).toBe(
    `curl --silent --show-error --request GET '${url}/v2/leaderboard?limit=900&limits=3' --header "authorization: Bearer $SOTRA_API_KEY" --header 'content-type: application/json'`,
  );
  const fields = shown.form.fields.map(({ name, value }: { name: string; value: string }) => [name, value]);
  expect(fields).toEqual(
    expect.arrayContaining([
      ['limit', '900'],
      ['timeframe', ''],
      ['limits', '3'],
    ]),
  );

  const sent = await page('request', { number: 1, method: 'GET', target: '/v2/leaderboard?limit=2' });
  expect(sent.json.row).toMatchObject({ number: 2, status: 200, path: '/v2/leaderboard?limit=2', partner: 'a' });
  const other = await page('request', { number: 2, method: 'GET', key: 'none' });
  expect(other.json.row).toMatchObject({ number: 3, status: 401, path: '/v2/leaderboard?limit=2', key: null });
  expect((await page('requests')).json.map(({ number }: { number: number }) => number)).toEqual([3, 2, 1]);
});

test('a request that a fault met is shown with it, and without a body that was not read', async () => {
  const { page, ask } = await open(['503:every=1:PUT /**', 'drop:every=1:GET /**']);
  const body = `{"walletAddresses":["${trader}"]}`;
  await ask('/v1/webhooks/feed/1', 'sandbox-key-a', { method: 'PUT', body });
  await ask('/v2/leaderboard', 'sandbox-key-a').catch(() => undefined);
  const [put, get] = [(await page('request?number=1')).json, (await page('request?number=2')).json];
  expect([put.row.fault, put.form.body, get.row.fault, get.row.error, get.answer]).toEqual([
    '503:every=1:PUT /**',
    '',
    'drop:every=1:GET /**',
    'the connection was closed',
    null,
  ]);
  expect(get.why[0][1]).toMatch(/^http:\S+ closed the connection before the answer was complete\.$/);
});

test('no key and no secret reaches the page whole, and what is sent again has them', async () => {
  const { page, ask, env } = await open();
  const destinationUrl = 'http://127.0.0.1:9/hook?token=of-the-hook';
  const made = await ask('/v1/webhooks/feed', 'sandbox-key-b', {
    method: 'POST',
    body: JSON.stringify({ walletAddresses: [], destinationUrl }),
  });
  const { uid, secret } = (await made.json()) as { uid: string; secret: string };
  await ask('/v1/webhooks/feed?key=of-a-query', 'unknown-key-1234');
  for (const path of ['requests', 'request?number=1', 'request?number=2', `control?name=webhook&uid=${uid}`]) {
    const { text } = await page(path);
    const told = text + atob(/"body":"([^"]*)"/.exec(text)?.[1] ?? '');
    const secrets = ['sandbox-key-b', 'unknown-key', secret, 'of-the-hook', 'of-a-query'];
    const found = secrets.filter((each) => told.includes(each));
    expect([path, found]).toEqual([path, []]);
  }
  expect((await page('control?name=secret', { uid })).json).toEqual({ secret });
  await page('request', { number: 1, method: 'POST' });
  const list = await run('webhook list --json', { env: { ...env, SOTRA_API_KEY: 'sandbox-key-b' } });
  expect(JSON.parse(list.out).map((each: typeof made & { destinationUrl: string }) => each.destinationUrl)).toEqual([
    destinationUrl,
    destinationUrl,
  ]);
});

test('what a page may send goes to its sandbox alone, and comes from its own page alone', async () => {
  const { page, ask, headers } = await open();
  await ask('/v2/leaderboard', 'sandbox-key-a');
  const elsewhere = await answering({});
  const refused = async (body: object) => (await page('request', body)).json;
  const away = elsewhere.url.replace('http:', '');
  for (const target of [`@${away.slice(2)}/x`, elsewhere.url, '.evil.test/', ''])
    expect(await refused({ number: 1, method: 'GET', target })).toEqual({
      code: 'usage',
      error: `path ${target}: must begin with / and be percent-encoded`,
    });
  expect((await page('request', { number: 1, method: 'GET', target: `${away}/x` })).json.row).toMatchObject({
    status: 404,
  });
  expect(await refused({ number: 1, method: 'PATCH' })).toEqual({
    code: 'usage',
    error: 'method PATCH: must be one of GET, POST, PUT, DELETE',
  });
  const gone = await refused({ number: 9, method: 'GET' });
  expect(gone).toEqual({ code: 'usage', error: 'request 9: is not kept any more' });
  const { 'x-sotra-session': _, ...stranger } = headers;
  expect((await page('request', { number: 1 }, stranger)).status).toBe(401);
  expect((await page('request', { number: 1 }, { ...headers, origin: elsewhere.url })).status).toBe(403);
  expect(elsewhere.requests).toEqual([]);
});

test('a delivery and a webhook of the sandbox are shown, sent again and deleted', async () => {
  const { page, env } = await open();
  let status = 500;
  const hook = await stub((_, response) => response.writeHead(status).end());
  await run(`webhook register --url ${hook.url}/hook --wallet-addresses ${trader},ext:one`, { env });
  // The command tells that it was not taken.
  expect((await run('webhook trigger new-feed-item', { env })).code).toBe(9);
  const deliveries = async () => (await page('control?name=deliveries')).json;
  const [{ seq, uid }] = await deliveries();
  const shown = async () => (await page(`control?name=delivery&seq=${seq}`)).json;
  await expect.poll(async () => (await shown()).row.tries).toBe(1);
  expect((await shown()).row).toMatchObject({
    state: 'waiting',
    status: 500,
    error: 'HTTP 500',
    uid,
    nextMs: expect.any(Number),
  });
  expect(JSON.parse(atob((await shown()).body)).events[0].eventType).toBe('new-feed-item');
  expect((await page(`control?name=webhook&uid=${uid}`)).json).toMatchObject({
    addresses: 2,
    delivered: 0,
    waiting: 1,
  });
  status = 200;
  await page('control?name=redeliver', { seq });
  await expect.poll(async () => (await shown()).row.state).toBe('delivered');
  const sent = hook.requests.length;
  await page('control?name=redeliver', { seq });
  await expect.poll(() => hook.requests.length).toBe(sent + 1);
  expect(hook.requests.at(-1)?.body).toBe(hook.requests[0]?.body);
  await page('request', { method: 'DELETE', target: `/v1/webhooks/feed/${uid}`, key: 'a' });
  expect((await page(`control?name=webhook&uid=${uid}`)).json).toMatchObject({
    error: `webhook ${uid}: does not exist`,
  });
});
