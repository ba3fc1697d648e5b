import { inspect } from 'node:util';
import { type Client, type ClientOptions, createClient, SotraError } from 'sotra';
import { type Sandbox, startSandbox } from 'sotra/sandbox';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { stub } from '../../support/harness.ts';

let sandbox: Sandbox;
let client: Client;

beforeAll(async () => {
  sandbox = await startSandbox();
  client = createClient({ baseUrl: sandbox.url, apiKey: sandbox.keys[0] });
});

afterAll(() => sandbox.close());

type Reply = { status?: number; headers?: Record<string, string>; body?: string } | Error;

/** A client whose service gives these answers one after another, the last one for ever. */
function scripted(replies: readonly Reply[], options: Partial<ClientOptions> = {}) {
  const asked: string[] = [];
  const made = createClient({
    baseUrl: 'https://service.test/api',
    apiKey: 'key-of-a-partner',
    fetch: async (url) => {
      const reply = replies[Math.min(asked.push(url), replies.length) - 1];
      if (reply instanceof Error) throw reply;
      return new Response(reply?.body ?? '{}', { status: 200, ...reply });
    },
    ...options,
  });
  return { client: made, asked };
}

async function failure(act: Promise<unknown> | (() => unknown)): Promise<SotraError> {
  const thrown = await (async () => (typeof act === 'function' ? act() : act))().then(
    () => new Error('nothing was thrown'),
    (error: unknown) => error,
  );
  expect(thrown).toBeInstanceOf(SotraError);
  return thrown as SotraError;
}

test.each([
  [503, 'gzip', 'busy', 'server-error', 3],
  [429, 'gzip', '', 'rate-limited', 3],
  [404, 'br', 'nothing', 'not-found', 1],
] as const)(
  'HTTP %i in %s with the body %j keeps the code and the retries of its status',
  async (status, encoding, body, code, requests) => {
    const service = await stub((_, response) =>
      response.writeHead(status, { 'content-encoding': encoding, 'retry-after': '0' }).end(body),
    );
    const asking = createClient({ baseUrl: service.url, apiKey: 'key' }).leaderboard.list();
    expect(await failure(asking)).toMatchObject({ code, status });
    expect(service.requests).toHaveLength(requests);
  },
);

const trader = async () => (await client.leaderboard.list({ chains: ['base'], limit: 1 })).traders[0]?.profile;

test('all pages are walked, each item once', async () => {
  const identifier = (await trader())?.id ?? '';
  const whole = await client.feed.actor({ identifier, chains: ['all'], limit: 100 });
  const walked: string[] = [];
  for await (const card of client.feed.actor.all({ identifier, chains: ['all'], limit: 2 })) walked.push(card.itemId);
  expect(walked.length).toBeGreaterThan(4);
  expect(walked).toEqual(whole.items.map(({ itemId }) => itemId));
});

test('an item that moved to a later page meanwhile is not given again', async () => {
  const page = (ids: readonly string[], cursor: string) => ({
    body: JSON.stringify({ items: ids.map((id) => ({ id })), cursor }),
  });
  const { client: moved } = scripted([page(['a', 'b'], 'x'), page(['b', 'c'], '')]);
  const seen: unknown[] = [];
  for await (const { id } of moved.profile.followers.all({ identifier: 'ext:1' })) seen.push(id);
  expect(seen).toEqual(['a', 'b', 'c']);
});

test.each<[string, (to: Client) => Promise<unknown>, string]>([
  [
    'an unknown field',
    (to) => to.leaderboard.list({ limt: 5 } as never),
    'leaderboard.list has no input limt: it takes',
  ],
  ['missing fields', (to) => to.webhook.register({} as never), 'webhook.register requires walletAddresses, dest'],
  ['a path', (to) => to.position.get({ id: '..' }), '<id> "..": must be one part of a path'],
])('%s that is wrong is refused before anything is sent', async (_, call, message) => {
  const { client: never, asked } = scripted([]);
  const error = await failure(call(never));
  expect(error).toMatchObject({ code: 'usage', message: expect.stringContaining(message) });
  expect(error).not.toHaveProperty('hint');
  expect(asked).toEqual([]);
});

test.each<[ClientOptions, string, string]>([
  [{} as ClientOptions, 'no-service', 'baseUrl is required'],
  [{ baseUrl: 'ftp://x' }, 'usage', 'must be an address'],
  [{ baseUrl: 'http://api.example.com' }, 'insecure-url', 'plain http'],
  [{ baseUrl: 'https://a.test', apiKey: 'a b' }, 'config', 'the API key holds spaces'],
  [{ baseUrl: 'https://a.test', retries: -1 }, 'usage', 'retries -1: must be from 0 to 20'],
  [{ baseUrl: 'https://a.test', timeoutMs: 0 }, 'usage', 'timeoutMs 0: must be from 1 to'],
  [{ baseUrl: 'https://a.test', wire: { 'x.y': 'z' } }, 'usage', 'wire x.y cannot be renamed'],
  [{ baseUrl: 'https://a.test', retrys: 1 } as ClientOptions, 'usage', 'createClient has no option retrys'],
])('%o is refused as %s', async (options, code, message) => {
  const error = await failure(() => createClient(options));
  expect(error).toMatchObject({ code, message: expect.stringContaining(message) });
  expect(error).not.toHaveProperty('hint');
});

test('a refusal of the service has a code, a status and the id of the request, and never the key', async () => {
  const headers = { 'x-request-id': 'r-1', 'retry-after': '120' };
  const limited = scripted([{ status: 429, headers, body: '{"error":"slow down, key-of-a-partner"}' }]);
  const error = await failure(limited.client.leaderboard.list());
  expect(error).toMatchObject({ code: 'rate-limited', status: 429, requestId: 'r-1', retryAfterSec: 120 });
  expect(error).not.toHaveProperty('hint');
  expect(inspect(error)).not.toContain('undefined');
  expect(error.message).toBe('slow down, *** (HTTP 429 from GET /api/v2/leaderboard)');
  expect(limited.asked).toHaveLength(1);
  expect(await failure(client.position.get({ id: 'nope' }))).toMatchObject({ code: 'not-found', status: 404 });
  const keyless = createClient({ baseUrl: sandbox.url });
  expect(await failure(keyless.leaderboard.list())).toMatchObject({ code: 'key-missing' });
  expect((await keyless.leaderboard.sections({ limit: 1 })).sections.length).toBeGreaterThan(0);
});

/** A request that ends with its signal alone. */
const silent: ClientOptions['fetch'] = (_, { signal }) =>
  new Promise((__, reject) => {
    if (signal?.aborted) reject(signal.reason);
    signal?.addEventListener('abort', () => reject(signal.reason));
  });

test('a signal ends a call, its waits and a walk', async () => {
  const stopped = { code: 'interrupted', message: 'interrupted' };
  expect(await failure(client.leaderboard.list({}, { signal: AbortSignal.abort() }))).toMatchObject(stopped);
  const stop = new AbortController();
  const waiting = scripted([{ status: 429, headers: { 'retry-after': '50' } }]);
  const call = waiting.client.leaderboard.list({}, { signal: stop.signal });
  while (waiting.asked.length === 0) await Promise.resolve();
  stop.abort();
  expect(await failure(call)).toMatchObject(stopped);
  const later = new AbortController();
  const hanging = scripted([], { fetch: silent }).client;
  const walk = hanging.profile.follows.all({ identifier: 'ext:1' }, { signal: later.signal }).next();
  later.abort();
  expect(await failure(walk)).toMatchObject(stopped);
});

test('fifty calls that wait for one signal end with it, without a warning of Node', async () => {
  const warnings: Error[] = [];
  const hear = (warning: Error) => void warnings.push(warning);
  process.on('warning', hear);
  onTestFinished(() => void process.off('warning', hear));
  const stop = new AbortController();
  const waiting = scripted([{ status: 429, headers: { 'retry-after': '50' } }]);
  const calls = Array.from({ length: 50 }, () => failure(waiting.client.leaderboard.list({}, { signal: stop.signal })));
  while (waiting.asked.length < 50) await new Promise(setImmediate);
  await new Promise(setImmediate);
  stop.abort();
  expect(new Set((await Promise.all(calls)).map(({ code }) => code))).toEqual(new Set(['interrupted']));
  expect(warnings).toEqual([]);
});

test('a service that says nothing for too long is a timeout', async () => {
  const { client: waiting } = scripted([], { timeoutMs: 20, retries: 0, fetch: silent });
  const message = 'https://service.test did not answer within 0.02 s';
  expect(await failure(waiting.webhook.list())).toMatchObject({ code: 'timeout', message });
});

test('clients share nothing: address, key, names and words are their own', async () => {
  const seen: string[] = [];
  const make = (name: string) =>
    createClient({
      baseUrl: `https://${name}.test`,
      apiKey: `key-${name}`,
      serviceName: name,
      ...(name === 'b' ? { wire: { 'leaderboard.list.limit': 'count' }, layout: 'blank-line' } : {}),
      fetch: async (url, { headers }) => {
        seen.push(`${url} ${(headers as Record<string, string>)['authorization']}`);
        return new Response('{}');
      },
    });
  const [a, b] = [make('a'), make('b')];
  await Promise.all([a.leaderboard.list({ limit: 1 }), b.leaderboard.list({ limit: 2 })]);
  expect(seen).toEqual([
    'https://a.test/v2/leaderboard?limit=1 Bearer key-a',
    'https://b.test/v2/leaderboard?count=2 Bearer key-b',
  ]);
  const fields = { chain: 'base', tokenAddress: '0xAB', transactionHash: '0x1', commentText: 'gm' } as const;
  expect(a.comment.text(fields)).toBe('a Swap Comment:\nChain: base\nToken Address: 0xAB\nTxn Hash: 0x1\nComment: gm');
  expect(b.comment.text(fields)).toContain('b Swap Comment:\n\nChain: base');
  expect(await failure(() => client.comment.text(fields))).toMatchObject({ code: 'usage' });
});
