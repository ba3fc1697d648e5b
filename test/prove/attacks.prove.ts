import { createHmac } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { seed } from '../support/draw.ts';
import {
  type AttackedListener,
  attackListener,
  type Line,
  openLine,
  startBareServer,
  tell,
} from '../support/hostile/attack.ts';
import { fuzzDeliveries } from '../support/hostile/deliveries.ts';
import { bodyOf, secret, send, signed } from '../support/listening.ts';

// ATTACKS changes how many deliveries are generated.
const count = Number(process.env['ATTACKS'] ?? 10_000);

describe('deliveries before their signature is known to fit', () => {
  test(`${count} generated deliveries of up to 1 MB`, async () => {
    const listener = await attackListener();
    const report = await fuzzDeliveries(listener, { count, seed });
    tell(report);
    expect(report.failures).toEqual([]);
    expect(report.longestBlockMs).toBeLessThan(100);
    expect(await listener.stop()).toEqual({ code: 0, signal: null });
    expect(listener.printed.err).not.toMatch(/\n\s+at |could not be stored/);
  });

  const t = Math.floor(Date.now() / 1000);
  const nobody = `t=${t},v1=${'A'.repeat(43)}`;
  const head = (more: string, signature = nobody) =>
    Buffer.from(`POST /hook HTTP/1.1\r\nHost: a\r\ndaylight-signature: ${signature}\r\n${more}\r\n\r\n`);
  const whole = 5 * 1024 * 1024;
  const body = (filling: string, bytes = whole) => Buffer.alloc(bytes, filling);
  const attacks: readonly [name: string, connections: number, sent: () => Buffer][] = [
    ['connections without a word', 1000, () => Buffer.from('')],
    ['heads that never end', 400, () => Buffer.from('POST / HTTP/1.1\r\nHost: a\r\nX')],
    ['bodies that never end', 200, () => Buffer.concat([head(`Content-Length: ${whole}`), body('x', whole - 1)])],
    ['whole bodies', 50, () => Buffer.concat([head(`Content-Length: ${whole}`), body('[')])],
    [
      'bodies nested deeply',
      20,
      () => Buffer.concat([head(`Content-Length: ${whole}`), body('[', whole / 2), body(']', whole / 2)]),
    ],
    [
      'chunks of a byte',
      20,
      () => Buffer.concat([head('Transfer-Encoding: chunked'), Buffer.from('1\r\nx\r\n'.repeat(whole / 2))]),
    ],
    ['requests one behind the other', 20, () => Buffer.from('GET / HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(50_000))],
    ['deliveries one behind the other', 20, () => Buffer.from(`${head('Content-Length: 1')}x`.repeat(20_000))],
    [
      'trailers without end',
      20,
      () => Buffer.concat([head('Transfer-Encoding: chunked'), Buffer.from(`0\r\n${'a: b\r\n'.repeat(50_000)}`)]),
    ],
    ['signatures without end', 50, () => head('Content-Length: 1', `t=${t}${',v1='.repeat(3500)}`)],
    [
      'unsigned bodies',
      50,
      () => Buffer.concat([Buffer.from(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${whole}\r\n\r\n`), body('x')]),
    ],
  ];

  test.each(attacks)('%s, and good deliveries beside them', async (name, connections, sent) => {
    const listener = await attackListener([...Array.from({ length: 20 }, (_, index) => `another-${index}`), secret]);
    const bytes = sent();
    const bareBlockMs = await attackBareServer(connections, bytes);
    const lines: Line[] = [];
    for (let opened = 0; opened < connections; opened += 1) {
      const line = await openLine(listener.port);
      line.socket.write(bytes);
      lines.push(line);
      if (opened % 50 === 0) await deliver(listener, `beside-${opened}`);
    }
    const [small, large] = [await deliver(listener, 'small'), await deliver(listener, `large${'x'.repeat(500_000)}`)];
    await delay(1000);
    tell({
      name,
      connections,
      smallMs: small,
      largeMs: large,
      longestBlockMs: Math.round(listener.longestBlockMs()),
      bareBlockMs: Math.round(bareBlockMs),
      peakMb: Math.round(listener.peakMb()),
    });
    // Many requests in one piece are one step of Node's parser, for which the machine sets the time.
    expect(listener.longestBlockMs()).toBeLessThan(Math.max(100, 2 * bareBlockMs));
    expect(listener.peakMb()).toBeLessThan(300);
    for (const { socket } of lines) socket.destroy();
    expect(await listener.stop()).toEqual({ code: 0, signal: null });
  });

  test('a signature that is nearly right is answered as any other is', async () => {
    const listener = await attackListener();
    const text = bodyOf('one');
    const right = createHmac('sha256', secret).update(`${t}.${text}`).digest('base64url');
    const answers = new Set<string>();
    for (let length = 0; length < 43; length += 1)
      for (const rest of ['', 'A'.repeat(43 - length)]) {
        if (right.slice(0, length) + rest === right) continue;
        const headers = { 'daylight-signature': `t=${t},v1=${right.slice(0, length)}${rest}` };
        answers.add(await (await fetch(listener.url, { method: 'POST', body: text, headers })).text());
      }
    expect(answers.size).toBe(1);
  });
});

/** Milliseconds that a bare server was kept busy at most by the same bytes over as many connections. */
async function attackBareServer(connections: number, bytes: Buffer): Promise<number> {
  const server = await startBareServer();
  const lines: Line[] = [];
  for (let opened = 0; opened < connections; opened += 1) {
    const line = await openLine(server.port);
    line.socket.write(bytes);
    lines.push(line);
  }
  await delay(1000);
  for (const { socket } of lines) socket.destroy();
  server.stop();
  return server.longestBlockMs();
}

/** Milliseconds that a good delivery took, sent again where there was no room for it, as the service does. */
async function deliver(listener: AttackedListener, id: string): Promise<number> {
  const started = performance.now();
  const text = bodyOf(id);
  for (let tries = 1; (await send(listener.url, text, signed(text)).catch(() => 0)) !== 200; tries += 1) {
    if (tries === 5)
      throw new Error(`a good delivery was not taken in ${tries} tries: ${listener.printed.err.slice(-500)}`);
    await delay(1000);
  }
  return Math.round(performance.now() - started);
}
