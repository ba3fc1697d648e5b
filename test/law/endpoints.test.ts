import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { createClient } from 'sotra';
import { expect, test } from 'vitest';
import type { Endpoint } from '../../src/api/endpoint.ts';
import { endpoints } from '../../src/api/endpoints.ts';
import { methodName } from '../../src/client/create-client.ts';
import { openDb } from '../../src/sandbox/db/store.ts';
import { ensureWorld, sandboxPartners } from '../../src/sandbox/db/world.ts';
import { allRoutes } from '../../src/sandbox/serve/answer.ts';
import { type Random, randomFrom } from '../../src/sandbox/serve/fault.ts';
import { ServiceRefusal } from '../../src/sandbox/service/handler.ts';
import { seed } from '../support/draw.ts';
import { run, stub, temporaryFolder } from '../support/harness.ts';
import { oddBodies, oddKeys, oddWords } from '../support/hostile/corpus.ts';
import { views } from '../support/outlines.ts';
import { ask, type SandboxServer, serveSandbox } from '../support/served.ts';
import { inTurn, size, some } from '../support/size.ts';
import { inputOf, type Witness, witnesses } from '../support/witness.ts';

const all: readonly Endpoint[] = endpoints;

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
      const url = new URL(row[1].split(' ')[1] ?? '', 'http://sandbox.test');
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
function sends([, request, body]: Witness, key: string, { params }: Endpoint): boolean {
  const { location, wire = key } = params[key] as Endpoint['params'][string];
  const searchParams = new URLSearchParams(request.split('?')[1]);
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
    for (const [argv, request, body] of rows) {
      await run([...(typeof argv === 'string' ? argv.split(' ') : argv), '--json'], { env: service.env, now });
      const { method, url, headers, body: sent } = service.requests.at(-1) ?? { method: '', url: '', body: '' };
      expect([`${method} ${url}`, sent === '' ? undefined : JSON.parse(sent)]).toEqual([request, body]);
      expect(headers).toMatchObject({ authorization: 'Bearer stub-key', accept: 'application/json' });
    }
    // The webhooks are listed before each that is made.
    const listed = id === 'webhook.register' ? rows.length : 0;
    expect(service.requests).toHaveLength(rows.length + listed);
  });

type Method = (input: unknown) => Promise<unknown>;

test('each method sends what the hand-typed table says', async () => {
  const sent: unknown[] = [];
  const client = createClient({
    baseUrl: 'https://service.test',
    apiKey: 'stub-key',
    fetch: async (url, { method, body, headers }) => {
      const { authorization } = headers as Record<string, string>;
      sent.push([`${method} ${url.slice('https://service.test'.length)}`, body, authorization]);
      return new Response('{}');
    },
  });
  const wanted: unknown[] = [];
  for (const endpoint of endpoints as readonly Endpoint[]) {
    const [noun, verb] = methodName(endpoint);
    const call = (client as unknown as Record<string, Record<string, Method>>)[noun]?.[verb] as Method;
    for (const row of witnesses[endpoint.id] ?? []) {
      await call(inputOf(endpoint, row));
      const [, request, body] = row;
      wanted.push([request, body === undefined ? undefined : JSON.stringify(body), 'Bearer stub-key']);
    }
  }
  expect(sent).toHaveLength(Object.values(witnesses).flat().length);
  expect(sent).toEqual(wanted);
});

type Schema = Record<string, unknown>;

interface Operation {
  operationId: string;
  parameters?: { name: string; in: 'path' | 'query'; required?: boolean; schema: Schema; example?: unknown }[];
  requestBody?: { content: { 'application/json': { schema: Schema; example?: unknown } } };
  responses: Record<string, { $ref?: string; content: { 'application/json': { schema: Schema } } }>;
}

interface Document {
  paths: Record<string, Record<string, Operation>>;
  components: { responses: Record<string, Operation['responses'][string]> };
}

// FUZZ_SEED changes the requests, REQUESTS how many each operation gets.
const drawn = Number(process.env['REQUESTS'] ?? size(1, 20));

async function readDocument() {
  const document: Document = JSON.parse((await run('openapi --json')).out);
  const ajv = addFormats.default(new Ajv2020({ strict: false, allErrors: true }));
  ajv.addSchema(document, 'api');
  const operations = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ ...operation, path, method: method.toUpperCase() })),
  );
  /** The mismatches of an answer. */
  const problems = ({ responses }: Operation, status: number, body: unknown): unknown => {
    const named = responses[status] ?? responses['default'];
    const response = document.components.responses[named?.$ref?.split('/').at(-1) ?? ''] ?? named;
    // Its references are to parts of the document.
    const schema = JSON.parse(JSON.stringify(response?.content['application/json'].schema).replaceAll('"#/', '"api#/'));
    return ajv.validate(schema, body) ? null : ajv.errors?.slice(0, 3);
  };
  return { operations, problems };
}

type Known = Awaited<ReturnType<typeof readDocument>>['operations'][number];

const odd = [...oddWords, ...oddKeys, 1.5, -1, null, [], {}, [['x']], true];

/** A value of a schema, now and then one that does not fit. */
function draw(random: Random, schema: Schema, example?: unknown): unknown {
  if (random.chance(0.1)) return random.pick(odd);
  if (example !== undefined && random.chance(0.5)) return example;
  const { enum: choices, examples, minimum, maximum, items, properties } = schema;
  const named = (choices ?? examples) as unknown[] | undefined;
  if (named !== undefined) return random.pick(named);
  const type = [schema['type']].flat()[0];
  if (type === 'integer' || type === 'number') return random.whole(Number(minimum ?? 0), Number(maximum ?? 5) + 1);
  if (type === 'boolean') return random.chance(0.5);
  if (type === 'array') return Array.from({ length: random.whole(0, 3) }, () => draw(random, items as Schema));
  if (type !== 'object') return random.pick(texts);
  const fields = Object.entries((properties ?? {}) as Record<string, Schema>).filter(() => random.chance(0.8));
  return Object.fromEntries(
    fields.map(([name, field]) => [name, draw(random, field, (example as Schema | undefined)?.[name])]),
  );
}

/** Traders, tokens and names of the built-in data. */
const texts = [
  '0xb129d76820940a14c764df8b223d8e39cf94a122',
  '0xB7B6F3CEA3F66BF525F5D8F965F6DBF6D9B017B2',
  '0x4ed4e862860bed51a9570b96d89af5e1b0efefed',
  '2f1d3c5e-7a90-4b8c-9d6e-0f1a2b3c4d5e',
  'ext:user_1',
  'ETH',
  'moon_cat',
  '2026-11-20T12:00:00Z',
  'http://127.0.0.1:9/hook',
];

async function send(service: SandboxServer, { method, path, parameters = [] }: Known, values: Values, body?: string) {
  const query = new URLSearchParams();
  let target = path;
  for (const { name, in: place } of parameters) {
    const value = values[name];
    if (place === 'path') target = target.replace(`{${name}}`, encodeURIComponent(String(value)));
    else if (value !== undefined) for (const each of [value].flat()) query.append(name, String(each));
  }
  return ask(service, method, `${target}?${query}`, body === undefined || method === 'GET' ? {} : { body });
}

type Values = Record<string, unknown>;

test('the sandbox answers every example of the document with 200', async () => {
  const { operations } = await readDocument();
  const service = await serveSandbox();
  let made = '';
  // What is deleted was made and used before.
  for (const operation of operations.toSorted(
    (a, b) => Number(a.method === 'DELETE') - Number(b.method === 'DELETE'),
  )) {
    const { operationId, parameters = [], requestBody } = operation;
    const values: Values = Object.fromEntries(parameters.map(({ name, example }) => [name, example]));
    // The service chooses the uid of a webhook.
    if (Object.hasOwn(values, 'uid')) values['uid'] = made;
    const example = requestBody && JSON.stringify(requestBody.content['application/json'].example);
    const { status, body } = await send(service, operation, values, example);
    // Which trades there are depends on the time.
    const isGone = operationId === 'position.find' && status === 404;
    expect([operationId, isGone ? 200 : status]).toEqual([operationId, 200]);
    if (operationId === 'webhook.register') made = (body as { uid: string }).uid;
  }
});

test('requests drawn from the document get answers that it describes, and no 5xx', async () => {
  const { operations, problems } = await readDocument();
  expect(operations).toHaveLength(27);
  // The test itself would see a mismatch.
  for (const operation of operations) expect(problems(operation, 200, 'x')).not.toBeNull();
  const service = await serveSandbox();
  const random = randomFrom(`requests ${seed}`);
  let fitting = 0;
  for (let round = 0; round < drawn; round += 1)
    for (const operation of operations) {
      const { parameters = [], requestBody } = operation;
      const wanted = parameters.filter(({ required }) => required || random.chance(0.5));
      const values = Object.fromEntries(wanted.map((each) => [each.name, draw(random, each.schema, each.example)]));
      const { schema, example } = requestBody?.content['application/json'] ?? {};
      const body =
        schema && (random.chance(0.1) ? random.pick(oddBodies) : JSON.stringify(draw(random, schema, example)));
      const { status, body: answer } = await send(service, operation, values, body);
      const what = [operation.operationId, values, body, status];
      expect([what, status < 500, problems(operation, status, answer)]).toEqual([what, true, null]);
      if (status === 200) fitting += 1;
    }
  expect(fitting).toBeGreaterThan((drawn * operations.length) / 5);
});
