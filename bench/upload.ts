// How long and in how much memory `webhook register` takes 1,000,000 addresses from a file to a service, against a bare script that reads,
// splits and PUTs with undici and no checks. The service is a stub in a process of its own that reads and answers. Each figure is the
// median of three rounds in which the programs take turns.
import { type ChildProcess, spawn } from 'node:child_process';
import { createReadStream, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Agent } from 'undici';

const self = fileURLToPath(import.meta.url);
const program = process.env['SOTRA_TEST_PROGRAM'] ?? 'bin/sotra.js';
const chunkSize = 1000;
const concurrency = 4;
const rounds = 3;

const [role, ...rest] = process.argv.slice(2);
if (role === 'serve') serve();
else if (role === 'bare') await bare(rest[0] ?? '', rest[1] ?? '');
else await main(Number(role ?? 1_000_000));

interface Measured {
  seconds: number;
  peakMb: number;
}

async function main(count: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'sotra-bench-'));
  const server = spawn(process.execPath, [self, 'serve'], { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    const url = await firstLine(server);
    const [large, small] = [join(folder, 'large.txt'), join(folder, 'small.txt')];
    writeAddresses(large, count);
    writeAddresses(small, count / 10);
    const results: { bare: Measured; sotra: Measured; tenth: Measured }[] = [];
    for (let round = 0; round < rounds; round += 1)
      results.push({
        bare: await measure([self, 'bare', url, large], {}),
        sotra: await upload(url, large, join(folder, `data-${round}`)),
        tenth: await upload(url, small, join(folder, `data-tenth-${round}`)),
      });
    const middle = (pick: (each: (typeof results)[number]) => number) =>
      results.map(pick).sort((a, b) => a - b)[Math.floor(rounds / 2)] ?? Number.NaN;
    const [bareSec, sotraSec] = [middle(({ bare }) => bare.seconds), middle(({ sotra }) => sotra.seconds)];
    const tenthSec = middle(({ tenth }) => tenth.seconds);
    const report = {
      addresses: count,
      bareSeconds: bareSec,
      sotraSeconds: sotraSec,
      ratio: sotraSec / bareSec,
      peakMb: middle(({ sotra }) => sotra.peakMb),
      barePeakMb: middle(({ bare }) => bare.peakMb),
      tenthSeconds: tenthSec,
      growth: sotraSec / tenthSec,
    };
    process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
  } finally {
    server.kill();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Distinct addresses that are the same at every run: a counter that was scrambled by steps that can be undone. */
function writeAddresses(file: string, count: number): void {
  const lines: string[] = [];
  for (let index = 0; index < count; index += 1) {
    const words = [1, 2, 3, 4, 5].map((salt) => {
      let word = Math.imul(index + 1, 0x9e3779b1) ^ Math.imul(salt, 0x85ebca6b);
      word = Math.imul(word ^ (word >>> 16), 0x21f0aaad);
      word = Math.imul(word ^ (word >>> 15), 0x735a2d97);
      return ((word ^ (word >>> 15)) >>> 0).toString(16).padStart(8, '0');
    });
    lines.push(`0x${words.join('')}\n`);
  }
  writeFileSync(file, lines.join(''));
}

function upload(url: string, file: string, data: string): Promise<Measured> {
  const argv = ['webhook', 'register', '--url', `http://127.0.0.1:9/${data}`, '--addresses-file', file, '--json'];
  return measure([program, ...argv, '--concurrency', String(concurrency)], {
    SOTRA_BASE_URL: url,
    SOTRA_API_KEY: 'bench-key',
    SOTRA_DATA_DIR: data,
    SOTRA_CONFIG_DIR: data,
  });
}

function measure(argv: string[], env: Record<string, string>): Promise<Measured> {
  const started = process.hrtime.bigint();
  const child = spawn(process.execPath, argv, {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { PATH: process.env['PATH'] ?? '', ...env },
  });
  let peakMb = 0;
  const watch = setInterval(() => {
    peakMb = Math.max(peakMb, peakOf(child.pid ?? 0));
  }, 20);
  return new Promise((resolve, reject) => {
    child.on('close', (code) => {
      clearInterval(watch);
      const seconds = Number(process.hrtime.bigint() - started) / 1e9;
      if (code === 0) resolve({ seconds, peakMb });
      else reject(new Error(`${argv.join(' ')} ended with ${code}`));
    });
  });
}

/** Largest resident memory of a process so far, as the kernel counts it; 0 where it does not tell. */
function peakOf(pid: number): number {
  try {
    return Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}

function firstLine(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.stdout?.once('data', (text) => resolve(String(text).trim()));
  });
}

function serve(): void {
  const server = createServer((request, response) => {
    request.on('end', () => {
      response.setHeader('content-type', 'application/json');
      if (request.method === 'GET') response.end('[]');
      else response.end('{"uid":"bench","destinationUrl":"http://127.0.0.1:9/","secret":"bench-secret"}');
    });
    request.resume();
  });
  server.listen(0, '127.0.0.1', () => {
    process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
  });
}

/** The floor: reads, splits and sends, a few requests at once; nothing is checked, kept or repeated. */
async function bare(origin: string, file: string): Promise<void> {
  const agent = new Agent({ connections: 8 });
  const running = new Set<Promise<void>>();
  const put = async (walletAddresses: string[]): Promise<void> => {
    const answer = await agent.request({
      origin,
      path: '/v1/webhooks/feed/bench',
      method: 'PUT',
      headers: { 'content-type': 'application/json', authorization: 'Bearer bench-key' },
      body: JSON.stringify({ walletAddresses }),
    });
    await answer.body.text();
  };
  const send = async (chunk: string[]): Promise<void> => {
    while (running.size >= concurrency) await Promise.race(running);
    const sending: Promise<void> = put(chunk).finally(() => running.delete(sending));
    running.add(sending);
  };
  let carried = '';
  let waiting: string[] = [];
  for await (const text of createReadStream(file, { encoding: 'utf8' })) {
    const lines = (carried + text).split('\n');
    carried = lines.pop() ?? '';
    waiting = waiting.concat(lines);
    for (; waiting.length >= chunkSize; waiting = waiting.slice(chunkSize)) await send(waiting.slice(0, chunkSize));
  }
  if (waiting.length > 0) await send(waiting);
  await Promise.all(running);
  await agent.close();
}
