// How long and in how much memory `webhook register` and `webhook sync` take 1,000,000 addresses from a file to a service, and `sync` to find
// that nothing is new, against a bare script that reads, splits and PUTs with undici and no checks. The service is a stub in a process of
// its own that reads and answers. Each figure is the median of rounds in which the programs take turns, a third of them with five times as
// many addresses.
import { createReadStream, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { json } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { Agent } from 'undici';
import { measureChild, report, startServer, temporaryFolder, type Usage } from './measure/measure.ts';

const self = fileURLToPath(import.meta.url);
const program = process.env['SOTRA_TEST_PROGRAM'] ?? 'bin/sotra.js';
const chunkSize = 1000;
const concurrency = 4;
const rounds = 15;

const [role, ...rest] = process.argv.slice(2);
if (role === 'serve') serve();
else if (role === 'bare') await bare(rest[0] ?? '', rest[1] ?? '');
else await main(Number(role ?? 1_000_000));

async function main(count: number): Promise<void> {
  const folder = temporaryFolder();
  const { url } = await startServer([self, 'serve']);
  const [one, five] = [join(folder, 'one.txt'), join(folder, 'five.txt')];
  writeAddresses(one, count);
  writeAddresses(five, count * 5);
  const taken: Record<'bare' | 'one' | 'sync' | 'again' | 'five', Usage[]> = {
    bare: [],
    one: [],
    sync: [],
    again: [],
    five: [],
  };
  for (let round = 0; round < rounds; round += 1) {
    const data = join(folder, `data-${round}`);
    taken.bare.push(await measureChild([self, 'bare', url, one]));
    taken.one.push(await upload('register', url, one, data));
    // What one round leaves for the disk to write would slow the next.
    rmSync(data, { recursive: true });
    taken.sync.push(await upload('sync', url, one, data));
    taken.again.push(await upload('sync', url, one, data));
    rmSync(data, { recursive: true });
    if (round % 3 !== 0) continue;
    taken.five.push(await upload('register', url, five, `${data}-five`));
    rmSync(`${data}-five`, { recursive: true });
  }
  const time = (each: readonly Usage[]) => each.map(({ seconds }) => seconds);
  const peak = (each: readonly Usage[]) => each.map(({ peakMb }) => peakMb);
  const what = `webhook register of ${count} addresses`;
  report([
    { what: `${what}, read + split + PUT`, unit: 's', floor: time(taken.bare), measured: time(taken.one), atMost: 2 },
    { what: `${what}, peak memory`, unit: 'MB', measured: peak(taken.one), atMost: 250 },
    { what: 'webhook sync of as many', unit: 's', floor: time(taken.bare), measured: time(taken.sync), atMost: 2 },
    { what: 'sync again, unchanged', unit: 's', floor: time(taken.bare), measured: time(taken.again), atMost: 2 },
    { what: 'sync again, unchanged, peak memory', unit: 'MB', measured: peak(taken.again) },
    { what: 'five times as many', unit: 's', floor: time(taken.one), measured: time(taken.five), atMost: 5.5 },
    { what: 'five times as many, peak memory', unit: 'MB', measured: peak(taken.five) },
  ]);
  process.exit();
}

/** Distinct addresses that are the same at every run: a counter that was scrambled by steps that can be undone. */
function writeAddresses(file: string, count: number): void {
  writeFileSync(file, '');
  for (let from = 0; from < count; from += 100_000) {
    const lines = Array.from({ length: Math.min(100_000, count - from) }, (_, index) => addressOf(from + index));
    writeFileSync(file, lines.join(''), { flag: 'a' });
  }
}

function addressOf(index: number): string {
  const words = [1, 2, 3, 4, 5].map((salt) => {
    let word = Math.imul(index + 1, 0x9e3779b1) ^ Math.imul(salt, 0x85ebca6b);
    word = Math.imul(word ^ (word >>> 16), 0x21f0aaad);
    word = Math.imul(word ^ (word >>> 15), 0x735a2d97);
    return ((word ^ (word >>> 15)) >>> 0).toString(16).padStart(8, '0');
  });
  return `0x${words.join('')}\n`;
}

async function upload(task: 'register' | 'sync', url: string, file: string, data: string): Promise<Usage> {
  const argv = ['webhook', task, '--url', `http://127.0.0.1:9/${task}-${data}`, '--file', file, '--json'];
  return measureChild([program, ...argv, '--concurrency', String(concurrency)], {
    XDG_CACHE_HOME: dirname(data),
    SOTRA_BASE_URL: url,
    SOTRA_API_KEY: 'bench-key',
    SOTRA_DATA_DIR: data,
    SOTRA_CONFIG_DIR: data,
  });
}

function serve(): void {
  const webhooks: object[] = [];
  const server = createServer((request, response) => {
    const register = async () => {
      const { destinationUrl } = (await json(request)) as { destinationUrl: string };
      webhooks.push({ uid: `bench-${webhooks.length}`, destinationUrl, secret: 'bench-secret' });
      return webhooks.at(-1);
    };
    const answer = (value: unknown) => response.end(JSON.stringify(value));
    response.setHeader('content-type', 'application/json');
    if (request.method === 'POST') return void register().then(answer);
    request.on('end', () => answer(request.method === 'GET' ? webhooks : { uid: request.url?.split('/').at(-1) }));
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
