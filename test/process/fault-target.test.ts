import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openDb } from '../../src/sandbox/db/store.ts';
import { addLiveTrades, liveTrade } from '../../src/sandbox/ledger/live-trades.ts';
import { run, runJson, stub, temporaryFolder, until } from '../support/harness.ts';
import { allFaults, brokenService, inShort, kindOf, targetKinds } from '../support/hostile/faults.ts';
import { storedIds } from '../support/inbox.ts';
import { bodyOf, listen } from '../support/listening.ts';
import { freePorts, manyAddresses, serve, start } from '../support/processes.ts';
import { size, some } from '../support/size.ts';

test('every fault of a target has its kind', () => {
  expect(Object.values(targetKinds).flat().sort()).toEqual([...allFaults].sort());
});

/** A folder whose listener stored two events while it forwarded them to a target that fails so. */
async function listenTo(fault: string) {
  const folder = temporaryFolder();
  const target = await brokenService(fault);
  const { deliver, stop } = await listen(folder, `--forward-to ${target.url}/hook`, undefined, {}, { skipWaits: true });
  for (const id of ['one', 'two']) expect(await deliver(bodyOf(id, 'copyswap'))).toBe(200);
  const enough = { taken: 2, passing: 3, moved: 3, refusing: 11, silent: 1, gone: 0 }[kindOf(fault)] ?? 0;
  await until(() => target.requests.length >= enough);
  const outcome = await stop();
  target.close();
  return { folder, env: { SOTRA_DATA_DIR: folder }, outcome, requests: target.requests };
}

const faults = some(allFaults, 8);

test.each(faults)('webhook listen accepts and stores every event, even if its target has %s', async (fault) => {
  const { env, outcome, requests } = await listenTo(fault);
  expect(outcome.code).toBe(0);
  expect(requests.every((method) => method === 'POST')).toBe(true);
  const events = await runJson('webhook events', { env });
  expect(events.map(({ eventId }: { eventId: string }) => eventId)).toEqual(['two', 'one']);
  const kind = kindOf(fault);
  if (kind === 'taken') expect(requests).toEqual(['POST', 'POST']);
  // What is not taken is not given up: it waits for the next start.
  if (['passing', 'moved', 'silent', 'gone'].includes(kind)) expect(outcome.err).toContain('2 deliveries wait to be');
  if (kind === 'refusing')
    expect(outcome.err).toMatch(/event one was not accepted in 10 tries \(HTTP \d{3}\): set aside/);
});

test.each([
  ['webhook replay one', 3, 10],
  ['webhook trigger copyswap --secret-file @/secret', 1, 9],
])('%s tries %i times and exits with %i if a target does not accept the event', async (line, tries, failed) => {
  const { folder, env } = await listenTo('garbage');
  const cells = await Promise.all(
    faults.map(async (fault) => {
      const target = await brokenService(fault);
      const patience = kindOf(fault) === 'silent' ? '--timeout 400ms' : '';
      const argv = `${line.replace('@', folder)} --to ${target.url}/hook --json ${patience}`;
      const { code, out } = await run(argv, { env: { ...env, SOTRA_CONFIG_DIR: folder }, skipWaits: true });
      target.close();
      return [fault, code, inShort(target.requests), JSON.parse(out)[0].error === 'no answer within 0.4 s'];
    }),
  );
  const expected = (kind: string) => {
    if (kind === 'taken') return [0, 'POST 1', false];
    return [failed, kind === 'gone' ? '' : `POST ${tries}`, kind === 'silent'];
  };
  expect(cells).toEqual(faults.map((fault) => [fault, ...expected(kindOf(fault))]));
});

test('Ctrl-C ends webhook replay and webhook trigger while their target is silent', async () => {
  const { env, folder } = await listenTo('garbage');
  for (const argv of ['webhook replay one', `webhook trigger copyswap --secret-file ${folder}/secret`]) {
    const target = await brokenService('no first byte');
    const stopping = new AbortController();
    const ended = run(`${argv} --to ${target.url}/hook --json`, { env, signal: stopping.signal });
    await until(() => target.requests.length > 0);
    stopping.abort();
    const { code, out, err } = await ended;
    expect([argv, code, out]).toEqual([argv, 130, '']);
    expect(JSON.parse(err).error.message).toMatch(/^interrupted while waiting for the answer of http:/);
  }
});

/**
 * Lets a sandbox deliver as fast as it can to a listener that is killed now and then and forwards to a target that fails a third of the
 * time; then compares what happened with what was stored and forwarded.
 */
async function flood({ trades, webhooks, killAt }: { trades: number; webhooks: number; killAt: readonly number[] }) {
  const folder = temporaryFolder();
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
  const sandbox = await serve(folder, ['--empty']);
  const own = { SOTRA_DATA_DIR: folder, SOTRA_CONFIG_DIR: folder };
  const env = { ...own, SOTRA_BASE_URL: sandbox.url, SOTRA_API_KEY: 'sandbox-key-a' };
  const secretFile = join(folder, 'secrets');
  const [port = 0] = await freePorts(1);
  const ready = join(folder, 'listening');
  const listen = async () => {
    rmSync(ready, { force: true });
    const argv = `webhook listen --port ${port} --secret-file ${secretFile} --forward-to ${target.url}/in`;
    const child = start(`${argv} --ready-file ${ready} --quiet`, env);
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
    const argv = `webhook register --url http://127.0.0.1:${port}/h${index} --wallet-addresses ${follower} --show-secrets`;
    secrets.push((await runJson(argv, { env })).secret);
  }
  writeFileSync(secretFile, `${secrets.join('\n')}\n`);
  let listener = await listen();
  for (let from = 0; from < trades; from += 50) {
    const nowMs = Date.now();
    const buy = { chain: 'base', trader, side: 'buy', amount: 1 } as const;
    const batch = tokens
      .slice(from, from + 50)
      .map((token, index) => liveTrade({ ...buy, token, usd: 100 + index }, nowMs));
    addLiveTrades(db, batch, nowMs);
  }
  const count = (state: string) => Number(db.value('SELECT count(*) FROM outbox WHERE state = ?', [state]));
  const deliveries = trades * webhooks;
  for (const share of killAt) {
    await until(() => count('delivered') >= deliveries * share, `${share} of the deliveries`);
    listener.child.kill('SIGKILL');
    await listener.ended;
    listener = await listen();
  }
  await until(() => count('waiting') === 0, 'everything is delivered');
  await until(() => once.size >= count('delivered'), 'everything is forwarded');
  listener.child.kill('SIGTERM');
  await listener.ended;
  const stored = storedIds(folder);
  const outOfOrder: string[] = [];
  for (const id of db.values<number>('SELECT id FROM webhook')) {
    const happened = db.values<string>('SELECT id FROM event WHERE webhook_id = ? ORDER BY seq', [id]);
    const ofHook = new Set(happened);
    for (const [name, list] of Object.entries({ stored, forwarded: taken }))
      if (list.filter((each) => ofHook.has(each)).join() !== happened.join()) outOfOrder.push(`webhook ${id} ${name}`);
  }
  return {
    delivered: count('delivered'),
    failed: count('failed'),
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
  expect(await flood({ trades, webhooks, killAt })).toEqual({
    delivered: deliveries,
    failed: 0,
    stored: deliveries,
    storedTwice: 0,
    forwarded: deliveries,
    outOfOrder: [],
  });
});
