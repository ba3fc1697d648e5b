import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { openPort, openSocket, run, stub, temporaryFolder, until } from '../../support/harness.ts';
import { fillInbox } from '../../support/inbox.ts';
import { bodyOf, listen, send, signed } from '../../support/listening.ts';
import { size } from '../../support/size.ts';

/** POSTs with headers that no client lets through, and gives the line of the answer. */
function sendRaw(url: string, body: string, lines: readonly string[]): Promise<string> {
  const signature = `Daylight-Signature: ${signed(body)['Daylight-Signature']}`;
  const head = ['POST /hook HTTP/1.1', 'Host: x', `Content-Length: ${body.length}`, signature, ...lines];
  const { got } = openSocket(url, `${head.join('\r\n')}\r\n\r\n${body}`);
  return until(() => /^(.*)\r\n/.exec(got.text)?.[1]);
}

const strange = ['constructor', 'toString', 'valueOf', 'hasOwnProperty', '__proto__', '__defineGetter__', 'prototype'];
const ofConnection = [
  ...['Trailer: x', 'TE: trailers', 'Proxy-Connection: keep-alive', 'Keep-Alive: timeout=5', 'X-Hop: 1'],
  'Connection: close, x-hop, Daylight-Signature',
];

test('whatever names its headers have, a delivery is forwarded with them, and so is the one behind it', async () => {
  const folder = temporaryFolder();
  const names: string[][] = [];
  const target = await stub(({ headers }, response) => {
    names.push(Object.keys(headers));
    response.end();
  });
  const { url, stop } = await listen(folder, `--forward-to ${target.url}`);
  const body = bodyOf('one').replace('\u00eb', 'e');
  const lines = [...strange.map((name) => `${name}: v`), 'X-Two: 1', 'x-two: 2', ...ofConnection];
  expect(await sendRaw(url, body, lines)).toBe('HTTP/1.1 200 OK');
  expect(await send(url, bodyOf('two'), signed(bodyOf('two')))).toBe(200);
  await until(() => target.requests.length === 2);
  const { code, err } = await stop();
  expect(code).toBe(0);
  expect(err).not.toContain('warning');
  expect(target.requests.map((each) => each.body)).toEqual([body, bodyOf('two')]);
  const names1 = strange.map((each) => each.toLowerCase());
  expect(names[0]?.filter((name) => name !== '__proto__')).toEqual([
    ...['daylight-signature', ...names1.filter((name) => name !== '__proto__'), 'x-two'],
    ...['host', 'content-length', 'connection'],
  ]);
  expect(target.requests[0]?.headers['x-two']).toBe('1, 2');
  expect(target.requests[0]?.headers.connection).toBe('keep-alive');
  const again = await run(`webhook replay one --to ${target.url} --json`, { env: { SOTRA_DATA_DIR: folder } });
  expect(JSON.parse(again.out)).toMatchObject([{ eventId: 'one', taken: true }]);
  expect(target.requests[2]?.headers).toMatchObject({ constructor: 'v', 'x-two': '1, 2' });
});

test('a delivery that cannot be sent is set aside with a warning, also after a restart, and the next ones are sent', async () => {
  const folder = temporaryFolder();
  const target = await stub((_, response) => response.end());
  const first = await listen(folder, `--forward-to ${target.url}`);
  await first.stop();
  await fillInbox(folder, [
    { headers: ['no name', 'v'], body: Buffer.from(bodyOf('bad')) },
    { headers: ['x-good', 'v'], body: Buffer.from(bodyOf('good')) },
  ]);
  const { stop } = await listen(folder, `--forward-to ${target.url}`);
  await until(() => target.requests.length === 1);
  expect((await stop()).err).toContain(
    `warning: ${target.url}: event bad cannot be sent (Header name must be a valid HTTP token ["no name"]): set aside; sotra webhook replay --failed sends it again`,
  );
  expect(target.requests.map(({ body }) => body)).toEqual([bodyOf('good')]);
  const replayed = await run(`webhook replay bad --to ${target.url} --json`, { env: { SOTRA_DATA_DIR: folder } });
  expect(replayed.code).toBe(10);
  expect(JSON.parse(replayed.out)).toMatchObject([{ eventId: 'bad', taken: false, status: null }]);
});

test.each([
  [
    'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n',
    'the connection was closed without an answer',
  ],
  ['', 'the connection was closed without an answer'],
  ['SSH-2.0-x\r\n', 'the answer is not HTTP'],
  ['HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhal', 'the answer was cut off'],
])('a target that answers %j is tried again, and holds up nothing', async (first, why) => {
  const { url, count } = await openTarget(first, 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n');
  const { deliver, shown } = await listen(temporaryFolder(), `--forward-to ${url}`);
  await deliver(bodyOf('one'));
  await until(() => shown.err.includes('-> 200'));
  expect(shown.err).toContain(`-> ${why} in`);
  expect(count()).toBe(2);
});

/** A target that sends these bytes, one after the other, and closes each connection. */
async function openTarget(...answers: string[]) {
  let count = 0;
  const target = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => {
      socket.end(answers[count] ?? '');
      count += 1;
    });
  });
  return { url: `http://127.0.0.1:${await openPort(target)}/`, count: () => count };
}

test('each forward is shown with its status, time and address, with --json on stderr as it happens, with --quiet not', async () => {
  const target = await stub((_, response, count) => {
    response.statusCode = count === 1 ? 500 : 200;
    response.end();
  });
  const { url, stop, shown } = await listen(temporaryFolder(), `--json --forward-to ${target.url}/in`);
  expect(shown.err).toMatch(/^Listening on /);
  await send(url, bodyOf('one'), signed(bodyOf('one')));
  await until(() => shown.err.includes('-> 200'));
  expect(shown.err).toMatch(
    /warning: -> 500 in \d+ ms http:\S+\/in event one; it is sent again\n-> 200 in \d+ ms http:\S+\/in event one\n/,
  );
  expect((await stop()).out.trim().split('\n')).toHaveLength(1);
  const quiet = await listen(temporaryFolder(), `--quiet --forward-to ${target.url}/in`);
  await send(quiet.url, bodyOf('two'), signed(bodyOf('two')));
  await until(() => target.requests.length === 3);
  expect((await quiet.stop()).err).toBe('');
});

test('an event without an id is stored beside a known one, and only once if the same bytes come again', async () => {
  const folder = temporaryFolder();
  const { url, stop } = await listen(folder, '--json');
  const known = '{"eventId":"known","eventType":"new-feed-item"}';
  const mixed = `{"events":[${known},{"eventType":"ping","n":1},{"eventId":"","eventType":"ping","n":2},7]}`;
  for (const body of [`{"events":[${known}]}`, mixed, mixed, 'not JSON', 'not JSON'])
    expect(await send(url, body, signed(body))).toBe(200);
  const { out, err } = await stop();
  expect(err.match(/repeat of .*/g)).toEqual([
    expect.stringMatching(/^repeat of event known, sha256-\w+-1, sha256-\w+-2 and 1 more$/),
    expect.stringMatching(/^repeat of event sha256-\w+$/),
  ]);
  const events = out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(events.map(({ eventType, n }) => [eventType, n])).toEqual([
    ['new-feed-item', undefined],
    ['ping', 1],
    ['ping', 2],
    ['unknown', undefined],
    ['unknown', undefined],
  ]);
  const listed = await run('webhook events --json', { env: { SOTRA_DATA_DIR: folder } });
  expect(JSON.parse(listed.out)).toHaveLength(5);
});

test('of events with the same id in one delivery, the first counts', async () => {
  const { deliver, stop } = await listen(temporaryFolder(), '--json');
  await deliver('{"events":[{"eventId":"a","n":1},{"eventId":"b","n":2},{"eventId":"a","n":3}]}');
  expect((await stop()).out).toBe('{"eventId":"a","n":1}\n{"eventId":"b","n":2}\n');
});

test('a delivery with very many events is stored in the time of one', async () => {
  const count = size(10_000, 100_000);
  const { url, stop } = await listen(temporaryFolder(), '--json');
  const body = `{"events":[${Array.from({ length: count }, (_, n) => `{"eventId":"${n}"}`).join(',')}]}`;
  expect(await send(url, body, signed(body))).toBe(200);
  const { out } = await stop();
  expect(out.trim().split('\n')).toHaveLength(count);
});

test('on a terminal of 80 columns webhook events shows when and the start of each id, which webhook replay takes', async () => {
  const folder = temporaryFolder();
  const env = { SOTRA_DATA_DIR: folder };
  const { url, stop } = await listen(folder);
  const ids = ['e7a9cda5-c1e4-59ea-826d-41502e00fe0e', 'f7a9cda5-c1e4-59ea-826d-41502e00fe0f', 'f7a9cda5'];
  for (const id of ids) await send(url, bodyOf(id), signed(bodyOf(id)));
  await stop();
  const { out } = await run('webhook events', { env, tty: 80 });
  const [time = '', start = ''] = /^(\S+ \S+Z) .* (e7a9\S+)$/m.exec(out)?.slice(1) ?? [];
  expect(time).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\dZ$/);
  expect(start).toBe('e7a9cda5…');
  const target = await stub((_, response) => response.end());
  for (const [given, id] of [
    [start, ids[0]],
    ['f7a9cda5', 'f7a9cda5'],
    ['f7a9cda5-', ids[1]],
  ]) {
    const sent = await run(`webhook replay ${given} --to ${target.url} --json`, { env });
    expect(JSON.parse(sent.out).map(({ eventId }: { eventId: string }) => eventId)).toEqual([id]);
  }
  const several = await run(`webhook replay f7 --to ${target.url}`, { env });
  expect(several).toMatchObject({ code: 5, err: expect.stringContaining('several stored events begin with f7') });
});
