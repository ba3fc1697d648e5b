// What a listener costs: how many deliveries a second it stores, against a bare node:http server that appends each body to a file and syncs
// it before it answers; how much later the 401 for 5 MB comes than the one for a small body; and how many a second it stores when there are
// a million already, against a thousand. Needs `npm run build` before.
import { spawn } from 'node:child_process';
import { createHmac, randomUUID } from 'node:crypto';
import { existsSync, fsync, openSync, readFileSync, writeFileSync, writeSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import Database from 'libsql';
import { atEnd, median, report, startServer, temporaryFolder } from './measure/measure.ts';

const program = process.env['SOTRA_TEST_PROGRAM'] ?? 'bin/sotra.js';
const secret = 'bench-secret';
const rounds = 15;
/** Deliveries of one round, and connections that send them. */
const [count, connections] = [10_000, 64];
/** Deliveries in a large store. */
const stored = 1_000_000;
const [large, small] = [5_000_000, 100];
// If a body is parsed or written anew, one of these costs the most: nesting, numbers, escapes, blanks.
const fillings = ['[', '1,', '"\\\\",', ' '];

if (process.argv[2] === 'bare') serveBare();
else await main();

async function main(): Promise<void> {
  const [listener, bare] = [await listen(), await startServer([fileURLToPath(import.meta.url), 'bare'])];
  const compared = await compare(Number(bare.url), listener.port, count);
  const laterMs: number[][] = [];
  for (const filling of fillings) laterMs.push(await refuse(listener.port, filling));
  const [worst = []] = laterMs.sort((a, b) => median(b) - median(a));
  const [few, many] = [await listen(), await listen()];
  fill(few.store, 1000);
  fill(many.store, stored);
  const filled = await compare(few.port, many.port, 1000);
  const what = 'receive, bare node:http that syncs each body';
  report([
    { what, unit: 'requests/s', ...compared, atLeast: 0.4 },
    { what: `the 401 of the worst ${large} bytes beyond that of ${small}`, unit: 'ms', measured: worst, atMost: 5 },
    { what: `receive with ${stored} stored, with 1000 stored`, unit: 'requests/s', ...filled, atLeast: 0.8 },
  ]);
  process.exit();
}

/** Starts a listener with a new store. */
async function listen(): Promise<{ port: number; store: string }> {
  const folder = temporaryFolder();
  const [secrets, ready] = [join(folder, 'secret'), join(folder, 'ready')];
  writeFileSync(secrets, `${secret}\n`);
  const argv = ['webhook', 'listen', '--port', '0', '--secret-file', secrets, '--ready-file', ready, '--quiet'];
  const listener = spawn(process.execPath, [program, ...argv], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { PATH: process.env['PATH'], SOTRA_CONFIG_DIR: folder, SOTRA_DATA_DIR: folder, XDG_CACHE_HOME: folder },
  });
  atEnd(() => listener.kill());
  while (!existsSync(ready)) await delay(10);
  const port = Number(new URL(JSON.parse(readFileSync(ready, 'utf8')).url).port);
  return { port, store: join(folder, 'webhook/inbox/default/inbox.db') };
}

/** Writes deliveries into a store, faster than a listener would; with short bodies, which nothing reads again. */
function fill(store: string, deliveries: number): void {
  const db = new Database(store);
  db.exec(`
    BEGIN IMMEDIATE;
    CREATE TEMP TABLE filling AS
      WITH RECURSIVE numbers (seq) AS (SELECT 1 UNION ALL SELECT seq + 1 FROM numbers WHERE seq < ${deliveries})
      SELECT seq, lower(hex(randomblob(18))) AS id FROM numbers;
    INSERT INTO delivery SELECT seq, ${Date.now()}, '/hook#00000000', json_array(id), '[]', x'7b7d' FROM filling;
    INSERT INTO event SELECT id, seq, ${Date.now()} FROM filling ORDER BY id;
    INSERT INTO facet SELECT seq / 4096, 'path', '/hook', seq FROM filling;
    INSERT INTO facet SELECT seq / 4096, 'type', 'new-feed-item', seq FROM filling;
    COMMIT;
  `);
  db.close();
}

/** How many deliveries a second two servers take, in turn. */
async function compare(
  one: number,
  other: number,
  deliveries: number,
): Promise<{ floor: number[]; measured: number[] }> {
  const [floor, measured]: [number[], number[]] = [[], []];
  // The first round warms both up.
  for (let round = 0; round <= rounds; round += 1) {
    const rates = [await receive(one, deliveries), await receive(other, deliveries)];
    if (round === 0) continue;
    floor.push(rates[0] ?? 0);
    measured.push(rates[1] ?? 0);
  }
  return { floor, measured };
}

function prepare(): Buffer {
  const feedItem = { metadata: { tokenChain: 'base', note: 'x'.repeat(1500) } };
  const body = JSON.stringify({ events: [{ eventId: randomUUID(), eventType: 'new-feed-item', feedItem }] });
  const t = Math.floor(Date.now() / 1000);
  return head(`t=${t},v1=${createHmac('sha256', secret).update(`${t}.${body}`).digest('base64url')}`, body);
}

function head(signature: string, body: string): Buffer {
  const lines = [
    'POST /hook HTTP/1.1',
    'Host: a',
    `daylight-signature: ${signature}`,
    `Content-Length: ${body.length}`,
  ];
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body}`);
}

/** Sends deliveries over some connections, one at a time on each: how many were answered 200 in a second. */
async function receive(port: number, deliveries: number): Promise<number> {
  const requests = Array.from({ length: deliveries }, prepare);
  const started = performance.now();
  const work = () =>
    new Promise<void>((resolve, reject) => {
      const socket = connect(port, '127.0.0.1');
      const send = () => {
        const request = requests.pop();
        if (request !== undefined) return void socket.write(request);
        socket.destroy();
        resolve();
      };
      socket.setNoDelay(true);
      socket.once('connect', send);
      socket.on('data', (text) => (text.includes('HTTP/1.1 200 ') ? send() : reject(new Error(text.toString()))));
      socket.once('error', reject);
    });
  await Promise.all(Array.from({ length: connections }, work));
  return Math.round((deliveries * 1000) / (performance.now() - started));
}

/** How many milliseconds later the answer to a large body comes than the one to a small body, one figure a round. */
async function refuse(port: number, filling: string): Promise<number[]> {
  const laterMs: number[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    const [one, other] = [await answerMs(port, filling, large), await answerMs(port, filling, small)];
    if (round > 0) laterMs.push(one - other);
  }
  return laterMs;
}

/** Milliseconds from the last byte of a body under a wrong signature, which is sent when the others have arrived, to its 401. */
async function answerMs(port: number, filling: string, size: number): Promise<number> {
  const body = filling.repeat(size / filling.length).padEnd(size);
  const bytes = head(`t=${Math.floor(Date.now() / 1000)},v1=${'A'.repeat(43)}`, body);
  const socket = connect(port, '127.0.0.1');
  const answered = new Promise<void>((resolve, reject) => {
    socket.once('data', (text) => (/^HTTP\/1.1 401 /.test(text.toString()) ? resolve() : reject(new Error(`${text}`))));
    socket.once('error', reject);
  });
  socket.write(bytes.subarray(0, -1));
  await delay(100);
  const last = performance.now();
  socket.write(bytes.subarray(-1));
  await answered;
  socket.destroy();
  return performance.now() - last;
}

/** A server that appends each body to a file and answers once it is safe there; prints its port. */
function serveBare(): void {
  const file = openSync(join(temporaryFolder(), 'bodies'), 'a');
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      writeSync(file, Buffer.concat(chunks));
      fsync(file, () => response.end('{}'));
    });
  });
  server.listen(0, '127.0.0.1', () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`));
}
