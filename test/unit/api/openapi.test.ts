import { readFileSync } from 'node:fs';
import { Validator } from '@seriousme/openapi-schema-validator';
import { expect, onTestFinished, test } from 'vitest';
import type { Endpoint } from '../../../src/api/endpoint.ts';
import { endpoints } from '../../../src/api/endpoints.ts';
import { startSandbox } from '../../../src/library/sandbox.ts';
import { run } from '../../support/harness.ts';

const all: readonly Endpoint[] = endpoints;

type Node = Record<string, never>;

interface Parameter {
  name: string;
  in: string;
  required?: boolean;
  'x-source': string;
  schema: Node;
  example?: unknown;
}

interface Operation {
  operationId: string;
  parameters?: Parameter[];
  requestBody?: { required: boolean; content: { 'application/json': { schema: Node; example?: unknown } } };
  responses: Record<string, unknown>;
  deprecated?: boolean;
  security?: unknown;
  'x-codeSamples': { source: string }[];
}

async function document(flags = ''): Promise<{
  openapi: string;
  servers: { url: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, { properties: Node }>; responses: Record<string, unknown> };
}> {
  const { out, code } = await run(`openapi ${flags}`);
  expect(code).toBe(0);
  return JSON.parse(out);
}

test('sotra openapi prints a document that an OpenAPI validator accepts, its references resolved', async () => {
  const printed = await document();
  expect(printed.openapi).toBe('3.1.0');
  const validator = new Validator();
  expect(await validator.validate(structuredClone(printed))).toEqual({ valid: true });
  expect(validator.version).toBe('3.1');
  const references = [...JSON.stringify(printed).matchAll(/"\$ref":"#\/components\/(\w+)\/(\w+)"/g)];
  expect(references.length).toBeGreaterThan(10);
  const components = printed.components as unknown as Record<string, Record<string, unknown>>;
  expect(references.filter(([, kind = '', name = '']) => components[kind]?.[name] === undefined)).toEqual([]);
  expect(JSON.stringify(printed)).not.toContain('$defs');
});

test('every endpoint is an operation with its parameters, bearer key, answer and errors', async () => {
  const { paths } = await document();
  const operations = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => [operation.operationId, method.toUpperCase(), path]),
  );
  expect(operations).toHaveLength(all.length);
  expect(operations.sort()).toEqual(all.map(({ id, method, path }) => [id, method, path]).sort());
  for (const item of Object.values(paths))
    for (const { responses } of Object.values(item)) {
      expect(Object.keys(responses)).toEqual(expect.arrayContaining(['200', '400', '401', 'default']));
      expect(responses['400']).toEqual({ $ref: '#/components/responses/BadRequest' });
    }
});

test('a context decides over the server and over the names that are not from the interface document', async () => {
  const { servers } = await document('--base-url https://api.example.com');
  expect(servers).toEqual([{ url: 'https://api.example.com' }]);
});

test('the document kept in the source is what the program prints', async () => {
  expect(JSON.parse(readFileSync('src/api/openapi.json', 'utf8'))).toEqual(await document());
});

interface Body {
  schema: unknown;
  example: unknown;
}

test('the document has the limits and defaults of the interface, and a body example of one request', async () => {
  const { paths } = (await document()) as unknown as { paths: Record<string, Record<string, Record<string, unknown>>> };
  const bodyOf = (path: string, method: string) => {
    const body = paths[path]?.[method]?.['requestBody'] as { content: Record<string, Body> } | undefined;
    return body?.content['application/json'];
  };
  const parameters = paths['/v2/leaderboard']?.['get']?.['parameters'] as { name: string; schema: unknown }[];
  expect(parameters.find(({ name }) => name === 'limit')?.schema).toEqual({
    type: 'integer',
    minimum: 1,
    maximum: 250,
    default: 50,
  });
  expect(bodyOf('/v1/swap-comments', 'post')?.schema).toMatchObject({
    properties: { commentText: { type: 'string', minLength: 1, maxLength: 9999 } },
  });
  expect(bodyOf('/v1/profiles/{identifier}/name', 'put')?.schema).toMatchObject({
    properties: {
      name: { type: ['string', 'null'], minLength: 3, maxLength: 18, pattern: '^[a-zA-Z0-9_]+$' },
      avatarUrl: { type: ['string', 'null'], format: 'uri' },
    },
  });
  expect(Object.keys(paths['/v1/profiles/{identifier}/name']?.['put']?.['responses'] ?? {})).toContain('409');
  expect(bodyOf('/v1/addresses/follow/bulk', 'post')).toMatchObject({
    schema: { type: 'array' },
    example: [
      { addressOrUid: 'ext:user_1', targets: ['0xb129d76820940a14c764df8b223d8e39cf94a122'] },
      { addressOrUid: 'ext:user_2', targets: ['ext:user_1', 'ext:user_3'], action: 'unfollow' },
    ],
  });
  expect(bodyOf('/v1/swap-comment/{id}/copyswap', 'post')?.example).toEqual({
    tokenAddress: '0x940181a94a35a4569e4529a3cdfb74e38fd98631',
    chain: 'base',
    actorAddress: '0xa4e221aa5a7ba51b5d5c7d5c923bfb9bcebcb252',
  });
});

test('a webhook is registered, and extended, by up to 1,000 addresses: the interface names no minimum', async () => {
  const { paths } = await document();
  const sandbox = await startSandbox({ seed: 'empty' });
  onTestFinished(sandbox.close);
  const send = async (method: string, path: string, fields: object) => {
    const headers = { authorization: `Bearer ${sandbox.keys[0]}`, 'content-type': 'application/json' };
    const response = await fetch(sandbox.url + path, { method, headers, body: JSON.stringify(fields) });
    return [response.status, await response.json()] as const;
  };
  const addresses = (count: number) => Array.from({ length: count }, (_, index) => `ext:${index}`);
  const destinationUrl = 'http://127.0.0.1:9/hook';
  const [status, made] = await send('POST', '/v1/webhooks/feed', { walletAddresses: [], destinationUrl });
  const own = `/v1/webhooks/feed/${(made as { uid: string }).uid}`;
  const statuses = [status];
  for (const count of [0, 1000, 1001])
    statuses.push((await send('PUT', own, { walletAddresses: addresses(count) }))[0]);
  expect(statuses).toEqual([200, 200, 200, 400]);
  for (const operation of [paths['/v1/webhooks/feed']?.['post'], paths['/v1/webhooks/feed/{uid}']?.['put']]) {
    const properties = operation?.requestBody?.content['application/json'].schema['properties'] as
      | Record<string, object>
      | undefined;
    expect(properties?.['walletAddresses']).toEqual({
      type: 'array',
      items: { type: 'string' },
      maxItems: 1000,
      description: 'wallet addresses or ext: ids',
      'x-source': expect.any(String),
    });
  }
});

/** The request that the examples of an operation make. */
function exampleRequest(path: string, { parameters = [], requestBody }: Operation) {
  const query = new URLSearchParams();
  let filled = path;
  for (const { name, in: place, example } of parameters) {
    if (place === 'path') filled = filled.replace(`{${name}}`, encodeURIComponent(String(example)));
    else for (const value of [example ?? []].flat()) query.append(name, String(value));
  }
  const body = requestBody?.content['application/json'].example;
  return { target: `${filled}?${query}`, ...(body !== undefined && { body: JSON.stringify(body) }) };
}

test('every operation has an example, which the sandbox answers with 200', async () => {
  const { paths } = await document();
  const sandbox = await startSandbox();
  onTestFinished(sandbox.close);
  const [key] = sandbox.keys;
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const operations = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  );
  // What is deleted was made and used before.
  const inOrder = operations.sort((a, b) => Number(a.method === 'DELETE') - Number(b.method === 'DELETE'));
  const answered: Record<string, number> = {};
  let made = '';
  for (const { path, method, operation } of inOrder) {
    const { parameters = [], requestBody } = operation;
    const missing = parameters.filter(({ required, example }) => required && example === undefined);
    expect([operation.operationId, missing]).toEqual([operation.operationId, []]);
    const { target, body } = exampleRequest(path, operation);
    expect([operation.operationId, body === undefined]).toEqual([operation.operationId, requestBody === undefined]);
    // The service chooses the uid of a webhook.
    const url = sandbox.url + target.replace('2f1d3c5e-7a90-4b8c-9d6e-0f1a2b3c4d5e', made);
    const response = await fetch(url, { method, headers, ...(body !== undefined && { body }) });
    answered[operation.operationId] = response.status;
    if (operation.operationId === 'webhook.register') made = ((await response.json()) as { uid: string }).uid;
  }
  const { 'position.find': found, ...others } = answered;
  // Which trades there are depends on the time; the request is a good one.
  expect([200, 404]).toContain(found);
  expect(Object.keys(others)).toHaveLength(all.length - 1);
  expect(Object.entries(others).filter(([, status]) => status !== 200)).toEqual([]);
});
