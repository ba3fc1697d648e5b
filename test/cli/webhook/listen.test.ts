import { statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { failure, run, runJson, type Stub, stub, temporaryFolder, until } from '../../support/harness.ts';
import { bodyOf, listen, secret, send, signed } from '../../support/listening.ts';

test('a signed event is stored once, an unsigned or wrong one is 401, a repeat is accepted and not shown again', async () => {
  const { url, stop, deliver, env } = await listen(temporaryFolder(), '--json');
  const body = bodyOf('one');
  expect(await send(url, body, {})).toBe(401);
  expect(await send(url, body, signed(body, 'other'))).toBe(401);
  expect(await send(url, `${body} `, signed(body))).toBe(401);
  const single = '{"eventId":"two","eventType":"copyswap"}';
  for (const each of [body, body, single]) expect(await deliver(each)).toBe(200);
  expect((await fetch(url)).status).toBe(405);
  const { out } = await stop();
  const printed = out.trim().split('\n');
  expect(printed.map((line) => JSON.parse(line))).toEqual([JSON.parse(body).events[0], JSON.parse(single)]);
  expect(await runJson('webhook events', { env })).toMatchObject([{ eventId: 'two' }, { eventId: 'one' }]);
  const file = join(env.SOTRA_DATA_DIR, 'webhook', 'inbox', 'default', 'inbox.db');
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

const tradeEvent = (...trades: object[]) => {
  const metadata = { tokenSymbol: 'DEGEN', tokenChain: 'base', trades };
  const feedItem = { actor: { name: 'whale' }, metadata };
  return JSON.stringify({ eventId: '2', eventType: 'new-feed-item', feedItem });
};

test.each([
  ['{"events":[{"eventType":"x"}]}', '\tx\t\tan event of the type x\t'],
  ['{"events":[{"eventId":"1","eventType":"profile-updated"}]}', '\tan event of the type profile-updated\t1'],
  ['[]', '\tunknown\t\tan event without a type\t'],
  ['no JSON', '\tunknown\t\tan event without a type\t'],
  [tradeEvent({ direction: 'buy', usdCost: 12 }), '\twhale buys $12.00 of DEGEN on base\t2'],
  [tradeEvent({ direction: 'sell', usdCost: 12 }), '\twhale sells $12.00 of DEGEN on base\t2'],
  [tradeEvent(), '\twhale trades DEGEN on base\t2'],
])('the signed body %j is shown by its type, a trade by its direction', async (body, shown) => {
  const { stop, deliver } = await listen(temporaryFolder());
  expect(await deliver(body)).toBe(200);
  expect((await stop()).out).toContain(shown);
});

test('bytes and headers are forwarded unchanged, again until they are accepted; routes get only their kind', async () => {
  const target = await stub((_, response, count) => response.writeHead(count % 3 === 1 ? 500 : 200).end());
  const comments = await stub((_, response) => response.end());
  const flags = `--forward-to ${target.url}/all --route comment-created=${comments.url}/comments`;
  const { url, stop } = await listen(temporaryFolder(), flags);
  const bodies = ['a', 'b', 'c', 'd'].map((id) => bodyOf(id, id === 'c' ? 'comment-created' : 'new-feed-item'));
  const headers = bodies.map((body): Record<string, string> => ({ ...signed(body), 'X-Custom': 'kept as it is' }));
  for (const [index, body] of bodies.entries()) expect(await send(url, body, headers[index] ?? {})).toBe(200);
  await until(() => new Set(target.requests.map(({ body }) => body)).size === 4 && comments.requests.length === 1);
  await stop();
  const order = [...new Set(target.requests.map(({ body }) => body))];
  expect(order).toEqual(bodies);
  expect(target.requests.at(-1)?.headers).toMatchObject({
    'daylight-signature': headers[3]?.['Daylight-Signature'],
    'x-custom': 'kept as it is',
  });
  expect(comments.requests.map(({ body, url: path }) => [body, path])).toEqual([[bodies[2], '/comments']]);
});

test('--retries limits how often a delivery is sent that is not accepted, when forwarding and in replay', async () => {
  const target = await stub((_, response) => response.writeHead(503).end());
  const { stop, shown, deliver, env } = await listen(temporaryFolder(), `--forward-to ${target.url} --retries 1`);
  expect(await deliver(bodyOf('one'))).toBe(200);
  await until(() => shown.err.includes('set aside'));
  expect(target.requests).toHaveLength(2);
  const { err } = await stop();
  expect(err).toContain(
    'event one was not accepted in 2 tries (HTTP 503): set aside; sotra webhook replay --failed sends it again',
  );
  expect(err).toContain('1 delivery set aside: see sotra webhook events --status failed.');
  expect(err).not.toContain('wait to be forwarded');
  expect((await run(`webhook replay one --to ${target.url} --retries 0`, { env })).code).toBe(10);
  expect(target.requests).toHaveLength(3);
});

test('why a target fails is shown by other commands with its tries and the next one, and printed when it changes, not for each delivery', async () => {
  let status = 500;
  const target = await stub((_, response) => response.writeHead(status).end());
  const { stop, shown, deliver, env } = await listen(temporaryFolder(), `--forward-to ${target.url}/in`);
  for (const id of ['one', 'two', 'three']) expect(await deliver(bodyOf(id))).toBe(200);
  const show = () => runJson('webhook show two', { env });
  await expect.poll(async () => (await show()).retries.length).toBe(1);
  const two = await show();
  const retry = { url: `${target.url}/in`, webhook: two.webhook, status: 500, error: 'HTTP 500' };
  expect(two).toMatchObject({ status: 'waiting', forwards: [], retries: [retry] });
  expect(two.retries[0].nextMs).toBeGreaterThan(two.retries[0].atMs);
  const { err: notes } = await run('webhook events --status waiting --json', { env });
  expect(notes).toMatch(/http:\S+\/in does not accept \/hook#[0-9a-f]{8}: HTTP 500; \d+ (try|tries), next at 20/);
  const table = await run('webhook show two', { env, tty: 120 });
  expect(table.out).toMatch(/Retries[\s\S]*http:\S+\/in\s+HTTP 500/);
  status = 503;
  await until(() => shown.err.includes('-> 503'));
  status = 200;
  await until(() => (shown.err.match(/-> 200/g) ?? []).length === 3);
  await expect.poll(async () => (await show()).retries).toEqual([]);
  const { err } = await stop();
  expect(err.match(/warning: -> 50[03] in/g)).toEqual(['warning: -> 500 in', 'warning: -> 503 in']);
});

test('of two listeners on one store the second is refused', async () => {
  const folder = temporaryFolder();
  const first = await listen(folder);
  const second = await listen(folder);
  expect(await second.stop()).toMatchObject({ code: 3 });
  await first.stop();
  const third = await listen(folder);
  expect(third.url).not.toBe('');
});

test('replay sends stored events once more, as they came', async () => {
  const { stop, deliver, env } = await listen(temporaryFolder());
  const bodies = ['a', 'b', 'c'].map((id) => bodyOf(id));
  for (const body of bodies) await deliver(body);
  await stop();
  const target = await stub((_, response) => response.end());
  const one = await runJson(`webhook replay b --to ${target.url}`, { env });
  expect(one).toEqual([{ eventId: 'b', eventType: 'new-feed-item', taken: true, status: 200, error: null }]);
  expect((await run(`webhook replay --since 1h --to ${target.url}`, { env })).code).toBe(0);
  expect(target.requests.map(({ body }) => body)).toEqual([bodies[1], ...bodies]);
  expect((await run(`webhook replay --failed --to ${target.url}`, { env })).err).toBe('No deliveries to send.\n');
  expect((await run(`webhook replay nobody --to ${target.url}`, { env })).code).toBe(5);
  expect((await run(`webhook replay --to ${target.url}`, { env })).code).toBe(2);
  expect((await run('webhook replay a --to http://127.0.0.1:1', { env })).code).toBe(10);
});

test('an address that this machine has not is an error about --host', async () => {
  const { code, err } = await (await listen(temporaryFolder(), '--host 203.0.113.1')).stop();
  expect([code, err]).toEqual([
    3,
    'error: cannot listen on 203.0.113.1:0: this machine has no such address\nhint: Check --host.\n',
  ]);
});

test('a port in use is an error, and nothing keeps running', async () => {
  const [folder, other] = [temporaryFolder(), temporaryFolder()];
  const { url } = await listen(folder);
  const argv = `--port ${new URL(url).port} --forward-to http://127.0.0.1:9/in`;
  expect(await (await listen(other, argv)).stop()).toEqual(failure(3, ': another program listens there\n'));
  const next = await listen(other, '--forward-to http://127.0.0.1:9/in');
  expect(await next.deliver(bodyOf('one'))).toBe(200);
});

const [wallet, other] = ['0x1111111111111111111111111111111111111111', '0x2222222222222222222222222222222222222222'];
const token = '0x3333333333333333333333333333333333333333';

function routedBody(id: string, { type = 'new-feed-item', trader = wallet, chain = 'base', reason = 'aped-in' } = {}) {
  const trades = [{ direction: 'buy' }, { direction: 'sell' }];
  const feedItem = { actor: { address: trader }, metadata: { tokenChain: chain, tokenAddress: token, trades } };
  const event = { eventId: id, eventType: type, reason, walletAddresses: [], externalIds: ['7'], feedItem };
  return JSON.stringify({ events: [event] });
}

const idsAt = (target: Stub) => target.requests.map(({ body }) => JSON.parse(body).events[0].eventId);

test('a route accepts conditions: a wallet, a token, a chain, a reason and any field of the event', async () => {
  const rules = [
    `new-feed-item where address=${wallet.toUpperCase().replace('X', 'x')}`,
    `* where token=${token} and chain=solana`,
    'comment-created where reason=first-buy',
    '* where feedItem.metadata.trades.direction=sell and address=ext:7 and chain=zora',
    'copyswap',
  ];
  const targets = await Promise.all(rules.map(() => stub((_, response) => response.end())));
  const routes = rules.flatMap((rule, at) => ['--route', `${rule}=${targets[at]?.url}/in?a=b`]);
  const { stop, shown, deliver } = await listen(temporaryFolder(), routes);
  await deliver(routedBody('a'));
  await deliver(routedBody('b', { trader: other, chain: 'solana' }));
  await deliver(routedBody('c', { type: 'comment-created', reason: 'first-buy', chain: 'zora' }));
  await deliver(routedBody('d', { type: 'copyswap' }));
  await deliver(routedBody('e', { chain: 'solana' }));
  const expected = [['a', 'e'], ['b', 'e'], ['c'], ['c'], ['d']];
  await expect.poll(() => targets.map(idsAt)).toEqual(expected);
  expect(targets[0]?.requests[0]?.url).toBe('/in?a=b');
  await until(() => shown.err.split('-> 200').length === 8);
  expect((await stop()).err).not.toContain('wait to be forwarded');
});

test('only what fits a condition waits for its target, also over a restart', async () => {
  let down = true;
  const target = await stub((_, response) => response.writeHead(down ? 503 : 200).end());
  const folder = temporaryFolder();
  const routes = ['--route', `* where address=${other}=${target.url}`];
  const first = await listen(folder, routes);
  for (const [id, trader] of Object.entries({ a: wallet, b: other, c: wallet, d: other }))
    await first.deliver(routedBody(id, { trader }));
  const waiting = await runJson('webhook events --status waiting', { env: first.env });
  expect(waiting).toMatchObject([{ eventId: 'd' }, { eventId: 'b' }]);
  expect((await first.stop()).err).toContain('2 deliveries wait to be forwarded');
  down = false;
  target.requests.length = 0;
  const second = await listen(folder, routes);
  await until(() => second.shown.err.split('-> 200').length === 3);
  // What the first listener was sending when it stopped may arrive once more.
  expect([...new Set(idsAt(target))]).toEqual(['b', 'd']);
  expect((await second.stop()).err).not.toContain('wait to be forwarded');
});

test.each([
  'copyswap',
  'copyswap=127.0.0.1:3000',
  'copy swap=http://127.0.0.1:3000',
  'copyswap where=http://127.0.0.1:3000',
  'copyswap where wallet=x=http://127.0.0.1:3000',
  'copyswap where address=0x12=http://127.0.0.1:3000',
  'copyswap where token=ext:1=http://127.0.0.1:3000',
  'copyswap where chain=base or chain=zora and x=http://127.0.0.1:3000',
])('an invalid route is refused before anything starts: %s', async (route) => {
  const refused = await run(['webhook', 'forward', '--route', route]);
  expect(refused).toEqual(failure(2, "'KIND where FIELD=VALUE and FIELD=VALUE=URL'"));
});

test('a route to what is no http address is refused without its password', async () => {
  const refused = await run(['webhook', 'forward', '--route', '* where chain=base=ftp://me:pass@host/x']);
  expect(refused).toEqual(failure(2, 'ftp://***@host/x: must be an http or https address'));
});

test('a delivery older than --repeats-within is refused, unless --tolerance allows it', async () => {
  const now = Math.floor(Date.now() / 1000);
  const old = (days: number) => signed(bodyOf('old'), secret, now - days * 86_400);
  const usual = await listen(temporaryFolder());
  expect(await send(usual.url, bodyOf('old'), old(8))).toBe(401);
  expect(await send(usual.url, bodyOf('old'), old(6))).toBe(200);
  expect((await usual.stop()).err).toContain('too old: signed at');
  const longer = await listen(temporaryFolder(), '--repeats-within 30d');
  expect(await send(longer.url, bodyOf('old'), old(8))).toBe(200);
  const shorter = await listen(temporaryFolder(), '--repeats-within 1d --tolerance 10d');
  expect(await send(shorter.url, bodyOf('old'), old(8))).toBe(200);
});

test('the terminal says why no signature matches; the sender is told less', async () => {
  const { url, stop } = await listen(temporaryFolder());
  const body = bodyOf('one');
  const answer = await fetch(`${url}/hook`, { method: 'POST', body: `${body}\n`, headers: signed(body) });
  expect(await answer.json()).toEqual({ error: 'wrong signature: none in the header matches this body' });
  expect((await stop()).err).toContain('refused POST /hook: 401, body changed: a line end was added at the end\n');
});

test('a route of an unknown kind, chain or reason works, with a warning that names the known ones', async () => {
  const target = 'http://127.0.0.1:9/in';
  const routes = [
    `comment_created=${target}1`,
    `* where chain=Base=${target}2`,
    `copyswap where chain=base=${target}3`,
    `* where reason=first_buy=${target}4`,
    `* where reason=aped-in=${target}5`,
  ];
  const flags = routes.flatMap((route) => ['--route', route]);
  const { stop } = await listen(temporaryFolder(), flags);
  const warnings = (await stop()).err.split('\n').filter((line) => line.startsWith('warning: --route'));
  expect(warnings).toEqual([
    expect.stringMatching(/: unknown kind of event comment_created; known: .* Did you mean comment-created\?$/),
    expect.stringMatching(/: unknown chain Base; known: ethereum, .* Did you mean base\?$/),
    'warning: --route: unknown reason first_buy; known: first-buy, repeat-buy, aped-in. Did you mean first-buy?',
  ]);
});
