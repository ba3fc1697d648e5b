// Receiving into an inbox on a cluster of one server and of three, by 1, 2 and 4 listeners against one, all on this machine; what an event of
// 2 kB costs on a server's disk and in its memory, and how much processor time the listeners, the servers and the sender take for it: on
// machines of their own, as many listeners take as many times what one takes as long as that time stays the same. Then reading: `webhook events`
// of 6,000 forwarded events against a plain consumer that prints the same. Needs `npm run build` and nats-server.
import { type ChildProcess, spawn } from 'node:child_process';
import { createHmac, randomUUID } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { Agent, createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { jetstream } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { findNats, natsInstall, startCluster } from '../test/support/nats-server.ts';
import { cpuSecondsOf, measureChild } from './measure/child.ts';
import { temporaryFolder } from './measure/folder.ts';
import { type Row, report } from './measure/row.ts';

const program = process.env['SOTRA_TEST_PROGRAM'] ?? 'bin/sotra.js';
const secret = 'bench-secret';
/** For each listener; before them as many as make its code warm. */
const [count, warming] = [Number(process.env['BENCH_EVENTS'] ?? 10_000), 2000];
const connections = 64;
const padding = 'x'.repeat(1700);

/** Events that are read, and how often. */
const [readCount, readRounds] = [6000, Number(process.env['BENCH_ROUNDS'] ?? 7)];

if (process.argv[2] === 'consume') await consume(process.argv.slice(3));
else if (findNats() === undefined) process.stderr.write(`${natsInstall}\n`);
else {
  for (const servers of [1, 3]) report(await measure(servers));
  report(await measureReading());
}

/** A cluster with an inbox, and what runs a command on it. */
async function startInbox(servers: number) {
  const folder = temporaryFolder();
  const cluster = await startCluster(servers);
  const inbox = `nats://${cluster.servers.map(({ port }) => `127.0.0.1:${port}`).join(',')}/BENCH`;
  const secrets = join(folder, 'secret');
  writeFileSync(secrets, `${secret}\n`, { mode: 0o600 });
  const env = { SOTRA_CONFIG_DIR: folder, SOTRA_DATA_DIR: folder, XDG_CACHE_HOME: folder };
  const sotra = (argv: readonly string[]) =>
    spawn(process.execPath, [program, ...argv, '--inbox', inbox], {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { PATH: process.env['PATH'], ...env },
    });
  return { folder, cluster, inbox, secrets, env, sotra };
}

async function measure(servers: number): Promise<Row[]> {
  const { folder, cluster, secrets, sotra } = await startInbox(servers);
  try {
    const memoryBefore = residentKb(cluster.servers[0]?.child.pid ?? 0);
    const rates: number[][] = [];
    for (const listeners of [1, 2, 4]) {
      const started = Array.from({ length: listeners }, (_, index) => {
        const ready = join(folder, `ready-${listeners}-${index}`);
        const argv = [
          'webhook',
          'listen',
          '--port',
          '0',
          '--secret-file',
          secrets,
          '--ready-file',
          ready,
          '--quiet',
          '--replicas',
          String(servers),
        ];
        return { ready, child: sotra(argv) };
      });
      while (!started.every(({ ready }) => existsSync(ready))) await delay(10);
      const urls = started.map(({ ready }) => JSON.parse(readFileSync(ready, 'utf8')).url);
      await receive(urls, prepare(warming * listeners));
      const deliveries = prepare(count * listeners);
      const cpu = (processes: readonly { child: ChildProcess }[]) =>
        processes.reduce((sum, { child }) => sum + cpuSecondsOf(child.pid ?? 0), 0);
      const parts = () => [
        cpu(started),
        cpu(cluster.servers),
        process.cpuUsage().user / 1e6 + process.cpuUsage().system / 1e6,
      ];
      const before = parts();
      rates.push([await receive(urls, deliveries)]);
      const [own, theirs, sender] = parts().map((seconds, part) =>
        Math.round(((seconds - (before[part] ?? 0)) * 1e6) / deliveries.length),
      );
      process.stderr.write(
        `${servers} servers, ${listeners} listeners: processor time of an event: listeners ${own} us, `,
      );
      process.stderr.write(`servers ${theirs} us, sender ${sender} us\n`);
      for (const { child } of started) child.kill('SIGTERM');
      await Promise.all(started.map(({ child }) => new Promise((resolve) => child.once('exit', resolve))));
    }
    const events = (1 + 2 + 4) * (count + warming);
    const memory = residentKb(cluster.servers[0]?.child.pid ?? 0) - memoryBefore;
    const disk = bytesIn(join(cluster.folder, 'data-0'));
    process.stderr.write(`${servers} servers: ${Math.round(disk / events)} bytes an event on the disk of one, `);
    process.stderr.write(
      `${Math.round((memory * 1024) / events)} bytes in its memory (bodies of ${bodyOf(0).length})\n`,
    );
    const what = (listeners: number) => `receive into ${servers} server${servers > 1 ? 's' : ''} by ${listeners}`;
    const [one = [], two = [], four = []] = rates;
    return [
      { what: what(1), unit: 'requests/s', measured: one },
      { what: `${what(2)}, by 1`, unit: 'requests/s', measured: two, floor: one },
      { what: `${what(4)}, by 1`, unit: 'requests/s', measured: four, floor: one },
    ];
  } finally {
    await cluster.end();
  }
}

/** Reading stored and forwarded deliveries, as a whole process, against a process that only consumes. */
async function measureReading(): Promise<Row[]> {
  const { folder, cluster, inbox, secrets, env, sotra } = await startInbox(3);
  let forwarded = 0;
  const target = createServer((incoming, answer) => {
    incoming.resume();
    forwarded += 1;
    answer.end();
  });
  await new Promise<void>((resolve) => target.listen(0, '127.0.0.1', resolve));
  const forwardTo = `http://127.0.0.1:${(target.address() as AddressInfo).port}`;
  try {
    const ready = join(folder, 'ready');
    const argv = ['webhook', 'listen', '--port', '0', '--secret-file', secrets, '--ready-file', ready, '--quiet'];
    const listener = sotra([...argv, '--forward-to', forwardTo]);
    while (!existsSync(ready)) await delay(10);
    await receive([JSON.parse(readFileSync(ready, 'utf8')).url], prepare(readCount));
    while (forwarded < readCount) await delay(10);
    listener.kill('SIGTERM');
    await new Promise((resolve) => listener.once('exit', resolve));
    const events = [program, 'webhook', 'events', '--limit', String(readCount), '--json', '--inbox', inbox];
    const consumer = [fileURLToPath(import.meta.url), 'consume', ...cluster.servers.map(({ port }) => String(port))];
    const [measured, floor]: [number[], number[]] = [[], []];
    for (let round = 0; round < readRounds; round += 1) {
      floor.push((await measureChild(consumer, env)).seconds);
      measured.push((await measureChild(events, env)).seconds);
    }
    const what = `webhook events of ${readCount} forwarded ones from 3 servers, a plain consumer`;
    return [{ what, unit: 's', measured, floor, atMost: 3 }];
  } finally {
    target.close();
    await cluster.end();
  }
}

/** Prints the events of each delivery. */
async function consume(ports: readonly string[]): Promise<void> {
  const connection = await connect({ servers: ports.map((port) => `127.0.0.1:${port}`) });
  const consumer = await jetstream(connection).consumers.get('BENCH', { filter_subjects: 'BENCH.event.>' });
  const events: unknown[] = [];
  for await (const message of await consumer.consume()) {
    events.push(...message.json<{ events: unknown[] }>().events);
    if (message.info.pending === 0) break;
  }
  process.stdout.write(`${JSON.stringify(events, null, 2)}\n`);
  await connection.close();
}

function bodyOf(index: number): string {
  const feedItem = { metadata: { tokenChain: 'base', note: padding } };
  const walletAddresses = [`0x${String(index).padStart(40, '0')}`];
  return JSON.stringify({ events: [{ eventId: randomUUID(), eventType: 'new-feed-item', walletAddresses, feedItem }] });
}

type SignedDelivery = { body: string; headers: Record<string, string | number> };

function prepare(amount: number): SignedDelivery[] {
  const t = Math.floor(Date.now() / 1000);
  return Array.from({ length: amount }, (_, index) => {
    const body = bodyOf(index);
    const v1 = createHmac('sha256', secret).update(`${t}.${body}`).digest('base64url');
    return { body, headers: { 'daylight-signature': `t=${t},v1=${v1}`, 'content-length': Buffer.byteLength(body) } };
  });
}

/** Deliveries a second. */
async function receive(urls: readonly string[], all: readonly SignedDelivery[]): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const started = performance.now();
  let next = 0;
  const send = async () => {
    for (let index = next++; index < all.length; index = next++) {
      const { body, headers } = all[index] ?? { body: '', headers: {} };
      const url = `${urls[index % urls.length]}/hook${index % 10}`;
      const status = await new Promise((resolve, reject) => {
        const sent = request(url, { method: 'POST', agent, headers }, (answer) => {
          answer.resume();
          answer.once('end', () => resolve(answer.statusCode));
        });
        sent.once('error', reject);
        sent.end(body);
      });
      if (status !== 200) throw new Error(`a delivery was answered ${status}`);
    }
  };
  await Promise.all(Array.from({ length: connections }, send));
  agent.destroy();
  return Math.round(all.length / ((performance.now() - started) / 1000));
}

function residentKb(pid: number): number {
  return Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0);
}

function bytesIn(folder: string): number {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return names.reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
}
