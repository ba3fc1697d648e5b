import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openDb } from '../../src/sandbox/db/store.ts';
import { addLiveTrades, liveTrade } from '../../src/sandbox/trades/live-trades.ts';
import { run, stub, temporaryFolder } from '../support/harness.ts';
import { send, signed } from '../support/listening.ts';
import { manyAddresses, serve, start } from '../support/processes.ts';
import { long, size } from '../support/size.ts';
import { until } from '../support/until.ts';
import { flood } from '../support/webhook-flood.ts';

test('a listener that is killed, with a target that fails a third of the time, stores each event once and forwards all in order', async () => {
  const [trades, webhooks] = [size(20, 100), size(2, 4)];
  const deliveries = trades * webhooks;
  const report = await flood({ trades, webhooks, killAt: [0.3] });
  expect(report).toMatchObject({
    deliveries,
    delivered: deliveries,
    failed: 0,
    stored: deliveries,
    storedTwice: 0,
    forwarded: deliveries,
    kills: 1,
    outOfOrder: [],
  });
});

long(
  'what a killed sandbox had not delivered yet, the next one delivers, and trades of other processes too',
  async () => {
    const folder = temporaryFolder();
    let down = true;
    const target = await stub((_, response) => response.writeHead(down ? 500 : 200).end());
    const first = await serve(folder, ['--empty']);
    const env = { SOTRA_DATA_DIR: folder, SOTRA_BASE_URL: first.url, SOTRA_API_KEY: 'sandbox-key-a' };
    const [trader = '', follower = '', token = ''] = manyAddresses(3);
    await run(`follow add ${follower} ${trader}`, { env });
    await run(`webhook register --url ${target.url} --wallet-addresses ${follower}`, { env });
    const db = openDb(first.db);
    onTestFinished(() => db.close());
    const nowMs = Date.now();
    addLiveTrades(db, [liveTrade({ chain: 'base', trader, token, side: 'buy', amount: 1, usd: 100 }, nowMs)], nowMs);
    await until(() => target.requests.length > 0, 'the first try');
    first.child.kill('SIGKILL');
    await until(() => first.child.exitCode !== null || first.child.signalCode !== null, 'the sandbox ends');
    rmSync(join(folder, 'ready.json'));
    down = false;
    const second = await serve(folder, ['--empty']);
    onTestFinished(() => void second.child.kill('SIGKILL'));
    const state = () => db.get<{ state: string }>('SELECT state FROM delivery')?.state;
    await until(() => state() === 'delivered', 'the delivery after the restart');
    const ids = target.requests.map(({ body }) => JSON.parse(body).events[0].eventId);
    expect(new Set(ids).size).toBe(1);
  },
);

long('commands of other processes that look at the store take nothing from a listener', async () => {
  const folder = temporaryFolder();
  const env = { SOTRA_DATA_DIR: folder, SOTRA_CONFIG_DIR: folder };
  const [secretFile, ready] = [join(folder, 'hook.secret'), join(folder, 'ready')];
  writeFileSync(secretFile, 'whsec_test\n', { mode: 0o600 });
  const target = await stub((_, response) => response.end());
  const argv = ['webhook', 'listen', '--port', '0', '--secret-file', secretFile, '--forward-to', target.url];
  const { child, ended } = start([...argv, '--ready-file', ready], env);
  onTestFinished(() => void child.kill('SIGKILL'));
  await until(() => existsSync(ready), 'the listener listens');
  const { url } = JSON.parse(readFileSync(ready, 'utf8'));
  const seen: string[][] = [];
  for (const eventId of ['one', 'two', 'three']) {
    const body = JSON.stringify({ eventId, eventType: 'copyswap' });
    const status = await send(url, body, signed(body));
    const other = start(['webhook', 'events', '--columns', 'eventId', '--json'], env);
    expect([status, await other.ended]).toEqual([200, 0]);
    seen.push(
      JSON.parse(other.printed.out)
        .map((event: { eventId: string }) => event.eventId)
        .sort(),
    );
  }
  expect(seen).toEqual([['one'], ['one', 'two'], ['one', 'three', 'two']]);
  child.kill('SIGTERM');
  expect(await ended).toBe(0);
});
