import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { type Db, openDb } from '../../src/sandbox/db/store.ts';
import { startDeliverer } from '../../src/sandbox/deliver/deliver.ts';
import { run, type Seen, serve, stub, temporaryFolder } from '../support/harness.ts';
import {
  allFaults,
  createManualTimeouts,
  failing,
  kindOf,
  nodeWarnings,
  pourMegabytes,
} from '../support/hostile/faults.ts';
import { long, size } from '../support/size.ts';
import { until } from '../support/until.ts';

const trader = '0x1111111111111111111111111111111111111111';
const follower = '0x2222222222222222222222222222222222222222';
const token = '0x5180db8f5c931aae63c74266b211f580155ecac8';
const silent = allFaults.filter((fault) => kindOf(fault) === 'silent');
const heard = allFaults.filter((fault) => kindOf(fault) !== 'silent');

interface Target {
  fault: string;
  url: string;
  /** Ids of the events that came, in order, and whether each was answered well. */
  came: { id: string; taken: boolean }[];
  /** From now on everything is answered well. */
  recover: () => void;
}

/** A webhook's destination that fails so, for so many requests. */
async function targetWith(fault: string, bad = Number.POSITIVE_INFINITY): Promise<Target> {
  const waiting = await createManualTimeouts();
  const came: Target['came'] = [];
  let left = bad;
  const fail = (seen: Seen, response: ServerResponse) => {
    if (fault === 'redirect elsewhere') response.writeHead(307, { location: 'https://elsewhere.example/' }).end();
    else if (fault === '100 MB body') pourMegabytes(response, 100);
    else failing(fault, waiting)(seen, response, came.length);
  };
  const { server, url } = await stub((seen, response) => {
    left -= 1;
    const taken = left < 0 || kindOf(fault) === 'taken';
    came.push({ id: JSON.parse(seen.body).events[0].eventId, taken });
    if (left < 0) response.writeHead(204).end();
    else fail(seen, response);
  });
  if (fault === 'refused') await new Promise((resolve) => server.close(resolve));
  const recover = () => {
    left = 0;
    if (fault === 'refused') server.listen(Number(new URL(url).port), '127.0.0.1');
  };
  return { fault, url: `${url}/h`, came, recover };
}

interface Delivery {
  id: string;
  state: string;
  tries: number;
  error: string | null;
}

/** An empty sandbox with a webhook for each target, all of them told of one trader. */
async function worldOf(targets: readonly Target[]) {
  const folder = temporaryFolder();
  const env = { SOTRA_DATA_DIR: folder, SOTRA_CONFIG_DIR: folder };
  await run('sandbox reset --empty', { env });
  await run(`--sandbox follow add ${follower} ${trader}`, { env });
  for (const { url } of targets)
    expect((await run(`--sandbox webhook register --url ${url} --wallet-addresses ${follower}`, { env })).code).toBe(0);
  const db = openDb(join(folder, 'sandbox.db'));
  onTestFinished(() => db.close());
  const buy = (usd: number, signal?: AbortSignal) =>
    run(
      `sandbox trade --chain base --trader ${trader} --token ${token} --side buy --amount 10 --usd ${usd} --json`,
      signal === undefined ? { env } : { env, signal },
    );
  return { folder, env, db, buy };
}

/** A webhook's deliveries, in the order in which they came about. */
function deliveriesTo(db: Db, url: string): Delivery[] {
  return db.all<Delivery & Record<string, never>>(
    `SELECT e.id, d.state, d.tries, d.error FROM outbox d JOIN event e ON e.seq = d.item JOIN webhook w ON w.id = d.target
     WHERE w.destination_url = ? ORDER BY d.id`,
    [url],
  );
}

/** Delivers until nothing waits, as a served sandbox does, by a clock that sleeping moves; gives what it said. */
async function deliverAll(db: Db, answerMs: number): Promise<string[]> {
  const said: string[] = [];
  let nowMs = Date.now();
  const sleep = async (ms: number) => {
    nowMs += ms;
    await delay(1);
  };
  const warn = (text: string) => void said.push(text);
  const deliverer = startDeliverer({ db, now: () => nowMs, sleep, warn, answerMs });
  await until(() => db.get("SELECT 1 FROM outbox WHERE state = 'waiting'") === undefined);
  await deliverer.stop();
  return said;
}

test('a trade ends well whatever its webhooks do, and says what was not taken; after five tries it is given up', async () => {
  const targets = await Promise.all(heard.map((fault) => targetWith(fault)));
  const { db, buy, env } = await worldOf(targets);
  const warnings = nodeWarnings();
  const { code, out, err } = await buy(250);
  expect(warnings).toEqual([]);
  const failed = targets.filter(({ fault }) => kindOf(fault) !== 'taken');
  expect({ code, ...JSON.parse(out) }).toMatchObject({ code: 0, deliveries: heard.length, waiting: failed.length });
  for (const { fault, url } of targets) {
    const isTaken = kindOf(fault) === 'taken';
    const [only, ...more] = deliveriesTo(db, url);
    expect([fault, only?.state, only?.tries, more]).toEqual([fault, isTaken ? 'delivered' : 'waiting', 1, []]);
    const told = `warning: ${url} did not accept event ${only?.id} (${only?.error}): sent again up to 4 times`;
    expect([fault, err.includes(told)]).toEqual([fault, !isTaken]);
  }
  const said = await deliverAll(db, 5000);
  for (const { fault, url, came } of targets) {
    const [only] = deliveriesTo(db, url);
    const isTaken = kindOf(fault) === 'taken';
    const requests = isTaken ? 1 : fault === 'refused' ? 0 : 5;
    expect([fault, only?.state, only?.tries, came.length]).toEqual([
      fault,
      isTaken ? 'delivered' : 'failed',
      isTaken ? 1 : 5,
      requests,
    ]);
    const told = `${url} did not accept event ${only?.id} in 5 tries (${only?.error}): given up`;
    expect([fault, said.includes(told)]).toEqual([fault, !isTaken]);
  }
  const status = await run('sandbox status --json', { env });
  expect(JSON.parse(status.out)).toMatchObject({ webhooks: heard.length, waiting: 0, failed: failed.length });
});

long(
  'Ctrl-C ends a trade whose webhooks are silent: it is made, and its deliveries are not counted as tried',
  async () => {
    const targets = await Promise.all(silent.map((fault) => targetWith(fault)));
    const { db, buy } = await worldOf(targets);
    const stopping = new AbortController();
    const ended = buy(250, stopping.signal);
    await until(() => targets.every(({ came }) => came.length > 0));
    stopping.abort();
    const { code, out } = await ended;
    expect({ code, ...JSON.parse(out) }).toMatchObject({ code: 0, deliveries: 2, waiting: 2 });
    for (const { url } of targets) expect(deliveriesTo(db, url)).toMatchObject([{ state: 'waiting', tries: 0 }]);
    await deliverAll(db, 50);
    for (const { url, came } of targets) {
      expect(deliveriesTo(db, url)).toMatchObject([{ state: 'failed', tries: 5, error: 'no answer within 0.05 s' }]);
      expect(new Set(came.map(({ id }) => id)).size).toBe(1);
      expect(came).toHaveLength(6);
    }
  },
);

test('a served sandbox brings every event to targets that recover: in order, none lost, none again once taken', async () => {
  const bad = size(1, 2);
  const targets = await Promise.all(heard.map((fault) => targetWith(fault, bad)));
  const { db, buy, env } = await worldOf(targets);
  const sandbox = await serve('sandbox start --port 0', { env });
  expect((await buy(250)).code).toBe(0);
  expect((await buy(2000)).code).toBe(0);
  const simulated = await run('sandbox simulate --rate 40/s --for 500ms --seed one --json', { env });
  expect({ code: simulated.code, ...JSON.parse(simulated.out) }).toMatchObject({ code: 0, trades: 20 });
  const gone = targets.find(({ fault }) => fault === 'refused');
  await until(() => (deliveriesTo(db, gone?.url ?? '')[0]?.tries ?? 0) >= bad);
  gone?.recover();
  await until(() => db.get("SELECT 1 FROM outbox WHERE state = 'waiting'") === undefined);
  const { code, err } = await sandbox.stop();
  expect(code).toBe(0);
  expect(err).not.toContain('given up');
  for (const { fault, url, came } of targets) {
    const all = deliveriesTo(db, url);
    expect(all.length).toBeGreaterThan(2);
    expect([fault, came.filter(({ taken }) => taken).map(({ id }) => id)]).toEqual([fault, all.map(({ id }) => id)]);
    // Who does not listen is tried until the test opens the port, which takes as long as it takes.
    const failedTries = fault === 'refused' ? Math.max(bad, (all[0]?.tries ?? 0) - 1) : bad;
    const first = kindOf(fault) === 'taken' ? 1 : failedTries + 1;
    expect([fault, all.map(({ state, tries }) => `${state} ${tries}`)]).toEqual([
      fault,
      [`delivered ${first}`, ...all.slice(1).map(() => 'delivered 1')],
    ]);
    const failed = came.filter(({ taken }) => !taken).map(({ id }) => id);
    expect([fault, failed]).toEqual([fault, first === 1 || fault === 'refused' ? [] : Array(bad).fill(all[0]?.id)]);
  }
});
