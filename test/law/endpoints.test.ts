import { createClient } from 'sotra';
import { expect, test } from 'vitest';
import type { Endpoint, Param } from '../../src/api/endpoint.ts';
import { endpoints } from '../../src/api/endpoints.ts';
import { checkValue, itemOf } from '../../src/api/kind.ts';
import { decodeRequest, encodeRequest } from '../../src/api/request.ts';
import { methodName } from '../../src/client/create-client.ts';
import { openDb } from '../../src/sandbox/db/store.ts';
import { ensureWorld, sandboxPartners } from '../../src/sandbox/db/world.ts';
import { allRoutes } from '../../src/sandbox/serve/answer.ts';
import { ServiceRefusal } from '../../src/sandbox/service/handler.ts';
import { run, stub, temporaryFolder } from '../support/harness.ts';
import { views } from '../support/outlines.ts';
import { inTurn, some } from '../support/size.ts';
import { inputOf, type Witness, witnesses } from '../support/witness.ts';

const all: readonly Endpoint[] = endpoints;

/** Values that a parameter may carry, odd ones among them. */
function samples({ kind }: Param): unknown[] {
  const item = itemOf(kind);
  const one: unknown[] = {
    text: [
      'ext:a/b c?d#e%&+ü"',
      '3f0c1f5e-6a53-4d0c-9e57-0d4b1c2f7a11',
      '0xA4E221aa5a7ba51b5d5c7d5c923bfb9bcebcb252',
      'plain',
      '60',
      '2026-11-20T00:00:00Z',
    ],
    integer: item.type === 'integer' ? [item.min ?? 0, item.max ?? 7] : [],
    number: item.type === 'number' ? [item.min ?? 0.5, item.max ?? 1e6] : [],
    boolean: [true, false],
    choice: item.type === 'choice' ? [...item.choices] : [],
    parsed: [],
    json: [[{ addressOrUid: 'ext:a/b', targets: ['ext:c'], action: 'unfollow' }]],
  }[item.type];
  const shaped = kind.type === 'list' ? [...one.map((item) => [item]), one.slice(0, 2)] : one;
  const typed = kind.nullable ? [null, ...shaped] : shaped;
  return typed.filter((value) => checkValue(kind, value) === undefined);
}

/** Inputs that give each parameter each of its samples, the others their first. */
function inputs(endpoint: Endpoint): Record<string, unknown>[] {
  const entries = Object.entries(endpoint.params).map(([key, param]) => ({ key, values: samples(param), param }));
  const base = Object.fromEntries(
    entries.filter(({ param }) => !param.kind.optional).map(({ key, values }) => [key, values[0]]),
  );
  return [base, ...entries.flatMap(({ key, values }) => values.map((value) => ({ ...base, [key]: value })))];
}

for (const endpoint of all)
  test(`${endpoint.id}: what is encoded decodes to the same input`, () => {
    const tried = inputs(endpoint);
    for (const input of tried) {
      const { path, body } = encodeRequest(endpoint, input);
      const url = new URL(`http://sandbox.test${path}`);
      const pattern = new RegExp(`^${endpoint.path.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`);
      const names = pattern.exec(url.pathname)?.groups ?? {};
      const values = Object.fromEntries(Object.entries(names).map(([key, text]) => [key, decodeURIComponent(text)]));
      const decoded = decodeRequest(endpoint, { path: values, query: url.searchParams, body });
      expect(decoded).toEqual({ ok: true, input, ignored: [] });
    }
    expect(tried.length).toBeGreaterThan(Object.keys(endpoint.params).length === 0 ? 0 : 1);
  });

test('ids and routes are unique, and every endpoint has a summary, a view and a handler', async () => {
  const ids = all.map((endpoint) => endpoint.id);
  expect(new Set(ids).size).toBe(ids.length);
  const paths = all.map(({ method, path }) => `${method} ${path.replaceAll(/\{\w+\}/g, '{}')}`);
  expect(new Set(paths).size).toBe(paths.length);
  expect(all.filter((endpoint) => endpoint.summary === '')).toEqual([]);
  expect(Object.keys(views).sort()).toEqual([...ids].sort());
  expect((await allRoutes()).filter((route) => typeof route.handle !== 'function')).toEqual([]);
});

test('every name in a path is one path parameter, and the other way round', () => {
  for (const { path, params } of all) {
    const named = [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]);
    const declared = Object.entries(params).flatMap(([key, param]) => (param.location === 'path' ? [key] : []));
    expect(named.sort()).toEqual(declared.sort());
  }
});

test('every example runs in the sandbox, fits the contract and shows wide, narrow, piped and in every format', async () => {
  const env = { SOTRA_DATA_DIR: temporaryFolder() };
  const formats = inTurn(['json', 'ndjson', 'csv', 'tsv']);
  for (const { examples } of all) {
    expect(examples.length).toBeGreaterThanOrEqual(2);
    for (const example of examples) {
      const { argv } = example;
      for (const tty of some([140, 80, 40], 1))
        expect(await run(`--sandbox ${argv} --strict`, { env, tty })).toMatchObject({ code: 0 });
      // What is only shown has one form, and not all of these.
      if (/--(json|format|curl|dry-run)/.test(argv)) continue;
      for (const format of formats()) {
        const { code, out } = await run(`--sandbox ${argv} --strict --format ${format}`, { env });
        expect([argv, format, code]).toEqual([argv, format, 0]);
        expect(out).not.toBe('');
      }
    }
  }
});

/** The same input, telling which parameters are read by name. A copy of all of them would read none and look like all. */
function recorded(input: Record<string, unknown>, onRead: (key: string) => void): never {
  return new Proxy(input, {
    get: (target, key) => {
      onRead(String(key));
      return Reflect.get(target, key);
    },
    ownKeys: () => {
      throw new Error('a handler names each parameter that it reads');
    },
  }) as never;
}

test("every parameter of every endpoint is read by the sandbox's handler", async () => {
  const db = openDb(':memory:');
  const nowMs = Date.now();
  ensureWorld(db, nowMs, 'demo');
  const unread: string[] = [];
  const routes = await allRoutes();
  for (const { endpoint, handle } of routes) {
    const read = new Set<string>();
    for (const row of witnesses[endpoint.id] ?? []) {
      const url = new URL(`http://sandbox.test${row.path}`);
      const call = { db, nowMs, partner: sandboxPartners[0], url, wire: {}, ignore: () => undefined };
      try {
        await handle(
          recorded(inputOf(endpoint, row), (key) => read.add(key)),
          call,
        );
      } catch (thrown) {
        if (!(thrown instanceof ServiceRefusal)) throw thrown;
      }
    }
    unread.push(...Object.keys(endpoint.params).flatMap((key) => (read.has(key) ? [] : [`${endpoint.id} ${key}`])));
  }
  db.close();
  expect(routes).toHaveLength(endpoints.length);
  expect(unread).toEqual([]);
});

test('every endpoint has a row in the hand-typed table, and no row speaks of another', () => {
  expect(Object.keys(witnesses).sort()).toEqual(endpoints.map((endpoint) => endpoint.id as string).sort());
});

/**
 * What the sandbox understands and no command sends. The interface document does not show the payload of this PUT; that it may move the
 * destination is inferred, and an upload of many requests must not depend on it.
 */
const withoutFlag = ['webhook.add-addresses.destinationUrl'];

/** The clock of the rows: some of them name a moment ahead of it. */
const now = Date.UTC(2026, 10, 20);

/** Whether a row sends a parameter, by the name that the endpoint has for it. */
function sends({ path, body }: Witness, key: string, { params }: Endpoint): boolean {
  const { location, wire = key } = params[key] as Endpoint['params'][string];
  const { searchParams } = new URL(path, 'http://service.test');
  if (location === 'query') return searchParams.has(wire);
  if (location === 'body') return Object.hasOwn(body ?? {}, wire);
  return location === 'path' || body !== undefined;
}

test('every parameter of every endpoint has a row', () => {
  const absent = endpoints.flatMap((endpoint: Endpoint) =>
    Object.entries(endpoint.params)
      .filter(
        ([key, { location }]) =>
          location !== 'local' && !witnesses[endpoint.id]?.some((row) => sends(row, key, endpoint)),
      )
      .map(([key]) => `${endpoint.id}.${key}`),
  );
  expect(absent).toEqual(withoutFlag);
});

for (const [id, rows] of Object.entries(witnesses))
  test(`${id} sends exactly what the interface document says`, async () => {
    // There is no webhook yet: what asks before it makes one goes on.
    const service = await stub(({ url }, response) => response.end(url === '/v1/webhooks/feed' ? '[]' : '{}'));
    let sentAhead = 0;
    for (const { argv, ahead = 0, ...expected } of rows) {
      sentAhead += ahead;
      await run([...(typeof argv === 'string' ? argv.split(' ') : argv), '--json'], { env: service.env, now });
      const sent = service.requests.at(-1);
      const body = sent?.body === '' ? {} : { body: JSON.parse(sent?.body ?? '') };
      expect({ method: sent?.method, path: sent?.url, ...body }).toEqual(expected);
      expect(sent?.headers).toMatchObject({ authorization: 'Bearer stub-key', accept: 'application/json' });
    }
    expect(service.requests).toHaveLength(rows.length + sentAhead);
  });

type Method = (input: unknown) => Promise<unknown>;

test('each method sends what the hand-typed table says', async () => {
  const sent: unknown[] = [];
  const client = createClient({
    baseUrl: 'https://service.test',
    apiKey: 'stub-key',
    fetch: async (url, { method, body, headers }) => {
      const { authorization } = headers as Record<string, string>;
      sent.push({ method, path: url.slice('https://service.test'.length), body, authorization });
      return new Response('{}');
    },
  });
  const wanted: unknown[] = [];
  for (const endpoint of endpoints as readonly Endpoint[]) {
    const [noun, verb] = methodName(endpoint);
    const call = (client as unknown as Record<string, Record<string, Method>>)[noun]?.[verb] as Method;
    for (const row of witnesses[endpoint.id] ?? []) {
      await call(inputOf(endpoint, row));
      const body = row.body === undefined ? undefined : JSON.stringify(row.body);
      wanted.push({ method: row.method, path: row.path, body, authorization: 'Bearer stub-key' });
    }
  }
  expect(sent).toHaveLength(Object.values(witnesses).flat().length);
  expect(sent).toEqual(wanted);
});
