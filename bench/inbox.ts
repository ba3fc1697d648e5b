// A listener and its store with 1,000 deliveries of 2 kB and with many more (BENCH_EVENTS, by default 100,000; 10,000,000 take 30 GB under
// BENCH_FOLDER and half an hour): what `webhook events`, a start, memory and receiving cost in the one and in the other. The floors of
// receiving are bare node:http servers that append each body to a file: one answers once an fsync that all share is done, one after an
// fsync for each delivery. Needs `npm run build` before.
import { type ChildProcess, spawn } from 'node:child_process';
import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import { existsSync, fsync, openSync, readFileSync, statSync, writeFileSync, writeSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { dayMs } from '../src/api/duration.ts';
import { addDelivery } from '../src/webhooks/local/deliveries.ts';
import { openStore } from '../src/webhooks/local/store.ts';
import { readAllEvents } from '../src/webhooks/read-events.ts';
import { measureChild, startServer } from './measure/child.ts';
import { atEnd, temporaryFolder } from './measure/folder.ts';
import { type Row, report } from './measure/row.ts';

const program = process.env['SOTRA_TEST_PROGRAM'] ?? 'bin/sotra.js';
const self = fileURLToPath(import.meta.url);
const secret = 'bench-secret';
const few = 1000;
const many = Number(process.env['BENCH_EVENTS'] ?? 100_000);
const rounds = Number(process.env['BENCH_ROUNDS'] ?? 7);
/** Deliveries of one round of receiving, and connections that send them. */
const [sentAtOnce, connections] = [20_000, 64];

const wallets = Array.from({ length: 50_000 }, () => `0x${randomBytes(20).toString('hex')}`);
const walletOf = (index: number) => wallets[(index * 7919) % wallets.length] ?? '';
const padding = 'x'.repeat(1500);

/** Deliveries of one commit of filling, and the days over which they came. */
const [filledAtOnce, filledDays] = [10_000, 5];
/** When a bare server answers. */
const syncs = ['shared', 'each'] as const;

if (process.argv[2] === 'bare') serveBare(process.argv[3] as (typeof syncs)[number]);
else await main();

async function main(): Promise<void> {
  const folders: string[] = [];
  for (const count of [few, many]) {
    const folder = temporaryFolder(process.env['BENCH_FOLDER']);
    const seconds = await fill(join(folder, 'webhook', 'inbox', 'default'), count);
    process.stderr.write(`${count} deliveries in ${Math.round(seconds)} s: ${sizeOf(folder)} MB\n`);
    folders.push(folder);
  }
  report(await measure(folders));
  for (const folder of folders) process.stderr.write(`then: ${sizeOf(folder)} MB\n`);
}

function sizeOf(folder: string): number {
  return Math.round(statSync(join(folder, 'webhook', 'inbox', 'default', 'inbox.db')).size / 1e6);
}

async function measure(folders: readonly string[]): Promise<Row[]> {
  const [events, starts, memory, rates, bareRates]: number[][][] = Array.from({ length: 5 }, () => [[], []]);
  for (let round = 0; round < rounds; round += 1)
    try {
      for (const [index, sync] of syncs.entries()) {
        const bare = await startServer([self, 'bare', sync]);
        bareRates?.[index]?.push(await warmRate(Number(bare.url)));
        bare.server.kill();
      }
      for (const [index, folder] of folders.entries()) {
        const env = { SOTRA_CONFIG_DIR: folder, SOTRA_DATA_DIR: folder, XDG_CACHE_HOME: folder };
        const { cpuSeconds, seconds } = await measureChild([program, 'webhook', 'events', '--limit', '3'], env);
        events?.[index]?.push(seconds);
        process.stderr.write(`events: ${seconds.toFixed(3)} s (${cpuSeconds.toFixed(2)} s of processor)\n`);
        const listener = await start(folder, env);
        starts?.[index]?.push(listener.seconds);
        rates?.[index]?.push(await warmRate(listener.port));
        memory?.[index]?.push(residentMb(listener.child.pid ?? 0));
        listener.child.kill('SIGTERM');
        await new Promise((resolve) => listener.child.once('exit', resolve));
      }
      const said = [bareRates, rates].map((each) => each?.map((all) => all.at(-1)).join(' and '));
      process.stderr.write(`bare ${said[0]}, listener ${said[1]} a second\n`);
    } catch (error) {
      // The other rounds, and the rows that have figures, are still worth the time that filling took.
      process.stderr.write(`round ${round + 1} failed: ${error}\n`);
    }
  const grown = (memory?.[1] ?? []).map((mb, round) => mb - (memory?.[0]?.[round] ?? 0));
  const against = (what: string, [floor = [], measured = []]: number[][] = [], atMost: number): Row => ({
    what: `${what} with ${many} deliveries, with ${few}`,
    unit: 's',
    measured,
    floor,
    atMost,
  });
  const rows: Row[] = [
    against('inbox, webhook events --limit 3', events, 1.3),
    against('inbox, start of webhook listen', starts, 1.5),
    {
      what: `inbox, memory of webhook listen at ${many} beyond that at ${few}`,
      unit: 'MB',
      measured: grown,
      atMost: 30,
    },
    ...[few, many].flatMap((count, index) =>
      syncs.map(
        (sync, at): Row => ({
          what: `receive at ${count}, bare node:http that appends, ${sync === 'shared' ? 'a shared fsync' : 'an fsync each'}`,
          unit: 'requests/s',
          measured: rates?.[index] ?? [],
          floor: bareRates?.[at] ?? [],
          atLeast: 0.6,
        }),
      ),
    ),
  ];
  return rows.filter(({ measured, floor }) => measured.length > 0 && floor?.length !== 0);
}

async function start(
  folder: string,
  env: Record<string, string>,
): Promise<{ child: ChildProcess; port: number; seconds: number }> {
  const [secrets, ready] = [join(folder, 'secret'), join(folder, `ready-${randomUUID()}`)];
  writeFileSync(secrets, `${secret}\n`);
  const argv = ['webhook', 'listen', '--port', '0', '--secret-file', secrets, '--ready-file', ready, '--quiet'];
  const started = performance.now();
  const child = spawn(process.execPath, [program, ...argv], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { PATH: process.env['PATH'], ...env },
  });
  atEnd(() => child.kill('SIGKILL'));
  while (!existsSync(ready)) {
    if (child.exitCode !== null) throw new Error(`webhook listen ended with ${child.exitCode}`);
    await delay(2);
  }
  const seconds = (performance.now() - started) / 1000;
  return { child, port: Number(new URL(JSON.parse(readFileSync(ready, 'utf8')).url).port), seconds };
}

function residentMb(pid: number): number {
  return Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;
}

function bodyOf(index: number): { id: string; body: string } {
  const id = randomUUID();
  const metadata = { tokenAddress: walletOf(index % 500), tokenChain: 'base', note: padding };
  const feedItem = { actor: { address: walletOf(index) }, metadata };
  const event = { eventId: id, eventType: 'new-feed-item', walletAddresses: [walletOf(index * 3 + 1)], feedItem };
  return { id, body: JSON.stringify({ events: [event] }) };
}

/** Makes a store as a listener would, in large commits; gives the seconds it took. */
async function fill(folder: string, count: number): Promise<number> {
  const started = performance.now();
  const db = openStore(folder, { mayWrite: true });
  db.exec('PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -1000000');
  const headers = [
    ...['Daylight-Signature', `t=1,v1=${'A'.repeat(43)}`, 'Content-Type', 'application/json', 'Host', 'x'],
  ];
  const startMs = Date.now() - filledDays * dayMs;
  for (let first = 0; first < count; first += filledAtOnce) {
    const made = Array.from({ length: Math.min(filledAtOnce, count - first) }, (_, index) => {
      const body = Buffer.from(bodyOf(first + index).body);
      const atMs = startMs + Math.floor(((first + index) / count) * filledDays * dayMs);
      const delivery = { webhook: `/hook${index % 10}#12345678`, atMs, headers, body };
      return { delivery, events: readAllEvents(body) };
    });
    db.transaction(() => {
      for (const each of made) addDelivery(db, { ...each, repeatsMs: filledDays * dayMs });
    });
    // A signal is heard between two commits.
    await delay(0);
    if (first % 1_000_000 === 0 && first > 0)
      process.stderr.write(`${first} of ${count} after ${Math.round((performance.now() - started) / 1000)} s\n`);
  }
  db.close();
  return (performance.now() - started) / 1000;
}

/** Signed requests, ready to be sent. */
function prepare(): Buffer[] {
  return Array.from({ length: sentAtOnce }, (_, index) => {
    const { body } = bodyOf(index);
    const t = Math.floor(Date.now() / 1000);
    const v1 = createHmac('sha256', secret).update(`${t}.${body}`).digest('base64url');
    const lines = [
      'POST /hook HTTP/1.1',
      'Host: a',
      `Daylight-Signature: t=${t},v1=${v1}`,
      'Content-Type: application/json',
    ];
    return Buffer.from(`${lines.join('\r\n')}\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
  });
}

/** How many a second of those that come after the first ones, by which a server warms up. */
async function warmRate(port: number): Promise<number> {
  await receive(port, prepare());
  return await receive(port, prepare());
}

/** Sends all of them over some connections, one at a time on each: how many were answered 200 in a second. */
async function receive(port: number, requests: Buffer[]): Promise<number> {
  const started = performance.now();
  let next = 0;
  await Promise.all(
    Array.from(
      { length: connections },
      () =>
        new Promise<void>((resolve, reject) => {
          const socket = connect(port, '127.0.0.1');
          const send = () => {
            const request = requests[next];
            next += 1;
            if (request !== undefined) return void socket.write(request);
            socket.destroy();
            resolve();
          };
          socket.setNoDelay(true);
          socket.once('connect', send);
          socket.on('data', (text) => (text.includes('HTTP/1.1 200 ') ? send() : reject(new Error(text.toString()))));
          socket.once('error', reject);
        }),
    ),
  );
  return Math.round((requests.length * 1000) / (performance.now() - started));
}

/** A server that appends each body to a file and answers once it is safe there; says its port. */
function serveBare(sync: (typeof syncs)[number]): void {
  const handle = openSync(join(temporaryFolder(), 'bodies'), 'a');
  let [waiting, isSyncing]: [(() => void)[], boolean] = [[], false];
  const share = () => {
    if (isSyncing || waiting.length === 0) return;
    isSyncing = true;
    const safe = waiting;
    waiting = [];
    fsync(handle, () => {
      isSyncing = false;
      for (const answer of safe) answer();
      share();
    });
  };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      writeSync(handle, Buffer.concat(chunks));
      if (sync === 'each') return fsync(handle, () => response.end('{}'));
      waiting.push(() => response.end('{}'));
      share();
    });
  });
  server.listen(0, '127.0.0.1', () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`));
}
