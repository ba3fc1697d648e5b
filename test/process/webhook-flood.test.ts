import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openDb } from '../../src/sandbox/db/store.ts';
import { addLiveTrades, liveTrade } from '../../src/sandbox/ledger/live-trades.ts';
import { run, stub, temporaryFolder } from '../support/harness.ts';
import { storedIds } from '../support/inbox.ts';
import { freePorts, manyAddresses, serve, start } from '../support/processes.ts';
import { long, size } from '../support/size.ts';
import { until } from '../support/until.ts';

interface FloodReport {
  deliveries: number;
  /** Final states in the sandbox. */
  delivered: number;
  failed: number;
  /** Events in the listener's store, and how many of them twice. */
  stored: number;
  storedTwice: number;
  /** Events that the forward target took at least once. */
  forwarded: number;
  /** Webhooks whose events were stored, or first taken by the target, in another order than they happened. */
  outOfOrder: string[];
}

/**
 * Lets a sandbox deliver as fast as it can to a listener that is killed now and then and forwards to a target that fails a third of the
 * time; then compares what happened with what was stored and forwarded.
 */
async function flood(options: { trades: number; webhooks: number; killAt: readonly number[] }): Promise<FloodReport> {
  const folder = temporaryFolder();
  const { trades, webhooks, killAt } = options;
  const taken: string[] = [];
  const once = new Set<string>();
  const target = await stub(({ body }, response, count) => {
    const fails = count % 3 === 0;
    if (!fails)
      for (const { eventId } of JSON.parse(body).events) {
        if (!once.has(eventId)) taken.push(eventId);
        once.add(eventId);
      }
    response.writeHead(fails ? 500 : 200).end();
  });
  const targetUrl = `${target.url}/in`;
  const sandbox = await serve(folder, ['--empty']);
  const env = {
    SOTRA_DATA_DIR: folder,
    SOTRA_CONFIG_DIR: folder,
    SOTRA_BASE_URL: sandbox.url,
    SOTRA_API_KEY: 'sandbox-key-a',
  };
  const secretFile = join(folder, 'secrets');
  const [port = 0] = await freePorts(1);
  const ready = join(folder, 'listening');
  const listen = async () => {
    rmSync(ready, { force: true });
    const argv = ['webhook', 'listen', '--port', String(port), '--secret-file', secretFile, '--forward-to', targetUrl];
    const child = start([...argv, '--ready-file', ready, '--quiet'], env);
    await until(() => existsSync(ready) || child.child.exitCode !== null, 'the listener listens');
    if (child.child.exitCode !== null) throw new Error(child.printed.err);
    return child;
  };
  const [trader = '', follower = '', ...tokens] = manyAddresses(trades + 2);
  const db = openDb(sandbox.db);
  onTestFinished(() => db.close());
  await run(`follow add ${follower} ${trader}`, { env });
  const secrets: string[] = [];
  for (let index = 0; index < webhooks; index += 1) {
    const argv = `webhook register --url http://127.0.0.1:${port}/h${index} --wallet-addresses ${follower} --json --show-secrets`;
    secrets.push(JSON.parse((await run(argv, { env })).out).secret);
  }
  writeFileSync(secretFile, `${secrets.join('\n')}\n`);
  let listener = await listen();
  for (let from = 0; from < trades; from += 50) {
    const nowMs = Date.now();
    const batch = tokens
      .slice(from, from + 50)
      .map((token, index) =>
        liveTrade({ chain: 'base', trader, token, side: 'buy', amount: 1, usd: 100 + index }, nowMs),
      );
    addLiveTrades(db, batch, nowMs);
  }
  const states = () =>
    new Map(
      db
        .all<{ state: string; n: number }>('SELECT state, count(*) AS n FROM outbox GROUP BY state')
        .map(({ state, n }) => [state, n]),
    );
  const deliveries = trades * webhooks;
  for (const share of killAt) {
    await until(() => (states().get('delivered') ?? 0) >= deliveries * share, `${share} of the deliveries`);
    listener.child.kill('SIGKILL');
    await listener.ended;
    listener = await listen();
  }
  await until(() => (states().get('waiting') ?? 0) === 0, 'everything is delivered');
  await until(() => once.size >= (states().get('delivered') ?? 0), 'everything is forwarded');
  listener.child.kill('SIGTERM');
  await listener.ended;
  const stored = storedIds(folder);
  const outOfOrder: string[] = [];
  for (const { id } of db.all<{ id: number }>('SELECT id FROM webhook')) {
    const happened = db
      .all<{ id: string }>('SELECT id FROM event WHERE webhook_id = ? ORDER BY seq', [id])
      .map((row) => row.id);
    const own = new Set(happened);
    for (const [name, list] of [
      ['stored', stored],
      ['forwarded', taken],
    ] as const)
      if (list.filter((each) => own.has(each)).join() !== happened.join()) outOfOrder.push(`webhook ${id} ${name}`);
  }
  return {
    deliveries,
    delivered: states().get('delivered') ?? 0,
    failed: states().get('failed') ?? 0,
    stored: new Set(stored).size,
    storedTwice: stored.length - new Set(stored).size,
    forwarded: once.size,
    outOfOrder,
  };
}

test('a listener that is killed, with a target that fails a third of the time, stores each event once and forwards all in order', async () => {
  const [trades, webhooks, kills] = [size(20, 2000), size(2, 10), size(1, 100)];
  const deliveries = trades * webhooks;
  const killAt = Array.from({ length: kills }, (_, index) => (index + 1) / (kills + 1));
  const report = await flood({ trades, webhooks, killAt });
  expect(report).toMatchObject({
    deliveries,
    delivered: deliveries,
    failed: 0,
    stored: deliveries,
    storedTwice: 0,
    forwarded: deliveries,
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
    await serve(folder, ['--empty']);
    const state = () => db.get<{ state: string }>('SELECT state FROM outbox')?.state;
    await until(() => state() === 'delivered', 'the delivery after the restart');
    const ids = target.requests.map(({ body }) => JSON.parse(body).events[0].eventId);
    expect(new Set(ids).size).toBe(1);
  },
);
