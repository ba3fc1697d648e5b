import { createHmac } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openDb } from '../../../../src/sandbox/db/store.ts';
import { run, type Script, stub, temporaryFolder } from '../../../support/harness.ts';

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
  const { out } = await run(
    `--sandbox webhook register --url ${target.url}/h --wallet-addresses ${follower},${stranger} --show-secrets --json`,
    { env },
  );
  const webhook: { uid: string; secret: string } = JSON.parse(out);
  const trade = async (usd: number, more = '--side buy', who = trader) =>
    JSON.parse(
      (
        await run(
          `sandbox trade --chain base --trader ${who} --token ${token} --amount 10 --usd ${usd} ${more} --json`,
          { env },
        )
      ).out,
    );
  return { folder, env, target, webhook, trade };
}

const eventsIn = (requests: readonly { body: string }[]) => requests.flatMap(({ body }) => JSON.parse(body).events);

test('a buy of someone who is followed is delivered: signed, for the subscribed followers, with the trade first in the card', async () => {
  const { target, webhook, trade } = await world();
  const made = await trade(250);
  expect(made).toMatchObject({ deliveries: 1 });
  expect(target.requests).toHaveLength(1);
  const [request] = target.requests;
  const [t, v1] = String(request?.headers['daylight-signature'])
    .split(',')
    .map((part) => part.slice(part.indexOf('=') + 1));
  expect(v1).toBe(createHmac('sha256', webhook.secret).update(`${t}.${request?.body}`).digest('base64url'));
  const [event] = eventsIn(target.requests);
  expect(event).toMatchObject({
    eventType: 'new-feed-item',
    reason: 'first-buy',
    walletAddresses: [follower],
    feedItem: { itemId: made.positionId, actor: { address: trader } },
  });
  expect(event.feedItem.metadata.trades[0]).toMatchObject({
    direction: 'buy',
    usdCost: 250,
    transactionHash: made.transactionHash,
  });
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
  const { env, target } = await world();
  expect((await run('sandbox reset --yes', { env })).code).toBe(0);
  const { out } = await run(
    `--sandbox webhook register --url ${target.url}/h --wallet-addresses ${follower} --json --another`,
    { env },
  );
  const { uid } = JSON.parse(out);
  for (const type of ['new-feed-item', 'comment-created', 'copyswap']) {
    const { code, out: sent } = await run(`webhook trigger ${type} --uid ${uid} --json --sandbox`, { env });
    expect([type, code]).toEqual([type, 0]);
    expect(JSON.parse(sent)).toMatchObject([{ eventType: type, delivered: true, status: 200, uid }]);
  }
  const events = eventsIn(target.requests);
  expect(events.map(({ eventType }) => eventType)).toEqual(['new-feed-item', 'comment-created', 'copyswap']);
  expect(events[1].comment.commentText).toEqual(expect.any(String));
  expect(events[2].copyswapActor.address).toEqual(expect.any(String));
  expect(events[2].copyswapTrade.usdCost).toEqual(expect.any(Number));
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
  const [request] = target.requests;
  const header = request?.headers['daylight-signature'] as string;
  const t = /t=(\d+)/.exec(header)?.[1];
  expect(header).toBe(`t=${t},v1=${createHmac('sha256', 'abc').update(`${t}.${request?.body}`).digest('base64url')}`);
  expect((await run(argv, { env })).code).toBe(9);
});

test('trigger --to signs with the secret of the webhook that has the address, also in other words', async () => {
  const { env } = await world();
  const target = await stub((_, response) => response.end());
  await run('sandbox reset --yes', { env });
  await run(`--sandbox webhook register --url ${target.url}/a/../hook --wallet-addresses ext:a`, { env });
  expect((await run(`webhook trigger new-feed-item --to ${target.url}/hook/`, { env })).code).toBe(0);
});

test('validate fails if the destination accepts unsigned requests or refuses signed ones, and says which', async () => {
  const { env, webhook } = await world();
  const lax = await run(`--sandbox webhook validate ${webhook.uid} --json`, { env });
  expect(lax.code).toBe(12);
  expect(JSON.parse(lax.out).error).toMatch(/unsigned probe was answered 200/);
  const strict = await stub((_, response) => response.writeHead(403).end());
  const { out } = await run(`--sandbox webhook register --url ${strict.url} --wallet-addresses ${follower} --json`, {
    env,
  });
  const refusing = await run(`--sandbox webhook validate ${JSON.parse(out).uid} --json`, { env });
  expect(refusing.code).toBe(12);
  expect(JSON.parse(refusing.out).error).toMatch(/signed probe must be answered 2xx: HTTP 403/);
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
  const { out, code } = await run('sandbox simulate --rate 50/s --for 1s --json', { env, skipWaits: true });
  expect(code).toBe(0);
  expect(JSON.parse(out)).toMatchObject({ trades: 50, deliveries: 0 });
  expect((await run('sandbox simulate --rate often', { env })).code).toBe(2);
});

test('a trade that is made names its own position, in a world full of others', async () => {
  const env = { SOTRA_DATA_DIR: temporaryFolder() };
  const { out } = await run(
    `sandbox trade --chain hyperliquid --trader ${trader} --token ETH --side buy --amount 1 --usd 3000 --leverage 5 --json`,
    { env },
  );
  const { positionId } = JSON.parse(out);
  const { out: card } = await run(`--sandbox position get ${positionId} --json`, { env });
  expect(JSON.parse(card)).toMatchObject({
    itemId: positionId,
    actor: { address: trader },
    metadata: { tokenAddress: 'ETH', perpPositionType: 'long', perpLeverage: 5 },
  });
});
