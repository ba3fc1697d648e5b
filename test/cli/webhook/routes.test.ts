import { expect, test } from 'vitest';
import { run, type Stub, stub, temporaryFolder } from '../../support/harness.ts';
import { listen, send, signed } from '../../support/listening.ts';
import { until } from '../../support/until.ts';

const [wallet, other] = ['0x1111111111111111111111111111111111111111', '0x2222222222222222222222222222222222222222'];
const token = '0x3333333333333333333333333333333333333333';

function bodyOf(eventId: string, { type = 'new-feed-item', trader = wallet, chain = 'base', reason = 'aped-in' } = {}) {
  const trades = [{ direction: 'buy' }, { direction: 'sell' }];
  const metadata = { tokenChain: chain, tokenAddress: token, trades };
  const event = {
    eventId,
    eventType: type,
    reason,
    walletAddresses: [],
    externalIds: ['7'],
    feedItem: { actor: { address: trader }, metadata },
  };
  return JSON.stringify({ events: [event] });
}

const deliver = async (url: string, body: string) => expect(await send(url, body, signed(body))).toBe(200);
const idsAt = (target: Stub) => target.requests.map(({ body }) => JSON.parse(body).events[0].eventId);

test('a route takes conditions: a wallet, a token, a chain, a reason and any field of the event', async () => {
  const rules = [
    `new-feed-item where address=${wallet.toUpperCase().replace('X', 'x')}`,
    `* where token=${token} and chain=solana`,
    'comment-created where reason=first-buy',
    '* where feedItem.metadata.trades.direction=sell and address=ext:7 and chain=zora',
    'copyswap',
  ];
  const targets = await Promise.all(rules.map(() => stub((_, response) => response.end())));
  const routes = rules.flatMap((rule, at) => ['--route', `${rule}=${targets[at]?.url}/in?a=b`]);
  const folder = temporaryFolder();
  const { url, stop, shown } = await listen(folder, routes);
  await deliver(url, bodyOf('a'));
  await deliver(url, bodyOf('b', { trader: other, chain: 'solana' }));
  await deliver(url, bodyOf('c', { type: 'comment-created', reason: 'first-buy', chain: 'zora' }));
  await deliver(url, bodyOf('d', { type: 'copyswap' }));
  await deliver(url, bodyOf('e', { chain: 'solana' }));
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
  for (const [id, trader] of [
    ['a', wallet],
    ['b', other],
    ['c', wallet],
    ['d', other],
  ])
    await deliver(first.url, bodyOf(String(id), { trader: String(trader) }));
  const env = { SOTRA_DATA_DIR: folder };
  const waiting = await run('webhook events --status waiting --columns eventId --format csv', { env });
  expect(waiting.out).toBe('eventId\nd\nb\n');
  const stats = JSON.parse((await run('webhook stats --json', { env })).out);
  expect(stats).toMatchObject([{ received: 4, waiting: 2 }]);
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
])('a route that is none is refused before anything starts: %s', async (route) => {
  const { code, err } = await run(['webhook', 'forward', '--route', route]);
  expect([code, err]).toEqual([2, expect.stringContaining("'KIND where FIELD=VALUE and FIELD=VALUE=URL'")]);
});

test('a route to what is no http address is refused without its password', async () => {
  const { code, err } = await run(['webhook', 'forward', '--route', '* where chain=base=ftp://me:pass@host/x']);
  expect([code, err]).toEqual([2, expect.stringContaining('ftp://***@host/x: must be an http or https address')]);
});
