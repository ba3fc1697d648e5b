import { createHmac } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openDb } from '../../../../src/sandbox/db/store.ts';
import { run, runJson, type Script, type Seen, stub, temporaryFolder } from '../../../support/harness.ts';

const trader = '0x1111111111111111111111111111111111111111';
const follower = '0x2222222222222222222222222222222222222222';
const stranger = '0x3333333333333333333333333333333333333333';
const token = '0x5180db8f5c931aae63c74266b211f580155ecac8';

/** An empty sandbox whose one webhook is subscribed for a follower, and whose deliveries arrive at a script. */
async function world(script: Script = (_, response) => response.end()) {
  const folder = temporaryFolder();
  const env = { SOTRA_DATA_DIR: folder };
  const target = await stub(script);
  await run('sandbox reset --empty', { env });
  await run(`--sandbox follow add ${follower} ${trader}`, { env });
  const register = (url: string, more = '') =>
    runJson(`--sandbox webhook register --url ${url} --wallet-addresses ${follower},${stranger} ${more}`, { env });
  const webhook: { uid: string; secret: string } = await register(`${target.url}/h`, '--show-secrets');
  const trade = (usd: number, more = '--side buy', who = trader) =>
    runJson(`sandbox trade --chain base --trader ${who} --token ${token} --amount 10 --usd ${usd} ${more}`, { env });
  return { folder, env, target, webhook, register, trade };
}

const eventsIn = (requests: readonly { body: string }[]) => requests.flatMap(({ body }) => JSON.parse(body).events);

function expectSigned({ headers, body }: Seen, secret: string): void {
  const header = String(headers['daylight-signature']);
  const t = /^t=(\d+),v1=/.exec(header)?.[1];
  expect(header).toBe(`t=${t},v1=${createHmac('sha256', secret).update(`${t}.${body}`).digest('base64url')}`);
}

test('a buy of someone who is followed is delivered: signed, for the subscribed followers, with the trade first in the card', async () => {
  const { target, webhook, trade } = await world();
  const made = await trade(250);
  expect(made).toMatchObject({ deliveries: 1 });
  expect(target.requests).toHaveLength(1);
  expectSigned(target.requests[0] as Seen, webhook.secret);
  const [event] = eventsIn(target.requests);
  expect(event).toMatchObject({
    eventType: 'new-feed-item',
    reason: 'first-buy',
    walletAddresses: [follower],
    feedItem: { itemId: made.positionId, actor: { address: trader } },
  });
  const traded = { direction: 'buy', usdCost: 250, transactionHash: made.transactionHash };
  expect(event.feedItem.metadata.trades[0]).toMatchObject(traded);
});

test('reasons: first-buy, then repeat-buy over $1,000, then aped-in above 1.4 times the average; sells and strangers make none', async () => {
  const { target, trade } = await world();
  await trade(600); // first
  await trade(300); // 900 so far: nothing
  await trade(200); // 1,100: over 1,000
  await trade(500); // average 366.67, times 1.4 is 513.33: nothing
  await trade(700); // average 400, times 1.4 is 560
  await trade(50, '--side sell');
  await trade(5000, '--side buy', stranger);
  expect(eventsIn(target.requests).map(({ reason }) => reason)).toEqual(['first-buy', 'repeat-buy', 'aped-in']);
});

test('a comment and a copy make events for the followers and for the author', async () => {
  const { env, target, register } = await world();
  expect((await run('sandbox reset --yes', { env })).code).toBe(0);
  const { uid } = await register(`${target.url}/h`, '--another');
  const types = ['new-feed-item', 'comment-created', 'copyswap'];
  for (const eventType of types) {
    const sent = await runJson(`webhook trigger ${eventType} --uid ${uid} --sandbox`, { env });
    expect(sent).toMatchObject([{ eventType, delivered: true, status: 200, uid }]);
  }
  const events = eventsIn(target.requests);
  expect(events.map(({ eventType }) => eventType)).toEqual(types);
  expect(events[1].comment.commentText).toEqual(expect.any(String));
  expect(events[2]).toMatchObject({
    copyswapActor: { address: expect.any(String) },
    copyswapTrade: { usdCost: expect.any(Number) },
  });
});

test('trigger --to signs with a secret file and needs one for an address that no webhook has', async () => {
  const { env, folder } = await world();
  const target = await stub((_, response, count) => response.writeHead(count === 1 ? 200 : 500).end());
  await run('sandbox reset --yes', { env });
  expect((await run(`webhook trigger new-feed-item --to ${target.url}`, { env })).code).toBe(2);
  const file = join(folder, 'secret');
  writeFileSync(file, 'abc\n');
  const argv = `webhook trigger new-feed-item --to ${target.url} --secret-file ${file}`;
  expect((await run(argv, { env })).code).toBe(0);
  expectSigned(target.requests[0] as Seen, 'abc');
  expect((await run(argv, { env })).code).toBe(9);
});

test('trigger --to signs with the secret of the webhook that has the address, also in other words', async () => {
  const { env, register, target } = await world();
  await run('sandbox reset --yes', { env });
  await register(`${target.url}/a/../hook`);
  expect((await run(`webhook trigger new-feed-item --to ${target.url}/hook/`, { env })).code).toBe(0);
});

test('validate fails if the destination accepts unsigned requests or refuses signed ones, and says which', async () => {
  const { env, webhook, register } = await world();
  const strict = await register((await stub((_, response) => response.writeHead(403).end())).url);
  for (const [uid, says] of [
    [webhook.uid, /unsigned probe was answered 200/],
    [strict.uid, /signed probe must be answered 2xx: HTTP 403/],
  ]) {
    const { code, out } = await run(`--sandbox webhook validate ${uid} --json`, { env });
    expect([code, JSON.parse(out).error]).toEqual([12, expect.stringMatching(says)]);
  }
});

test('deleting a webhook drops what waits for it', async () => {
  const { env, folder, webhook, trade } = await world((_, response) => response.writeHead(500).end());
  await trade(900);
  await run(`--sandbox webhook delete ${webhook.uid} --yes`, { env });
  const db = openDb(join(folder, 'sandbox.db'));
  onTestFinished(() => db.close());
  expect(db.get('SELECT count(*) AS n FROM outbox')).toEqual({ n: 0 });
});

test('simulate makes trades at the rate asked for', async () => {
  const env = { SOTRA_DATA_DIR: temporaryFolder() };
  const made = await runJson('sandbox simulate --rate 500/s --for 100ms', { env, skipWaits: true });
  expect(made).toMatchObject({ trades: 50, deliveries: 0 });
  expect((await run('sandbox simulate --rate often', { env })).code).toBe(2);
});

test('a trade that is made names its own position, in a world full of others', async () => {
  const env = { SOTRA_DATA_DIR: temporaryFolder() };
  const trade = `sandbox trade --chain hyperliquid --trader ${trader} --token ETH --side buy --amount 1 --usd 3000`;
  const { positionId } = await runJson(`${trade} --leverage 5`, { env });
  expect(await runJson(`--sandbox position get ${positionId}`, { env })).toMatchObject({
    itemId: positionId,
    actor: { address: trader },
    metadata: { tokenAddress: 'ETH', perpPositionType: 'long', perpLeverage: 5 },
  });
});
