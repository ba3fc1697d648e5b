import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { run, stub, temporaryFolder } from '../support/harness.ts';
import { attack, attackListener, exchange, openLine, smallDisk, tell } from '../support/hostile/attack.ts';
import { bodyOf, secret, send, signed } from '../support/listening.ts';
import { until } from '../support/until.ts';

const wrong = () => ({ 'daylight-signature': `t=${Math.floor(Date.now() / 1000)},v1=${'A'.repeat(43)}` });
const nested = (depth: number, open = '[', close = ']') => open.repeat(depth) + close.repeat(depth);
const group = nested(3000);

const deep: readonly [what: string, body: string][] = [
  ['nine groups of 3,000 arrays', `[${Array(9).fill(group).join(',')}]`],
  ['nine groups side by side', group.repeat(9)],
  ['thirteen groups of 3,000 arrays', `[${Array(13).fill(group).join(',')}]`],
  ['10,000 arrays', nested(10_000)],
  ['10,000 objects', nested(10_000, '{"a":', '}').replace('{"a":}', '{}')],
  ['4 MB of arrays', nested(2_000_000)],
  ['4 MB of groups', `[${Array(600).fill(group).join(',')}]`],
  ['4 MB of escapes', JSON.stringify('\\"\u0001'.repeat(400_000))],
  ['4 MB of numbers', `[${'1e5,'.repeat(1_000_000)}1]`],
  ['4 MB of line ends and spaces', `{"a":1}${'\r\n '.repeat(1_300_000)}`],
  ['4 MB of letters of three bytes', JSON.stringify('\u20ac'.repeat(1_300_000))],
];

test.each(deep)('a body of %s with a wrong signature is answered 401 like the smallest', async (what, body) => {
  const listener = await attackListener();
  for (let time = 0; time < 5; time += 1) expect(await send(listener.url, body, wrong())).toBe(401);
  const figures = { blockMs: Math.round(listener.longestBlockMs()), peakMb: Math.round(listener.peakMb()) };
  tell({ what, ...figures });
  expect(figures.blockMs).toBeLessThan(100);
  expect(figures.peakMb).toBeLessThan(300);
  expect(await listener.stop()).toEqual({ code: 0, signal: null });
});

test.each(deep)('webhook verify tells what is wrong with a body of %s within seconds', async (_, body) => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'secret'), `${secret}\n`, { mode: 0o600 });
  writeFileSync(join(folder, 'body'), body);
  const header = wrong()['daylight-signature'];
  const argv = ['webhook', 'verify', '--secret-file', join(folder, 'secret'), '--file', join(folder, 'body')];
  const verified = await attack([...argv, '--header', header, '--json']);
  expect([verified.code, verified.err]).toEqual([12, '']);
  expect(verified.cpuSec).toBeLessThan(5);
  expect(verified.peakMb).toBeLessThan(450);
});

const pipelined: readonly [what: string, request: () => string][] = [
  ['GETs', () => 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'],
  [
    'forged deliveries',
    () =>
      `POST /hook HTTP/1.1\r\nHost: a\r\ndaylight-signature: ${wrong()['daylight-signature']}\r\nContent-Length: 2\r\n\r\n{}`,
  ],
];

test.each(pipelined)('200 connections with 2,000 %s each at once hold up nobody', async (what, request) => {
  const listener = await attackListener();
  const lines = await Promise.all(Array.from({ length: 200 }, () => openLine(listener.port)));
  const bytes = Buffer.from(request().repeat(2000));
  for (const { socket } of lines) socket.write(bytes);
  await until(() => lines.every(({ closed }) => closed), 'all connections are closed');
  const body = bodyOf('after');
  expect(await send(listener.url, body, signed(body))).toBe(200);
  const figures = { blockMs: Math.round(listener.longestBlockMs()), peakMb: Math.round(listener.peakMb()) };
  tell({ what, ...figures });
  expect(figures.blockMs).toBeLessThan(500);
  expect(figures.peakMb).toBeLessThan(300);
  expect(await listener.stop()).toEqual({ code: 0, signal: null });
});

const names = ['constructor', 'toString', '__proto__', 'hasOwnProperty', 'valueOf', 'prototype', '__defineGetter__'];
const ofConnections = [
  ...[
    'Trailer: x',
    'Connection: x-a, close',
    'Connection: daylight-signature',
    'TE: trailers',
    'Keep-Alive: timeout=1',
  ],
  ...['Proxy-Connection: keep-alive', 'Proxy-Authorization: Basic eA==', 'Upgrade: h2c', 'Expect: 100-continue'],
  ...['Transfer-Encoding: identity', 'X-Bytes: \xff\xfe', 'X-Empty:', 'Cookie: a=b', 'Cookie: c=d', 'X-\u0021#$%&: y'],
];

test('headers of any name neither end a listener that forwards, nor its next start, nor block a queue', async () => {
  const target = await stub((_, response) => response.end());
  const folder = temporaryFolder();
  const more = ['--forward-to', target.url];
  const headers = [...names.map((name) => `${name}: x`), ...ofConnections];
  const first = await attackListener([secret], { more, folder });
  const statuses = new Map<string, string>();
  for (const [index, header] of headers.entries()) {
    const body = bodyOf(`odd-${index}`);
    const head = [
      'POST /hook HTTP/1.1',
      'Host: a',
      `daylight-signature: ${signed(body)['Daylight-Signature']}`,
      `Content-Length: ${Buffer.byteLength(body)}`,
      header,
    ];
    const answer = await exchange(first.port, [
      Buffer.from(`${head.join('\r\n')}\r\n\r\n`, 'latin1'),
      Buffer.from(body),
    ]);
    statuses.set(header, /HTTP\/1\.1 (?!100)(\d+)/.exec(answer)?.[1] ?? 'none');
  }
  const taken = [...statuses.values()].filter((status) => status === '200').length;
  expect([...statuses].filter(([, status]) => !/^(200|400|417|501)$/.test(status))).toEqual([]);
  const last = bodyOf('last');
  expect(await send(first.url, last, signed(last))).toBe(200);
  const arrived = () => target.requests.map(({ body }) => JSON.parse(body).events[0].eventId);
  await until(() => arrived().includes('last') && arrived().length === taken + 1, `${taken + 1} are forwarded`);
  expect(first.printed.err).not.toContain('skipped');
  expect(await first.stop()).toEqual({ code: 0, signal: null });
  const second = await attackListener([secret], { more, folder });
  const again = bodyOf('again');
  expect(await send(second.url, again, signed(again))).toBe(200);
  await until(() => arrived().includes('again'), 'what comes later is forwarded');
  expect(await second.stop()).toEqual({ code: 0, signal: null });
});

// Only root may mount a small disk.
test.runIf(process.getuid?.() === 0)(
  'a full disk is answered 503, ends nothing, and all goes on once there is room',
  async () => {
    const folder = smallDisk(4);
    if (folder === undefined) return;
    let down = true;
    const target = await stub((_, response) => response.writeHead(down ? 503 : 200).end());
    const listener = await attackListener([secret], { more: ['--forward-to', target.url], folder });
    const taken: string[] = [];
    const post = async (id: string) => {
      const body = bodyOf(id);
      const status = await send(listener.url, body, signed(body));
      if (status === 200) taken.push(id);
      return status;
    };
    for (let index = 0; index < 5; index += 1) expect(await post(`before-${index}`)).toBe(200);
    fill(folder);
    down = false;
    // While the marks of what is forwarded cannot be written either.
    const statuses = [];
    for (let index = 0; index < 30; index += 1) statuses.push(await post(`full-${index}`));
    expect(statuses.at(-1)).toBe(503);
    expect(statuses.filter((status) => status !== 200 && status !== 503)).toEqual([]);
    expect(listener.child.exitCode).toBe(null);
    rmSync(join(folder, 'filling'));
    expect(await post('after')).toBe(200);
    const arrived = () => new Set(target.requests.flatMap(({ body }) => JSON.parse(body).events[0].eventId as string));
    await until(() => taken.every((id) => arrived().has(id)), 'all that was taken is forwarded');
    expect(listener.printed.err).not.toMatch(/\n\s+at /);
    expect(listener.printed.err.match(/disk|ENOSPC/g)?.length).toBeLessThan(10);
    expect(await listener.stop()).toEqual({ code: 0, signal: null });
  },
);

/** Writes until there is no room left. */
function fill(folder: string): void {
  for (const bytes of [1_000_000, 10_000, 100, 1])
    try {
      for (;;) writeFileSync(join(folder, 'filling'), Buffer.alloc(bytes), { flag: 'a' });
    } catch {
      // Smaller pieces may still fit.
    }
}

test('of a delivery with one known event and one without an id the known one is not lost', async () => {
  const listener = await attackListener();
  const known = { eventId: 'known', eventType: 'new-feed-item', walletAddresses: [], feedItem: {} };
  for (const others of [[{}], [{ eventType: 'new-feed-item' }], [{ eventId: 7 }], [null], ['x'], [{ eventId: '' }]]) {
    const body = JSON.stringify({ events: [{ ...known, eventId: `known-${JSON.stringify(others)}` }, ...others] });
    expect(await send(listener.url, body, signed(body))).toBe(200);
    // The same event once more, beside something new that has no id.
    const again = JSON.stringify({
      events: [{ ...known, eventId: `known-${JSON.stringify(others)}` }, { note: others }],
    });
    expect(await send(listener.url, again, signed(again))).toBe(200);
  }
  await listener.stop();
  const shown = JSON.parse(
    (await run('webhook events --limit 100 --json', { env: { SOTRA_DATA_DIR: listener.folder } })).out,
  );
  expect(shown.filter(({ eventId }: { eventId?: string }) => eventId?.startsWith('known-'))).toHaveLength(6);
});
