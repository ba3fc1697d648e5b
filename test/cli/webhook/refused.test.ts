import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { openSocket, runJson, temporaryFolder, until } from '../../support/harness.ts';
import { bodyOf, listen, secret, send, signed } from '../../support/listening.ts';
import { freePorts } from '../../support/processes.ts';
import { serveSandbox } from '../../support/served.ts';
import { isProof } from '../../support/size.ts';

const now = () => Math.floor(Date.now() / 1000);
const nobody = 'A'.repeat(43);
const head = (signature: string, more: string) =>
  `POST /hook HTTP/1.1\r\nHost: 127.0.0.1\r\ndaylight-signature: ${signature}\r\n${more}\r\n\r\n`;

test('every wrong signature gets the same answer, whatever is right about it', async () => {
  const { url } = await listen(temporaryFolder());
  const body = bodyOf('one');
  const t = now();
  const sign = (by: string, text: string) => createHmac('sha256', by).update(`${t}.${text}`).digest('base64url');
  const right = sign(secret, body);
  const cut = [right.slice(0, 42), right.slice(0, 8), `${right.slice(0, 42)}!`, `${right}=`, ''];
  const hex = Buffer.from(right, 'base64url').toString('hex');
  const wrong = [nobody, ...cut, hex, sign(`${secret}\n`, body), sign(secret, `${body}\n`)];
  const answers = await Promise.all(
    wrong.map(async (signature) => {
      const headers = { 'daylight-signature': `t=${t},v1=${signature}` };
      const answer = await fetch(url, { method: 'POST', body, headers });
      return `${answer.status} ${await answer.text()}`;
    }),
  );
  expect(new Set(answers)).toEqual(new Set(['401 {"error":"wrong signature: none in the header matches this body"}']));
});

test.each([
  ['no signature', 'POST /hook HTTP/1.1\r\nHost: a\r\nContent-Length: 5000000\r\n\r\n', '401'],
  ['a malformed one', head('nonsense', 'Content-Length: 5000000'), '401'],
  ['one of another form', head('t=1,v1=abc', 'Content-Length: 5000000'), '401'],
  ['too many', head(`t=1${`,v1=${nobody}`.repeat(17)}`, 'Content-Length: 5000000'), '401'],
  ['one that is too old', head(`t=1565125718,v1=${nobody}`, 'Content-Length: 5000000'), '401'],
  ['a length over the limit', head(`t=${now()},v1=${nobody}`, 'Content-Length: 50000000'), '413'],
])('%s is answered before the body comes', async (_, request, status) => {
  const { url } = await listen(temporaryFolder(), '--tolerance 1h');
  const { got } = openSocket(url, request);
  await until(() => got.text.includes('\r\n\r\n'));
  expect(got.text).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  expect(got.text.toLowerCase()).toContain('connection: close');
});

test('a sender that expects 100 Continue gets it', async () => {
  const { url } = await listen(temporaryFolder());
  const body = bodyOf('one');
  const signature = signed(body)['Daylight-Signature'] ?? '';
  const expecting = `Content-Length: ${Buffer.byteLength(body)}\r\nExpect: 100-continue`;
  const { got, socket } = openSocket(url, head(signature, expecting));
  await until(() => got.text.startsWith('HTTP/1.1 100 Continue'));
  socket.write(body);
  await until(() => got.text.includes('HTTP/1.1 200 OK'));
});

test('bodies that never end are dropped with 503 when they fill the memory, and good deliveries go on beside them', async () => {
  const { url, deliver } = await listen(temporaryFolder());
  const part = 'x'.repeat(5 * 1024 * 1024 - 1);
  const request = head(`t=${now()},v1=${nobody}`, `Content-Length: ${part.length + 1}`) + part;
  const held = Array.from({ length: 8 }, () => openSocket(url, request));
  await until(() => held.filter(({ got }) => got.text.startsWith('HTTP/1.1 503')).length >= 2);
  expect(held.find(({ got }) => got.text !== '')?.got.text.toLowerCase()).toContain('retry-after: 1');
  for (const id of ['small', `large${'x'.repeat(4_000_000)}`]) expect(await deliver(bodyOf(id))).toBe(200);
});

test('connections that send half a request keep no delivery out, and are closed', async () => {
  const { url, deliver } = await listen(temporaryFolder());
  const idle = Array.from({ length: 256 }, () => openSocket(url, 'POST / HTTP/1.1\r\n'));
  expect(await deliver(bodyOf('one'))).toBe(200);
  // It takes seconds until they are.
  if (isProof) await until(() => idle.every(({ got }) => got.closed));
});

test('requests pipelined after a refused one are not answered, those after a good one are', async () => {
  const { url } = await listen(temporaryFolder());
  const one = (body: string) =>
    head(signed(body)['Daylight-Signature'] ?? '', `Content-Length: ${Buffer.byteLength(body)}`) + body;
  const { got } = openSocket(
    url,
    one(bodyOf('one')) + one(bodyOf('two')) + 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(2),
  );
  await until(() => got.closed);
  expect(got.text.match(/HTTP\/1.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 200', 'HTTP/1.1 405']);
});

test.each([
  ['the handshake of TLS', '\x16\x03\x01\x02\0\x01', '400, it uses TLS, and this server expects plain http'],
  ['what is not HTTP', 'EHLO localhost\r\n', '400, it is not HTTP'],
  ['a header of 20 KB', head('x'.repeat(20_000), ''), '431, its header is too large'],
])('%s is answered, and the terminal says why', async (_, request, refused) => {
  const { url, shown } = await listen(temporaryFolder());
  const { got } = openSocket(url, request);
  await until(() => got.closed);
  expect(got.text).toMatch(`HTTP/1.1 ${refused.slice(0, 3)} `);
  await until(() => shown.err.includes(`refused a request: ${refused}\n`));
});

test('of a flood of refused requests the first are printed, then how many followed', async () => {
  const { url, stop } = await listen(temporaryFolder());
  await Promise.all(Array.from({ length: 60 }, () => send(url, 'x', {})));
  const { err } = await stop();
  expect(err.match(/refused POST \/hook: 401/g)?.length).toBeLessThan(30);
  expect(err).toMatch(/refused [34]\d more requests/);
});

test('the probe of webhook validate is answered right and is no event', async () => {
  const folder = temporaryFolder();
  const sandbox = await serveSandbox();
  const env = { ...sandbox.envA, SOTRA_DATA_DIR: folder };
  // The secret is known once there is a webhook, whose address is known once something listens.
  const [port] = await freePorts(1);
  const first = await listen(folder, `--port ${port}`);
  const register = `webhook register --url ${first.url}/hook --wallet-addresses ext:user-1 --show-secrets`;
  const { uid, secret: made } = await runJson(register, { env });
  await first.stop();
  const { stop, shown } = await listen(folder, `--port ${port} --forward-to http://127.0.0.1:1 --json`, `${made}\n`);
  expect(await runJson(`webhook validate ${uid}`, { env })).toEqual({ success: true });
  await until(() => shown.err.includes('validation probe'));
  expect((await stop()).out).toBe('');
  expect(await runJson('webhook events', { env })).toEqual([]);
});
