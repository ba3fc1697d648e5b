import { expect, test } from 'vitest';
import { answering, run, runJson, stub } from '../../support/harness.ts';
import { openPageApi, startPage } from '../../support/served.ts';
import { degen, swaps, tradersWorld } from '../../support/traders.ts';

const trader = '0x143cf5cccbc8447504a99413dec7ea93ec228432';

/** A served sandbox, its page as the browser asks it, and requests of programs. */
async function open(faults: readonly string[] = []) {
  const start = ['sandbox', 'start', '--port', '0', '--ui', '--as-of', '2026-11-20T12:00:00Z'];
  const { url, ui, env } = await startPage([...start, ...faults.flatMap((fault) => ['--fault', fault])]);
  const page = await openPageApi(ui);
  const ask = (path: string, key: string, init: RequestInit = {}) =>
    fetch(url + path, { ...init, headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' } });
  const rows = async (kind?: string) =>
    (await page('list')).json.rows.filter((row: { kind: string }) => kind === undefined || row.kind === kind);
  return { url, ui, env, page, ask, rows };
}

test('a request is shown with why it failed in the words of sotra why, and sent again with what is changed', async () => {
  const { url, page, ask, rows } = await open();
  await ask('/v2/leaderboard?limit=900&limits=3', 'sandbox-key-a');
  const shown = (await page('show?id=req-1')).json;
  expect(shown.row).toMatchObject({
    id: 'req-1',
    title: 'GET /v2/leaderboard?limit=900&limits=3',
    status: '400',
    failed: true,
    about: 'limit 900: must be a whole number from 1 to 250',
  });
  expect(shown.error).toEqual({
    message: 'The service refused limit 900: must be a whole number from 1 to 250.',
    hints: ['sotra leaderboard list --help'],
  });
  expect(shown.curl).toBe(
    `curl --silent --show-error --request GET '${url}/v2/leaderboard?limit=900&limits=3' --header "authorization: Bearer $SOTRA_API_KEY" --header 'content-type: application/json'`,
  );
  expect(shown.command).toBe("sotra --sandbox request GET '/v2/leaderboard?limit=900&limits=3'");
  for (const [name, value] of Object.entries({ limit: '900', timeframe: '', limits: '3' }))
    expect(shown.form.fields).toContainEqual(expect.objectContaining({ name, value }));

  const sent = await page('send', { id: 'req-1', method: 'GET', target: '/v2/leaderboard?limit=2' });
  expect(sent.json).toEqual({ id: 'req-2', text: 'Sent: 200', failed: false });
  const other = await page('send', { id: 'req-2', method: 'GET', key: 'none' });
  expect(other.json).toEqual({ id: 'req-3', text: 'Sent: 401', failed: true });
  expect((await rows('request')).map(({ id }: { id: string }) => id)).toEqual(['req-3', 'req-2', 'req-1']);
});

test('a request that a fault met is shown with it, and without a body that was not read', async () => {
  const { page, ask } = await open(['503:every=1:PUT /**', 'drop:every=1:GET /**']);
  const body = `{"walletAddresses":["${trader}"]}`;
  await ask('/v1/webhooks/feed/1', 'sandbox-key-a', { method: 'PUT', body });
  await ask('/v2/leaderboard', 'sandbox-key-a').catch(() => undefined);
  const [put, get] = [(await page('show?id=req-1')).json, (await page('show?id=req-2')).json];
  expect([put.facts, put.form.body, get.facts, get.response]).toEqual([
    expect.arrayContaining([['Fault', '503:every=1:PUT /**']]),
    '',
    expect.arrayContaining([['Fault', 'drop:every=1:GET /**']]),
    null,
  ]);
  expect(get.error.message).toBe('The connection was closed before the answer.');
});

test('no key and no secret reaches the page unasked, and what is sent again has them', async () => {
  const { page, ask, env } = await open();
  const destinationUrl = 'http://127.0.0.1:9/hook?token=of-the-hook';
  const made = await ask('/v1/webhooks/feed', 'sandbox-key-a', {
    method: 'POST',
    body: JSON.stringify({ walletAddresses: ['ext:one'], destinationUrl }),
  });
  const { uid, secret } = (await made.json()) as { uid: string; secret: string };
  await ask('/v1/webhooks/feed?key=of-a-query', 'unknown-key-1234');
  await ask('/v2/leaderboard', 'sandbox-key-b');
  await page('test', {});
  const [{ id }] = (await page('list')).json.rows.filter(({ kind }: { kind: string }) => kind === 'attempt');
  const requests = ['req-1', 'req-2', 'req-3', id].map((each) => `show?id=${each}`);
  for (const path of ['list', ...requests, 'call?endpoint=webhook.list']) {
    const { decoded } = await page(path);
    const secrets = ['sandbox-key-b', 'unknown-key', secret, 'of-the-hook', 'of-a-query'];
    expect([path, secrets.filter((each) => decoded.includes(each))]).toEqual([path, []]);
  }
  expect((await page('webhook-secret', { uid })).json).toEqual({ secret });
  await page('send', { id: 'req-1', method: 'POST' });
  expect(await runJson('webhook list', { env })).toMatchObject([{ destinationUrl }, { destinationUrl }]);
});

test('a page can send only to its own sandbox, and only from its own page', async () => {
  const { ui, page, ask } = await open();
  await ask('/v2/leaderboard', 'sandbox-key-a');
  const elsewhere = await answering({});
  const refused = async (body: object) => (await page('send', body)).json;
  const away = elsewhere.url.replace('http:', '');
  for (const target of [`@${away.slice(2)}/x`, elsewhere.url, '.evil.test/', ''])
    expect(await refused({ id: 'req-1', method: 'GET', target })).toEqual({
      code: 'usage',
      error: `path ${target}: must begin with / and be percent-encoded`,
    });
  expect((await page('send', { id: 'req-1', method: 'GET', target: `${away}/x` })).json.text).toBe('Sent: 404');
  expect(await refused({ id: 'req-1', method: 'PATCH' })).toEqual({
    code: 'usage',
    error: 'method PATCH: must be one of GET, POST, PUT, DELETE',
  });
  expect(await refused({ id: 'req-9' })).toEqual({ code: 'usage', error: 'request req-9: is no longer kept' });
  expect(await refused({ id: 'nothing' })).toEqual({ code: 'usage', error: 'nothing: there is no such row' });
  const { origin } = new URL(ui);
  expect((await page('send', { id: 'req-1' }, { origin, 'content-type': 'application/json' })).status).toBe(401);
  expect(elsewhere.requests).toEqual([]);
});

test('a trade leads to its event, the event to its attempt, the attempt to the answer of the target, and back', async () => {
  const { page, env, rows } = await open();
  let status = 500;
  const hook = await stub((_, response) => response.writeHead(status).end());
  expect((await rows()).length).toBe(0);
  await page('webhook-register', { destinationUrl: `${hook.url}/hook`, walletAddresses: ['ext:user-1'] });
  await run(`follow add ext:user-1 ${trader}`, { env });
  const trade1 = `--chain base --trader ${trader} --token 0x532f27101965dd16442e59d40670faf5ebb142e4`;
  await run(`sandbox trade ${trade1} --side buy --amount 5 --usd 900`, { env });
  await expect.poll(async () => (await rows('attempt'))[0]?.status).toBe('500');
  const [{ id: tradeId }] = await rows('trade');
  const trade = (await page(`show?id=${tradeId}`)).json;
  expect(trade.row.title).toMatch(/^buy \$900\.00 of \S+ on base$/);
  expect(trade.chain.after).toMatchObject([{ kind: 'event' }]);
  const event = (await page(`show?id=${trade.chain.after[0].id}`)).json;
  expect(event.chain.before).toMatchObject([{ id: tradeId }]);
  const attempt = (await page(`show?id=${event.chain.after[0].id}`)).json;
  expect(attempt.error.message).toBe(`Not accepted by ${hook.url}/hook: HTTP 500.`);
  expect(attempt.facts).toContainEqual(['State', 'waiting']);
  expect(attempt.facts).toContainEqual(['Next try', expect.stringMatching(/^2\d{3}-/)]);
  expect(attempt.chain.before).toMatchObject([{ id: tradeId }, { id: event.row.id }]);
  status = 200;
  const again = (await page('send', { id: attempt.row.id })).json;
  expect(again).toEqual({ id: expect.stringMatching(/^attempt-\d+-\d+$/), text: 'Sent: 200', failed: false });
  const tries = (await page(`show?id=${again.id}`)).json;
  const before = [{ id: tradeId }, { id: event.row.id }, { id: attempt.row.id, status: '500' }];
  expect(tries.chain.before).toMatchObject(before);
  expect((await page(`show?id=${attempt.row.id}`)).json.chain.after).toMatchObject([{ id: again.id, status: '200' }]);
  const sent = hook.requests.length;
  expect((await page('send', { id: event.row.id })).json.text).toBe('Sent: 200');
  expect(hook.requests.length).toBe(sent + 1);
  expect(hook.requests.at(-1)?.body).toBe(hook.requests[0]?.body);
  const other = await stub((_, response) => response.end());
  expect((await page('send', { id: attempt.row.id, url: `${other.url}/else` })).json).toEqual({
    id: null,
    text: `Accepted by ${other.url}/else: 200`,
    failed: false,
  });
  expect(other.requests[0]?.body).toBe(hook.requests[0]?.body);
  const later = await openPageApi((await startPage('sandbox start --port 0 --ui --empty', env)).ui);
  const stored = (await later('list')).json.rows.filter((row: { kind: string }) => row.kind === 'event');
  expect(stored).toMatchObject([{ id: event.row.id, atMs: Date.parse('2026-11-20T12:00:00Z') }]);
});

test('a comment is shown with the request that posted it and its trade', async () => {
  const { env, keys } = await tradersWorld();
  const { ui, env: served } = await startPage('sandbox start --port 0 --ui --empty --as-of 2026-11-20', env);
  const page = await openPageApi(ui);
  const flags = ['--chain', 'base', '--token', degen, '--text', 'gm', '--key-file', keys.evm];
  const post = (tx: string) =>
    runJson(['comment', 'post', ...flags, '--tx', tx, '--service-name', 'Sandbox'], { env: served });
  const { uid } = await post(swaps.good);
  const listed = async () => (await page('list')).json.rows.map(({ id }: { id: string }) => id);
  await expect.poll(listed).toContain(`comment-${uid}`);
  const { chain } = (await page(`show?id=comment-${uid}`)).json;
  expect(chain.before).toMatchObject([{ kind: 'trade' }, { kind: 'request', title: 'POST /v1/swap-comments' }]);
  const request = (await page(`show?id=${chain.before[1].id}`)).json;
  expect(request.chain.after).toMatchObject([{ id: `comment-${uid}` }]);
  // At the same moment of a stopped clock.
  const { uid: second } = await post(swaps.second);
  await expect.poll(listed).toContain(`comment-${second}`);
});

test('webhooks are registered and deleted, and a test event goes to each', async () => {
  const { page } = await open();
  expect((await page('test', {})).json).toEqual({
    code: 'usage',
    error: 'there is no webhook',
    hint: 'Register one on the Webhooks tab.',
  });
  const hook = await stub((_, response) => response.end());
  const { uid } = (await page('webhook-register', { destinationUrl: hook.url, walletAddresses: [trader] })).json;
  expect((await page('test', {})).json).toEqual({ id: null, text: 'Sent to 1 webhook.', failed: false });
  await expect.poll(() => hook.requests.length).toBe(1);
  await page('webhook-delete', { uid });
  expect((await page('call?endpoint=webhook.list')).json.data).toEqual([]);
  expect((await page('webhook-secret', { uid })).json.error).toBe(`webhook ${uid}: does not exist`);
});
