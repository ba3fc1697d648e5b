// What a sender without the secret costs a listener: how long after its last byte the 401 for the worst body of a size comes, beyond that for
// the smallest body; and the whole exchange against a bare node:http server that reads the body and answers. Needs `npm run build` before.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { startServer } from './measure/child.ts';
import { atEnd, temporaryFolder } from './measure/folder.ts';
import { median, type Row, report } from './measure/row.ts';

const program = process.env['SOTRA_TEST_PROGRAM'] ?? 'bin/sotra.js';
const self = fileURLToPath(import.meta.url);
const rounds = 15;
const smallest = 100;
/** In which all but the last byte has arrived. */
const pauseMs = 100;
const sizes = [1000, 10_000, 100_000, 1_000_000, 5_000_000];
// Where a body is parsed or written anew, one of these costs the most: nesting, numbers, escapes, blanks.
const fillings = ['[', `${'['.repeat(500)}${']'.repeat(500)},`, '1,', '"\\\\",', ' '];

if (process.argv[2] === 'bare') serveBare();
else await main();

async function main(): Promise<void> {
  const folder = temporaryFolder();
  const [secrets, ready] = [join(folder, 'secret'), join(folder, 'ready')];
  writeFileSync(secrets, 'bench-secret\n');
  const argv = ['webhook', 'listen', '--port', '0', '--secret-file', secrets, '--ready-file', ready, '--quiet'];
  const listener = spawn(process.execPath, [program, ...argv], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { PATH: process.env['PATH'], SOTRA_CONFIG_DIR: folder, SOTRA_DATA_DIR: folder, XDG_CACHE_HOME: folder },
  });
  atEnd(() => listener.kill());
  const bare = await startServer([self, 'bare']);
  while (!existsSync(ready)) await delay(10);
  const port = Number(new URL(JSON.parse(readFileSync(ready, 'utf8')).url).port);
  const rows: Row[] = [];
  for (const size of sizes) {
    const extraMs: number[][] = [];
    for (const filling of fillings) extraMs.push(await afterLastByte(port, size, filling));
    const [worst = []] = extraMs.sort((a, b) => median(b) - median(a));
    const what = `listen, 401 of the worst ${size} bytes beyond that of ${smallest}`;
    rows.push({ what, unit: 'ms', measured: worst, atMost: 5 });
  }
  const whole = { floor: [] as number[], measured: [] as number[] };
  const body = bodyOf(5_000_000, '[');
  for (let round = 0; round <= rounds; round += 1) {
    const [floor, measured] = [await exchange(Number(bare.url), body), await exchange(port, body)];
    if (round === 0) continue;
    whole.floor.push(floor.wholeMs);
    whole.measured.push(measured.wholeMs);
  }
  report([...rows, { what: 'listen, 5 MB sent and 401, bare node:http', unit: 'ms', ...whole }]);
  process.exit();
}

/** Milliseconds from the last byte to the answer beyond those of the smallest body, one figure a round. */
async function afterLastByte(port: number, size: number, filling: string): Promise<number[]> {
  const [body, small] = [bodyOf(size, filling), bodyOf(smallest, filling)];
  const extraMs: number[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    const [large, least] = [await exchange(port, body, pauseMs), await exchange(port, small, pauseMs)];
    if (round > 0) extraMs.push(large.lastMs - least.lastMs);
  }
  return extraMs;
}

function bodyOf(size: number, filling: string): Buffer {
  return Buffer.from(filling.repeat(Math.ceil(size / filling.length)).slice(0, size));
}

/** Sends a body under a signature that does not fit, its last byte after a pause: milliseconds to the answer from the first byte and from there. */
async function exchange(port: number, body: Buffer, pause = 0): Promise<{ wholeMs: number; lastMs: number }> {
  const socket = connect(port, '127.0.0.1');
  await new Promise((resolve) => socket.once('connect', resolve));
  const answered = new Promise<void>((resolve, reject) => {
    socket.once('data', (text) => (/^HTTP\/1.1 401 /.test(text.toString()) ? resolve() : reject(new Error(`${text}`))));
    socket.once('error', reject);
  });
  const signature = `t=${Math.floor(Date.now() / 1000)},v1=${'A'.repeat(43)}`;
  const head = `POST /hook HTTP/1.1\r\nHost: a\r\ndaylight-signature: ${signature}\r\nContent-Length: ${body.length}\r\n\r\n`;
  const started = performance.now();
  socket.write(Buffer.concat([Buffer.from(head), body.subarray(0, -1)]));
  if (pause > 0) await delay(pause);
  const last = performance.now();
  socket.write(body.subarray(-1));
  await answered;
  const ended = performance.now();
  socket.destroy();
  return { wholeMs: ended - started, lastMs: ended - last };
}

/** A server that reads a body and refuses it, and says its port. */
function serveBare(): void {
  const server = createServer((request, response) => {
    request.on('data', () => undefined);
    request.on('end', () => response.writeHead(401).end());
  });
  server.listen(0, '127.0.0.1', () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`));
}
