import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { type Db, openDb } from '../../src/sandbox/db/store.ts';
import { startDeliverer, stopDeliverer } from '../../src/sandbox/deliver/deliver.ts';
import { openPort, run, stub, temporaryFolder, until } from '../support/harness.ts';
import { allFaults, brokenService, kindOf } from '../support/hostile/faults.ts';
import { serve, start } from '../support/processes.ts';
import { size } from '../support/size.ts';

const execute = promisify(execFile);
const wallet = (index: number) => `0x${index.toString(16).padStart(40, '0')}`;
const [trader, follower] = [wallet(1), wallet(2)];
const trade = `sandbox trade --chain base --trader ${trader} --side buy --amount 10 --usd 250 --token`;

test('a served sandbox answers the tool and plain curl alike, and is gone after SIGTERM', async () => {
  const readyFile = join(temporaryFolder(), 'ready.json');
  const { child, ended } = start(`sandbox start --port 0 --ready-file ${readyFile}`);
  const ready = await until(() => (existsSync(readyFile) ? JSON.parse(readFileSync(readyFile, 'utf8')) : undefined));
  expect(ready).toMatchObject({ pid: child.pid, keys: ['sandbox-key-a', 'sandbox-key-b'] });
  expect(ready.controlToken.length).toBeGreaterThan(20);
  expect(statSync(readyFile).mode & 0o777).toBe(0o600);
  const env = { SOTRA_API_KEY: 'sandbox-key-a', SOTRA_BASE_URL: ready.url };
  const curl = async (path: string) => {
    const key = ['-H', 'Authorization: Bearer sandbox-key-a'];
    return (await execute('curl', ['-s', '-w', ' %{http_code}', ...key, `${ready.url}${path}`])).stdout;
  };
  const listed = await curl('/v2/leaderboard?chains=solana&limit=5');
  const list = await run('leaderboard list --chains solana --limit 5 --json', { env });
  expect(JSON.parse(list.out)).toEqual(JSON.parse(listed.replace(/ 200$/, '')));
  const third = JSON.parse(list.out).traders[2].profile.addresses[0];
  const inProcess = await run(`--sandbox profile get ${third} --json`);
  expect(JSON.parse((await run(`profile get ${third} --json`, { env })).out)).toEqual(JSON.parse(inProcess.out));
  expect(await curl('/v2/nothing')).toBe('{"error":"no such endpoint: GET /v2/nothing"} 404');
  child.kill('SIGTERM');
  expect([await ended, existsSync(readyFile)]).toEqual([0, false]);
  const gone = await run('leaderboard list --retries 0', { env });
  expect(gone).toMatchObject({ code: 9, out: '', err: expect.stringContaining(ready.url) });
});

test('sandbox start --detach returns once it answers, and the process that it names can be stopped', async () => {
  const data = join(temporaryFolder(), 'parent', 'data');
  const own = { SOTRA_DATA_DIR: data, SOTRA_API_KEY: 'a-key' };
  const { printed, ended } = start('sandbox start --detach --port 0 --json', own);
  expect(await ended).toBe(0);
  const ready = JSON.parse(printed.out);
  onTestFinished(() => {
    try {
      process.kill(ready.pid, 'SIGKILL');
    } catch {
      // It has ended by itself.
    }
  });
  expect([dirname(data), data].map((folder) => statSync(folder).mode & 0o777)).toEqual([0o700, 0o700]);
  // A process that goes on has no key in its environment, which others may read.
  if (existsSync('/proc/self/environ'))
    expect(readFileSync(`/proc/${ready.pid}/environ`, 'utf8')).not.toContain('SOTRA_API_KEY');
  const env = { SOTRA_API_KEY: 'sandbox-key-b', SOTRA_BASE_URL: ready.url };
  expect((await run('leaderboard list --limit 1', { env })).code).toBe(0);
  const headers = { 'x-control-token': ready.controlToken };
  const stopped = await fetch(`${ready.url}/_sandbox/stop`, { method: 'POST', headers });
  expect(await stopped.json()).toEqual({ pid: ready.pid });
  await until(() => !existsSync(join(data, 'sandbox-ready.json')));
});

test('each server that does not start in the background is reported with its own error', async () => {
  const port = await openPort(createServer());
  const folder = temporaryFolder();
  for (const [flags, why] of [
    [`--port ${port}`, `cannot listen on port ${port}`],
    [`--port 0 --db ${folder}`, `${folder} is a folder`],
  ]) {
    const { printed, ended } = start(`sandbox start --detach ${flags}`, { SOTRA_DATA_DIR: folder });
    expect([await ended, printed.err]).toEqual([3, expect.stringContaining(`the sandbox did not start: ${why}`)]);
  }
});

test('two servers and several processes write to one database at once: each write that was answered is seen by both', async () => {
  const count = size(15, 40);
  const folder = temporaryFolder();
  const first = await serve(folder, ['--empty']);
  const { url } = await serve(temporaryFolder(), ['--empty', '--db', first.db]);
  const env = { SOTRA_DATA_DIR: folder, SOTRA_CONFIG_DIR: folder };
  const headers = { authorization: 'Bearer sandbox-key-a', 'content-type': 'application/json' };
  const put = async (client: number) => {
    for (let index = 0; index < count; index += 1) {
      const body = JSON.stringify({ targets: [wallet(client * 100 + index + 1000)] });
      const path = `${client % 2 === 0 ? first.url : url}/v1/addresses/${wallet(client + 1)}/follow`;
      const answer = await fetch(path, { method: 'PUT', headers, body });
      if (answer.status !== 200) throw new Error(await answer.text());
    }
  };
  const process = start(['--sandbox', 'follow', 'add', wallet(9), wallet(9000)], env);
  await Promise.all([0, 1, 2, 3].map(put));
  expect(await process.ended).toBe(0);
  for (const base of [first.url, url]) {
    const service = { ...env, SOTRA_BASE_URL: base, SOTRA_API_KEY: 'sandbox-key-a' };
    const followed = async (index: number) => {
      const { out } = await run(`profile follows ${wallet(index)} --all --format ndjson`, { env: service });
      return new Set(out.match(/0x[0-9a-f]{40}/g)).size;
    };
    expect(await Promise.all([1, 2, 3, 4, 9].map(followed))).toEqual([count, count, count, count, 1]);
  }
});

test('a command that is killed as it begins to write leaves a sandbox that works at the next use', async () => {
  for (const ms of [0, 5, 20, 60].slice(0, size(1, 4))) {
    const folder = temporaryFolder();
    const env = { PATH: process.env['PATH'], SOTRA_DATA_DIR: folder, SOTRA_CONFIG_DIR: folder };
    const child = spawn(process.execPath, ['bin/sotra.js', 'sandbox', 'status'], { env, stdio: 'ignore' });
    const ended = once(child, 'exit');
    while (readdirSync(folder).length === 0 && child.exitCode === null) await delay(1);
    await delay(ms);
    child.kill('SIGKILL');
    await ended;
    const { out } = await run('sandbox status --json', { env: { SOTRA_DATA_DIR: folder } });
    expect([ms, JSON.parse(out).trades]).toEqual([ms, 2508]);
  }
});

/** Delivers until nothing waits, as a served sandbox does, by a clock that sleeping moves; gives what it said. */
async function deliverAll(db: Db): Promise<string[]> {
  const said: string[] = [];
  let nowMs = Date.now();
  const sleep = async (ms: number) => {
    nowMs += ms;
    await delay(1);
  };
  const warn = (text: string) => void said.push(text);
  const deliverer = startDeliverer({ db, now: () => nowMs, sleep, warn, answerMs: 5000 });
  await until(() => db.get("SELECT 1 FROM outbox WHERE state = 'waiting'") === undefined);
  await stopDeliverer(deliverer);
  return said;
}

test('a trade succeeds whatever its webhooks do, and says what was not accepted; after five tries it is given up', async () => {
  const faults = allFaults.filter((fault) => kindOf(fault) !== 'silent');
  const targets = await Promise.all(faults.map(async (fault) => ({ fault, ...(await brokenService(fault)) })));
  const folder = temporaryFolder();
  const env = { SOTRA_DATA_DIR: folder, SOTRA_CONFIG_DIR: folder };
  await run('sandbox reset --empty', { env });
  await run(`--sandbox follow add ${follower} ${trader}`, { env });
  for (const { url } of targets)
    expect((await run(`--sandbox webhook register --url ${url} --wallet-addresses ${follower}`, { env })).code).toBe(0);
  const db = openDb(join(folder, 'sandbox.db'));
  onTestFinished(() => db.close());
  const deliveryTo = (url: string) =>
    db.get<{ id: string; state: string; tries: number; error: string | null }>(
      `SELECT e.id, d.state, d.tries, d.error FROM outbox d JOIN event e ON e.seq = d.item JOIN webhook w ON w.id = d.target
       WHERE w.destination_url = ?`,
      [url],
    );
  const { code, out, err } = await run(`${trade} ${wallet(3)} --json`, { env });
  const refused = targets.filter(({ fault }) => kindOf(fault) !== 'taken');
  expect({ code, ...JSON.parse(out) }).toMatchObject({ code: 0, deliveries: faults.length, waiting: refused.length });
  for (const { url } of refused) {
    const { id, error } = deliveryTo(url) ?? {};
    expect(err).toContain(`warning: ${url} did not accept event ${id} (${error}): sent again up to 4 times`);
  }
  const said = await deliverAll(db);
  for (const { fault, url, requests } of targets) {
    const isTaken = kindOf(fault) === 'taken';
    const { id, state, tries, error } = deliveryTo(url) ?? {};
    const sent = isTaken ? 1 : fault === 'refused' ? 0 : 5;
    expect([fault, state, tries, requests.length]).toEqual([
      fault,
      ...(isTaken ? ['delivered', 1] : ['failed', 5]),
      sent,
    ]);
    const givenUp = `${url} did not accept event ${id} in 5 tries (${error}): given up`;
    expect([fault, said.includes(givenUp)]).toEqual([fault, !isTaken]);
  }
  for (const { close } of targets) close();
  const status = await run('sandbox status --json', { env });
  expect(JSON.parse(status.out)).toMatchObject({ webhooks: faults.length, waiting: 0, failed: refused.length });
});

test('what a killed sandbox had not delivered yet, the next one delivers in order, and each event once it is taken', async () => {
  const folder = temporaryFolder();
  const service = { isDown: true };
  const target = await stub((_, response) => response.writeHead(service.isDown ? 500 : 200).end());
  const first = await serve(folder, ['--empty']);
  const env = { SOTRA_DATA_DIR: folder, SOTRA_BASE_URL: first.url, SOTRA_API_KEY: 'sandbox-key-a' };
  await run(`follow add ${follower} ${trader}`, { env });
  await run(`webhook register --url ${target.url} --wallet-addresses ${follower}`, { env });
  for (const index of [3, 4, 5]) expect((await run(`${trade} ${wallet(index)}`, { env })).code).toBe(0);
  await until(() => target.requests.length > 0, 'the first try');
  first.child.kill('SIGKILL');
  await until(() => first.child.signalCode !== null, 'the sandbox ends');
  rmSync(join(folder, 'ready.json'));
  service.isDown = false;
  const before = target.requests.length;
  const second = await serve(folder, ['--empty']);
  const db = openDb(second.db);
  onTestFinished(() => db.close());
  const events = db.all<{ id: string }>('SELECT id FROM event ORDER BY seq').map(({ id }) => id);
  await until(() => db.get("SELECT 1 FROM outbox WHERE state <> 'delivered'") === undefined, 'the deliveries');
  const came = target.requests.slice(before).map(({ body }) => JSON.parse(body).events[0].eventId);
  expect(events).toHaveLength(3);
  expect(came).toEqual(events);
});
