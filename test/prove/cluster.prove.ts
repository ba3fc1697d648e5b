import { createHmac } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { jetstream } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { expect, test } from 'vitest';
import { choosePartition } from '../../src/webhooks/nats/stream.ts';
import { until } from '../support/harness.ts';
import { findNats, type NatsServer, natsInstall, startCluster } from '../support/nats-server.ts';
import { start } from '../support/processes.ts';

const secret = 'whsec_cluster';
const agent = new Agent({ keepAlive: true, maxSockets: 256 });

/** Sends a signed delivery; the status, or 0 where there was no answer. */
function post(url: string, body: string): Promise<number> {
  const t = Math.floor(Date.now() / 1000);
  const signature = createHmac('sha256', secret).update(`${t}.${body}`).digest('base64url');
  const headers = { 'daylight-signature': `t=${t},v1=${signature}`, 'content-length': Buffer.byteLength(body) };
  return new Promise((resolve) => {
    const sent = request(url, { method: 'POST', headers, agent, timeout: 20_000 }, (answer) => {
      answer.resume();
      answer.on('end', () => resolve(answer.statusCode ?? 0));
      answer.on('error', () => resolve(0));
    });
    sent.on('timeout', () => sent.destroy());
    sent.on('error', () => resolve(0));
    sent.end(body);
  });
}

function bodyOf(eventId: string): string {
  const feedItem = {
    actor: { name: 'Zoë', address: `0x${'1'.repeat(40)}` },
    metadata: { tokenChain: 'base', pad: 'x'.repeat(600) },
  };
  return JSON.stringify({ events: [{ eventId, eventType: 'new-feed-item', walletAddresses: [], feedItem }] });
}

/** A receiver that notes which events came to which path, in their order. */
async function startTarget() {
  const came = new Map<string, string[]>();
  const seen = new Set<string>();
  let repeats = 0;
  /** When each partition first moved after a moment, in milliseconds from it. */
  const after = { startMs: 0, ms: new Map<number, number>() };
  const server = createServer((incoming, outgoing) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk) => chunks.push(chunk));
    incoming.on('error', () => undefined);
    incoming.on('end', () => {
      const [{ eventId }] = JSON.parse(Buffer.concat(chunks).toString()).events;
      const webhook = eventId.split('-')[0] ?? '';
      const partition = choosePartition(`/${webhook}#`);
      if (!after.ms.has(partition)) after.ms.set(partition, Date.now() - after.startMs);
      if (seen.has(eventId)) repeats += 1;
      else came.set(webhook, [...(came.get(webhook) ?? [])].concat(eventId));
      seen.add(eventId);
      outgoing.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/in`;
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  const watch = () => {
    after.startMs = Date.now();
    after.ms.clear();
    return after.ms;
  };
  return { url, came, seen, repeats: () => repeats, watch, close };
}

type Fault =
  | { what: 'kill-listener' }
  | { what: 'kill-forwarder' }
  | { what: 'kill-server' | 'freeze-server' | 'cut-off-server'; seconds: number };

const [webhooks, targetCount] = [40, 2];
/** CI sends fewer. */
const deliveries = process.env['SOTRA_PROVE_ALL'] === '1' ? 20_000 : 1000;
/** What goes wrong, evenly over the deliveries; in any order, so that each time is another. */
const faults: readonly Fault[] = [
  { what: 'freeze-server', seconds: 1 },
  { what: 'kill-forwarder' },
  { what: 'kill-server', seconds: 6 },
  { what: 'kill-server', seconds: 6 },
  { what: 'kill-listener' },
  { what: 'freeze-server', seconds: 6 },
  { what: 'freeze-server', seconds: 20 },
  { what: 'cut-off-server', seconds: 10 },
];

const pick = <T>(list: readonly T[]): T => list[Math.floor(Math.random() * list.length)] as T;

/** Says whether a count has not risen for longer than any takeover lasts. */
function stall(count: () => number): () => boolean {
  let [last, sinceMs] = [count(), Date.now()];
  return () => {
    if (count() !== last) [last, sinceMs] = [count(), Date.now()];
    return Date.now() - sinceMs > 60_000;
  };
}

/** Lets a service send to listeners of one inbox while servers, listeners and forwarders fail; then compares what was sent with what is there. */
async function proveCluster() {
  const folder = mkdtempSync(join(tmpdir(), 'sotra-cluster-'));
  const cluster = await startCluster(3);
  const servers = cluster.servers.map(({ port }) => `127.0.0.1:${port}`);
  const inbox = `nats://${servers.join(',')}/PROOF`;
  const env = { SOTRA_DATA_DIR: folder, SOTRA_CONFIG_DIR: folder };
  const secretFile = join(folder, 'secret');
  writeFileSync(secretFile, `${secret}\n`, { mode: 0o600 });
  const running: ReturnType<typeof start>[] = [];
  const launch = (argv: readonly string[]) => {
    const child = start(argv, env);
    running.push(child);
    return child;
  };
  const targets = await Promise.all(Array.from({ length: targetCount }, startTarget));
  const happened: string[] = [];
  let takeoverSeconds: number | null = null;
  const startedMs = Date.now();
  const say = (what: string) => happened.push(`${((Date.now() - startedMs) / 1000).toFixed(1)} s: ${what}`);
  try {
    const listen = async () => {
      const ready = join(folder, `ready-${Math.random()}`);
      const argv = `webhook listen --port 0 --secret-file ${secretFile} --inbox ${inbox} --replicas 3 --quiet --json`;
      const child = launch([...argv.split(' '), '--ready-file', ready]);
      await until(() => existsSync(ready) || child.child.exitCode !== null, 'a listener listens');
      if (child.child.exitCode !== null) throw new Error(child.printed.err);
      return { child, url: JSON.parse(readFileSync(ready, 'utf8')).url as string };
    };
    const listeners = await Promise.all(Array.from({ length: 3 }, listen));
    const forwardTo = targets.flatMap(({ url }) => ['--forward-to', url]);
    const forwarders = Array.from({ length: 3 }, () => launch(['webhook', 'forward', '--inbox', inbox, ...forwardTo]));
    await until(
      () => forwarders.every(({ printed }) => printed.err.includes('Forwarding from')),
      () => `forwarders forward: ${forwarders.map(({ printed }) => printed.err).join()}`,
    );
    const count = { acknowledged: 0, refused: 0, sentTwice: 0 };

    const killForwarder = async (): Promise<void> => {
      const gone = pick(forwarders);
      gone.child.kill('SIGKILL');
      forwarders.splice(forwarders.indexOf(gone), 1);
      say('kill -9 of a forwarder, which is not started again');
      const moved = targets.map(({ watch }) => watch());
      const all = new Set(Array.from({ length: webhooks }, (_, index) => choosePartition(`/h${index}#`))).size;
      // A short run may be over by then.
      const isOver = () => targets.every(({ seen }) => seen.size === deliveries);
      const isStuck = stall(() => moved.reduce((sum, { size }) => sum + size, 0));
      await until(() => isOver() || moved.every(({ size }) => size === all) || isStuck(), 'each partition moves');
      takeoverSeconds = Math.max(0, ...moved.flatMap((ms) => [...ms.values()])) / 1000;
    };
    const fail = async (what: string, seconds: number, server: NatsServer): Promise<void> => {
      say(`${what}: ${server.port}`);
      const ends = {
        'kill-server': () => server.end().then(() => server.start),
        'freeze-server': () => {
          server.child.kill('SIGSTOP');
          return () => server.child.kill('SIGCONT');
        },
        'cut-off-server': () => cluster.cutOff(server),
      };
      const mend = await ends[what as keyof typeof ends]();
      await delay(seconds * 1000);
      await mend();
      say(`${server.port} is back`);
      // The next fault finds a whole cluster.
      await delay(4000);
    };
    const failing = (async () => {
      const shuffled = faults.map((fault) => ({ fault, order: Math.random() })).sort((a, b) => a.order - b.order);
      for (const [index, { fault }] of shuffled.entries()) {
        await until(() => count.acknowledged >= (deliveries * (index + 1)) / (faults.length + 2));
        if (fault.what === 'kill-forwarder') await killForwarder();
        else if (fault.what === 'kill-listener') {
          const gone = pick(listeners);
          gone.child.child.kill('SIGKILL');
          say('kill -9 of a listener');
          listeners.splice(listeners.indexOf(gone), 1);
          listeners.push(await listen());
        } else await fail(fault.what, fault.seconds, pick(cluster.servers));
      }
    })();
    const sendOne = async (webhook: string, eventId: string, number: number): Promise<void> => {
      const body = bodyOf(eventId);
      const attempt = async () => {
        const status = await post(`${pick(listeners).url}/${webhook}`, body);
        if (status >= 200 && status < 300) return true;
        count.refused += 1;
        return false;
      };
      const twice = number % 10 === 0;
      if (twice) count.sentTwice += 1;
      for (;;) {
        // At the same moment, mostly at another listener.
        const answers = await Promise.all(twice ? [attempt(), attempt()] : [attempt()]);
        if (answers.includes(true)) break;
        await delay(100);
      }
      if (number % 20 === 0) await attempt();
      count.acknowledged += 1;
    };
    let number = 0;
    const sent = await Promise.all(
      Array.from({ length: webhooks }, async (_, index) => {
        const own: string[] = [];
        while (own.length < deliveries / webhooks) {
          const eventId = `h${index}-${own.length}-${index * 7919}`;
          await sendOne(`h${index}`, eventId, number++);
          own.push(eventId);
        }
        return own;
      }),
    );
    await failing;
    const all = sent.flat();
    // What is missing then is in the report.
    const isStuck = stall(() => targets.reduce((sum, { seen }) => sum + seen.size, 0));
    await until(() => targets.every(({ seen }) => seen.size >= all.length) || isStuck(), 'all is forwarded');
    for (const { printed, child } of forwarders)
      if (child.exitCode !== null) say(`a forwarder ended with ${child.exitCode}: ${printed.err.slice(-500)}`);
    const seconds = Math.round((Date.now() - startedMs) / 100) / 10;
    for (const { child } of [...forwarders, ...listeners.map((each) => each.child)]) child.kill('SIGTERM');
    await Promise.all(running.map(({ ended }) => ended));
    const stored = await again(() => readIds(servers));
    // Without each server in its turn another one leads, and answers from what it holds itself, once it has caught up.
    const disagreeing: string[] = [];
    const checkSame = async () => expect(await readIds(servers)).toEqual(stored);
    for (const server of cluster.servers) {
      await server.end();
      await again(checkSame).catch(() => disagreeing.push(`without ${server.port}`));
      await server.start();
    }
    const distinct = new Set(stored);
    const outOfOrder: string[] = [];
    for (const own of sent) {
      const webhook = own[0]?.split('-')[0] ?? '';
      if (stored.filter((id) => id.startsWith(`${webhook}-`)).join() !== own.join())
        outOfOrder.push(`${webhook} stored`);
      for (const [index, { came }] of targets.entries())
        if (came.get(webhook)?.join() !== own.join()) outOfOrder.push(`${webhook} at target ${index}`);
    }
    return {
      deliveries: all.length,
      sentTwice: count.sentTwice,
      acknowledged: count.acknowledged,
      refused: count.refused,
      stored: distinct.size,
      storedTwice: stored.length - distinct.size,
      lost: all.filter((id) => !distinct.has(id)),
      disagreeing,
      targets: targets.map(({ seen, repeats }) => ({
        got: seen.size,
        missing: all.filter((id) => !seen.has(id)),
        repeats: repeats(),
      })),
      outOfOrder,
      happened,
      takeoverSeconds,
      seconds,
    };
  } finally {
    for (const { child } of running) child.kill('SIGKILL');
    for (const target of targets) target.close();
    await cluster.end();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Tries again while the servers elect a leader. */
async function again<T>(act: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1)
    try {
      return await act();
    } catch (error) {
      if (tries === 60) throw error;
      await delay(300);
    }
}

/** The events of the stream, oldest first, as the servers' own client reads them. */
async function readIds(servers: readonly string[]): Promise<string[]> {
  const connection = await connect({ servers: [...servers] });
  try {
    const consumer = await jetstream(connection).consumers.get('PROOF', { filter_subjects: 'PROOF.event.>' });
    const ids: string[] = [];
    if ((await consumer.info()).num_pending === 0) return ids;
    for await (const message of await consumer.consume({ max_messages: 500 })) {
      ids.push(...message.json<{ events: { eventId: string }[] }>().events.map(({ eventId }) => eventId));
      if (message.info.pending === 0) break;
    }
    return ids;
  } finally {
    await connection.close();
  }
}

const title =
  'what listeners of a cluster acknowledge is stored once and forwarded in order, while servers, listeners and forwarders fail';

test.skipIf(findNats() === undefined)(
  findNats() === undefined ? `${title}: skipped, ${natsInstall}` : title,
  async () => {
    const report = await proveCluster();
    process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
    expect(report).toMatchObject({
      acknowledged: deliveries,
      stored: deliveries,
      storedTwice: 0,
      lost: [],
      disagreeing: [],
      outOfOrder: [],
      targets: Array.from({ length: targetCount }, () => ({ got: deliveries, missing: [] })),
    });
    expect(report.takeoverSeconds).toBeLessThan(10);
  },
);
