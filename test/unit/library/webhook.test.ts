import { createHmac } from 'node:crypto';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import { Hono } from 'hono';
import { createClient } from 'sotra';
import { startSandbox } from 'sotra/sandbox';
import { type Delivery, verifyWebhook, type WebhookEvent, webhookHandler } from 'sotra/webhook';
import { expect, onTestFinished, test } from 'vitest';
import { openPort, until } from '../../support/harness.ts';

// Published by Mux's backend; the same bytes as base64url.
const known = {
  secrets: 'SuperSecret123',
  body: '{"test":"body"}',
  header: 't=1565125718,v1=hU7OTCKs73xmtX1OUEFTvFEllejpx3Ls4qaBUFSMGac',
};

const headerOf = (body: string, secret = 'whsec_1', t = String(Math.floor(Date.now() / 1000))) =>
  `t=${t},v1=${createHmac('sha256', secret).update(`${t}.${body}`).digest('base64url')}`;

test('a published signature is valid, the body as text, bytes or buffer', async () => {
  const valid = { valid: true, event: { test: 'body' }, events: [{ test: 'body' }] };
  expect(await verifyWebhook(known)).toEqual(valid);
  expect(await verifyWebhook({ ...known, body: Buffer.from(known.body) })).toEqual(valid);
  expect(await verifyWebhook({ ...known, body: new TextEncoder().encode(known.body).buffer })).toEqual(valid);
  expect(await verifyWebhook({ ...known, secrets: ['other', known.secrets] })).toEqual(valid);
});

test.each<[string, Partial<Delivery>, RegExp]>([
  ['no header', { header: undefined }, /^unsigned/],
  ['another body', { body: '{"test":"bodY"}' }, /^wrong secret or body changed/],
  ['what is too old', { toleranceMs: 300_000 }, /^too old: signed at 2019-08-06 21:08:38Z/],
  ['no JSON', { body: 'gm', header: headerOf('gm'), secrets: 'whsec_1' }, /is no JSON object$/],
])('%s is refused with its reason', async (_, change, reason) => {
  const result = await verifyWebhook({ ...known, ...change });
  expect(result).toEqual({ valid: false, reason: expect.stringMatching(reason) });
});

test('a body that was parsed already, and no secret, are errors of the code', async () => {
  await expect(verifyWebhook({ ...known, body: { test: 'body' } as never })).rejects.toThrow('body: must be the bytes');
  for (const secrets of [[], '', undefined as never, ['a', '']])
    await expect(verifyWebhook({ ...known, secrets })).rejects.toThrow('secrets: must be the secret');
  expect(() => webhookHandler({ secrets: [], onEvents: () => undefined })).toThrow('secrets: must be');
});

const alreadyRead = { error: 'the body was already read: use this handler before any body parser, or keep rawBody' };

async function listening(listener: RequestListener): Promise<string> {
  return `http://127.0.0.1:${await openPort(createServer(listener))}/hook`;
}

test('deliveries of the sandbox arrive at a server of node:http', async () => {
  const sandbox = await startSandbox();
  onTestFinished(sandbox.close);
  const client = createClient({ baseUrl: sandbox.url, apiKey: sandbox.keys[0] });
  const events: WebhookEvent[] = [];
  let secret = 'not yet known';
  const url = await listening((request, response) =>
    webhookHandler({ secrets: secret, onEvents: (came) => events.push(...came) }).node(request, response),
  );
  const trader = (await client.leaderboard.list({ chains: ['base'], limit: 1 })).traders[0]?.profile.addresses[0] ?? '';
  await client.follow.add({ addressOrUid: 'ext:me', targets: [trader] });
  const made = await client.webhook.register({ walletAddresses: ['ext:me'], destinationUrl: url });
  secret = made.secret ?? '';
  expect(await client.webhook.validate({ uid: made.uid })).toEqual({ success: true });
  events.length = 0;
  sandbox.trade({ chain: 'base', trader, token: `0x${'7'.repeat(40)}`, side: 'buy', amount: 1, usd: 5000 });
  await until(() => events.length > 0);
  expect(events).toMatchObject([{ eventType: 'new-feed-item', reason: 'first-buy', externalIds: ['me'] }]);
});

test('a body that changes while it is checked is read as it was, and odd types are refused in words', async () => {
  const bytes = Buffer.from(known.body);
  const checking = verifyWebhook({ ...known, body: bytes });
  bytes.fill(' ');
  expect(await checking).toMatchObject({ valid: true, event: { test: 'body' } });
  const { buffer } = new TextEncoder().encode(known.body);
  const checkingBuffer = verifyWebhook({ ...known, body: buffer });
  new Uint8Array(buffer).fill(32);
  expect(await checkingBuffer).toMatchObject({ valid: true, event: { test: 'body' } });
  const wide = Uint16Array.from(Buffer.from(known.body));
  await expect(verifyWebhook({ ...known, body: wide as never })).rejects.toThrow(
    'body: must be the bytes or the text as received (Uint8Array, ArrayBuffer or string), not Uint16Array',
  );
  for (const header of [[known.header], 5, {}])
    expect(await verifyWebhook({ ...known, header: header as never })).toEqual({
      valid: false,
      reason: 'malformed header: it must be one text',
    });
});

test.each<[string, (request: IncomingMessage) => unknown, status: number, answer: object]>([
  ['rawBody beside a parsed body', () => ({ rawBody: Buffer.from(body), body: JSON.parse(body) }), 200, {}],
  ['an empty object that a parser left without reading', () => ({ body: {} }), 200, {}],
  ['bytes of a parser', () => ({ body: Buffer.from(body) }), 200, {}],
  ['a stream that others read', async (request) => (await request.toArray()) && {}, 500, alreadyRead],
  ['an empty object, the stream read', async (request) => (await request.toArray()) && { body: {} }, 500, alreadyRead],
])('a handler of node:http gets %s', async (_, parse, status, answer) => {
  const hook = webhookHandler({ secrets: 'whsec_1', onEvents: () => undefined });
  const url = await listening(async (request, response) =>
    hook.node(Object.assign(request, await parse(request)), response),
  );
  const answered = await post(url);
  expect([answered.status, await answered.json()]).toEqual([status, answer]);
});

const body = JSON.stringify({ events: [{ eventId: 'a', eventType: 'copyswap' }] });
const post = (url: string, more: RequestInit = {}, header = headerOf(body)) =>
  fetch(url, { method: 'POST', body, headers: { 'daylight-signature': header }, ...more });

test('a server of Hono and one of Express answer valid and invalid deliveries', async () => {
  const seen: string[] = [];
  const hook = webhookHandler({
    secrets: 'whsec_1',
    maxBodyBytes: 1000,
    onEvents: async ([event]) => {
      seen.push(event?.eventId ?? '');
      if (event?.eventId === 'fails') throw new TypeError('secret of mine');
    },
  });
  const app = new Hono()
    .post('/hook', (context) => hook.fetch(context.req.raw))
    .post('/read', async ({ req: { raw } }) => raw.text().then(() => hook.fetch(raw)));
  const asked = { method: 'POST', body, headers: { 'daylight-signature': headerOf(body) } };
  const raw =
    (read: (text: string) => unknown): RequestListener =>
    async (request, response) => {
      // As a body parser of Express leaves it.
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      await hook.node(Object.assign(request, { body: read(Buffer.concat(chunks).toString()) }), response);
    };
  const express = await listening(raw((text) => Buffer.from(text)));
  const parsed = await listening(raw(JSON.parse));
  const failing = '{"eventId":"fails","eventType":"x"}';
  const large = 'x'.repeat(1001);
  const answers = await Promise.all(
    [
      app.request('http://a.test/hook', asked),
      app.request('http://a.test/read', asked),
      post(express),
      post(express, {}, headerOf(body, 'other')),
      post(express, { body: failing }, headerOf(failing)),
      post(await listening(hook.node), { body: large }, headerOf(large)),
      post(parsed),
      fetch(await listening(hook.node)),
    ].map(async (answer) => [(await answer).status, await (await answer).json()]),
  );
  expect(answers).toEqual([
    [200, {}],
    [500, alreadyRead],
    [200, {}],
    [401, { error: expect.stringMatching(/^wrong secret or body changed/) }],
    [500, { error: 'not processed' }],
    [413, { error: 'too large' }],
    [500, alreadyRead],
    [405, { error: 'only POST' }],
  ]);
  expect(seen.sort()).toEqual(['a', 'a', 'fails']);
  const misspelled = { secrets: 'whsec_1', onEvent: () => undefined };
  expect(() => webhookHandler(misspelled as never)).toThrow('onEvents: must be a function');
});
