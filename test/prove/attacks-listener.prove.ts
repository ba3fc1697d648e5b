import { type ChildProcess, spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { openSocket, run, temporaryFolder, until } from '../support/harness.ts';
import { bodyOf, secret, send, signed } from '../support/listening.ts';
import { program } from '../support/processes.ts';

interface AttackedListener {
  url: string;
  folder: string;
  child: ChildProcess;
  /** How long its event loop was kept busy at most, and the most memory that it had. */
  figures: () => { blockMs: number; peakMb: number };
  stop: () => Promise<number | null>;
}

/** Starts the built program as a listener with a heap of 256 MB, and watches it from outside. */
async function startListener(secrets: readonly string[] = [secret]): Promise<AttackedListener> {
  const folder = temporaryFolder();
  const path = (name: string) => join(folder, name);
  writeFileSync(path('secret'), `${secrets.join('\n')}\n`);
  const argv = ['webhook', 'listen', '--port', '0', '--secret-file', path('secret'), '--ready-file', path('ready')];
  const child = spawn(process.execPath, [program, ...argv], {
    stdio: 'ignore',
    env: {
      PATH: process.env['PATH'] ?? '',
      SOTRA_CONFIG_DIR: folder,
      SOTRA_DATA_DIR: folder,
      NODE_OPTIONS: `--max-old-space-size=256 --import ${pathToFileURL('test/support/hostile/longest-block.mjs').href}`,
      BLOCK_FILE: path('block'),
    },
  });
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
  onTestFinished(() => void child.kill('SIGKILL'));
  await until(() => existsSync(path('ready')), 'the listener listens');
  const { url } = JSON.parse(readFileSync(path('ready'), 'utf8'));
  writeFileSync(path('block'), '0');
  return {
    url,
    folder,
    child,
    figures: () => ({
      blockMs: Number(readFileSync(path('block'), 'utf8')),
      peakMb: Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${child.pid}/status`, 'latin1'))?.[1]) / 1024,
    }),
    stop: () => {
      child.kill('SIGTERM');
      return ended;
    },
  };
}

/** A connection that sends this once it is there. */
async function openLine(url: string, bytes: Buffer) {
  const line = openSocket(url, bytes);
  await Promise.race([once(line.socket, 'connect'), line.ended]);
  return line;
}

/** The status of the answer to some bytes; `none` if the connection was closed without one, or nothing came for a while. */
async function statusOf(url: string, bytes: Buffer): Promise<string> {
  const { socket, got } = openSocket(url, bytes);
  const status = () => /HTTP\/1\.1 (?!100)(\d+)/.exec(got.text)?.[1];
  for (const end = Date.now() + 15_000; !got.closed && status() === undefined && Date.now() < end; ) await delay(2);
  socket.destroy();
  return status() ?? 'none';
}

const nowSec = () => Math.floor(Date.now() / 1000);
const nobody = 'A'.repeat(43);
const signatureOf = (body: string, t = nowSec()) =>
  createHmac('sha256', secret).update(`${t}.${body}`).digest('base64url');

function request(lines: readonly string[], body = '', first = 'POST /hook HTTP/1.1'): string {
  return [first, 'Host: 127.0.0.1', ...lines, '', body].join('\r\n');
}

const signedBy = (t: number, v1: string) => `daylight-signature: t=${t},v1=${v1}`;

const chunked = (body: string, trailer = '') =>
  `${(body.match(/[\s\S]{1,2000}/g) ?? []).map((part) => `${part.length.toString(16)}\r\n${part}\r\n`).join('')}0\r\n${trailer}\r\n`;

/** Ways to send a delivery that is stored: bytes, of its body, its length as a header, and its signature. */
const good: Record<string, (body: string, length: string, t: number, v1: string) => string> = {
  plain: (body, length, t, v1) => request([signedBy(t, v1), length], body),
  'a header spelled otherwise': (body, length, t, v1) =>
    request([`DayLight-SIGNATURE:   v1=${v1} , t=${t}  `, length], body),
  'several signatures': (body, length, t, v1) =>
    request([`daylight-signature: t=${t},v1=${nobody},v1=${v1},v0=z`, length], body),
  'two headers': (body, length, t, v1) => request([signedBy(t, v1), `daylight-signature: v1=${nobody}`, length], body),
  'chunks and a trailer': (body, _, t, v1) =>
    request([signedBy(t, v1), 'Transfer-Encoding: chunked', 'Trailer: X'], chunked(body, 'X: y\r\n')),
  'odd headers': (body, length, t, v1) =>
    request([signedBy(t, v1), length, '__proto__: a', 'X-Odd: \xff\xfe', `X: ${'l'.repeat(8000)}`], body),
  'an odd path': (body, length, t, v1) =>
    request([signedBy(t, v1), length], body, `POST /%00/../${'p'.repeat(2000)}?a=%zz HTTP/1.1`),
};

/** Ways to send one that is refused. */
const bad: Record<string, (body: string, length: string, t: number, v1: string) => string> = {
  'another time': (body, length, t, v1) => request([signedBy(t + 1, v1), length], body),
  'no time': (body, length, _, v1) => request([`daylight-signature: t=1e9,v1=${v1}`, length], body),
  'more body': (body, _, t, v1) => request([signedBy(t, v1), `Content-Length: ${body.length + 1}`], `${body} `),
  'random bytes': () => '\0\x16\x03\xff{"\r\n\r\n',
  'a header of odd bytes': (body, length) => request(['daylight-signature: \xff\xfe=\x01,', length], body),
  'many signatures': (body, length, t) => request([`daylight-signature: t=${t}${',v1=A'.repeat(3500)}`, length], body),
  'a huge header': (body, length, t, v1) => request([signedBy(t, v1), `X: ${'x'.repeat(60_000)}`, length], body),
  'many headers': (body, length, t) => request([...Array(5000).fill('a: b'), signedBy(t, nobody), length], body),
  'two lengths': (body, length, t, v1) => request([signedBy(t, v1), length, 'Content-Length: 3'], body),
  'a length and chunks': (body, length, t, v1) =>
    request([signedBy(t, v1), length, 'Transfer-Encoding: chunked'], chunked(body)),
  'a length that is none': (body, _, t, v1) => request([signedBy(t, v1), 'Content-Length: -1'], body),
  'broken chunks': (body, _, t, v1) => request([signedBy(t, v1), 'Transfer-Encoding: chunked'], `zz\r\n${body}`),
  'an odd first line': (body, length, t, v1) => request([signedBy(t, v1), length], body, 'POST / HTTP/9.9'),
  'no host': (_, __, t, v1) => `POST / HTTP/1.1\r\ndaylight-signature: t=${t},v1=${v1}\r\nContent-Length: 0\r\n\r\n`,
  'an upgrade': (body, length, t) =>
    request([signedBy(t, nobody), length, 'Connection: Upgrade', 'Upgrade: websocket'], body),
};

const fillings = ['x', '[', '{"a":', '\\', '\r\n', '\0'];

test('in each form and of each size a signed delivery is stored, and a forged or broken one is refused', async () => {
  const listener = await startListener();
  const stored: string[] = [];
  for (const [index, size] of [10, 1000, 700_000].entries())
    for (const [isGood, forms] of [
      [true, good],
      [false, bad],
    ] as const)
      for (const [at, [name, form]] of Object.entries(forms).entries()) {
        const id = `${name} ${size}`;
        const filling = fillings[(at + index) % fillings.length] ?? '';
        const note = JSON.stringify(filling.repeat(Math.ceil(size / 6 / filling.length)));
        const body = `{"events":[{"eventId":"${id}","eventType":"new-feed-item","note":${note}}]}`;
        const t = nowSec();
        const bytes = Buffer.from(form(body, `Content-Length: ${body.length}`, t, signatureOf(body, t)), 'latin1');
        const status = await statusOf(listener.url, bytes);
        expect([id, status]).toEqual([id, isGood ? '200' : expect.stringMatching(/^4|^503|none/)]);
        if (isGood) stored.push(id);
        // A sender that goes away in the middle.
        const cut = await openLine(listener.url, bytes.subarray(0, bytes.length / 2));
        cut.socket.destroy();
      }
  expect(listener.figures().blockMs).toBeLessThan(100);
  expect(await listener.stop()).toBe(0);
  const env = { SOTRA_DATA_DIR: listener.folder };
  const { out } = await run('webhook events --limit 1000 --columns eventId --json', { env });
  expect(JSON.parse(out).map(({ eventId }: { eventId: string }) => eventId)).toEqual(stored.toReversed());
});

const whole = 5 * 1024 * 1024;
const head = (more: string, signature = `t=${nowSec()},v1=${nobody}`) =>
  request([`daylight-signature: ${signature}`, more]);
const body = (filling: string) => filling.repeat(whole / filling.length).padEnd(whole);

const attacks: readonly [name: string, connections: number, sent: () => string][] = [
  ['connections without a word', 1000, () => ''],
  ['heads that never end', 400, () => 'POST / HTTP/1.1\r\nHost: a\r\nX'],
  ['bodies that never end', 200, () => head(`Content-Length: ${whole}`) + body('x').slice(1)],
  ['whole bodies', 50, () => head(`Content-Length: ${whole}`) + body('[')],
  ['bodies nested deeply', 20, () => head(`Content-Length: ${whole}`) + '['.repeat(whole / 2) + ']'.repeat(whole / 2)],
  ['bodies of escapes', 20, () => head(`Content-Length: ${whole}`) + body('"\\u0001",')],
  ['chunks of a byte', 20, () => head('Transfer-Encoding: chunked') + '1\r\nx\r\n'.repeat(whole / 2)],
  ['requests one behind the other', 200, () => 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(2000)],
  ['forged deliveries one behind the other', 200, () => `${head('Content-Length: 1')}x`.repeat(2000)],
  ['trailers without end', 20, () => `${head('Transfer-Encoding: chunked')}0\r\n${'a: b\r\n'.repeat(50_000)}`],
  ['signatures without end', 50, () => head('Content-Length: 1', `t=${nowSec()}${',v1='.repeat(3500)}`)],
];

test.each(attacks)('%s hold up no good delivery, in little time and memory', async (name, connections, sent) => {
  const listener = await startListener([...Array.from({ length: 20 }, (_, index) => `another-${index}`), secret]);
  const bytes = Buffer.from(sent(), 'latin1');
  for (let opened = 0; opened < connections; opened += 1) {
    await openLine(listener.url, bytes);
    if (opened % 50 === 0) await deliver(listener.url, `beside-${opened}`);
  }
  await deliver(listener.url, `large${'x'.repeat(500_000)}`);
  await delay(1000);
  const figures = listener.figures();
  process.stdout.write(`${JSON.stringify({ name, connections, ...figures })}\n`);
  // Many requests in one piece are one step of Node's parser.
  expect(figures.blockMs).toBeLessThan(500);
  expect(figures.peakMb).toBeLessThan(300);
  expect(await listener.stop()).toBe(0);
});

/** Sends a good delivery, again where there was no room for it, as the service does. */
async function deliver(url: string, id: string): Promise<void> {
  const text = bodyOf(id);
  for (let tries = 1; (await send(url, text, signed(text)).catch(() => 0)) !== 200; tries += 1) {
    if (tries === 5) throw new Error(`a good delivery was not taken in ${tries} tries`);
    await delay(1000);
  }
}
