import { Validator } from '@seriousme/openapi-schema-validator';
import { expect, test } from 'vitest';
import type { Endpoint } from '../../../src/api/endpoint.ts';
import { endpoints } from '../../../src/api/endpoints.ts';
import { run } from '../../support/harness.ts';
import { ask, serveSandbox } from '../../support/served.ts';

interface Body {
  schema: { properties: Record<string, object> };
  example?: unknown;
}

interface Operation {
  operationId: string;
  parameters?: { name: string; schema: object }[];
  requestBody?: { content: { 'application/json': Body } };
  responses: Record<string, unknown>;
}

interface Document {
  openapi: string;
  servers: object[];
  paths: Record<string, Record<string, Operation>>;
  components: Record<string, Record<string, unknown>>;
}

async function print(flags = ''): Promise<Document> {
  const { out, code } = await run(`openapi ${flags}`);
  expect(code).toBe(0);
  return JSON.parse(out);
}

test('sotra openapi prints a document that an OpenAPI validator accepts, its references resolved', async () => {
  const printed = await print();
  expect(printed.openapi).toBe('3.1.0');
  const validator = new Validator();
  expect(await validator.validate(structuredClone(printed) as never)).toEqual({ valid: true });
  expect(validator.version).toBe('3.1');
  const references = [...JSON.stringify(printed).matchAll(/"\$ref":"#\/components\/(\w+)\/(\w+)"/g)];
  expect(references.length).toBeGreaterThan(10);
  const { components } = printed;
  expect(references.filter(([, kind = '', name = '']) => components[kind]?.[name] === undefined)).toEqual([]);
  expect(JSON.stringify(printed)).not.toContain('$defs');
});

test('every endpoint is an operation with its parameters, bearer key, answer and errors', async () => {
  const { paths } = await print();
  const operations = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, { operationId }]) => `${operationId} ${method.toUpperCase()} ${path}`),
  );
  const all: readonly Endpoint[] = endpoints;
  expect(operations.sort()).toEqual(all.map(({ id, method, path }) => `${id} ${method} ${path}`).sort());
  for (const { responses } of Object.values(paths).flatMap((item) => Object.values(item))) {
    expect(Object.keys(responses)).toEqual(expect.arrayContaining(['200', '400', '401', 'default']));
    expect(responses['400']).toEqual({ $ref: '#/components/responses/BadRequest' });
  }
});

test('a context decides over the server that the document names', async () => {
  const { servers } = await print('--base-url https://api.example.com');
  expect(servers).toEqual([{ url: 'https://api.example.com' }]);
});

test('the document has the limits and defaults of the interface', async () => {
  const { paths } = await print();
  const limit = paths['/v2/leaderboard']?.['get']?.parameters?.find(({ name }) => name === 'limit');
  expect(limit?.schema).toEqual({ type: 'integer', minimum: 1, maximum: 250, default: 50 });
  const bodyOf = (path: string, method: string) => paths[path]?.[method]?.requestBody?.content['application/json'];
  expect(bodyOf('/v1/swap-comments', 'post')?.schema.properties).toMatchObject({
    commentText: { type: 'string', minLength: 1, maxLength: 9999 },
  });
  expect(bodyOf('/v1/profiles/{identifier}/name', 'put')?.schema.properties).toMatchObject({
    name: { type: ['string', 'null'], minLength: 3, maxLength: 18, pattern: '^[a-zA-Z0-9_]+$' },
    avatarUrl: { type: ['string', 'null'], format: 'uri' },
  });
  expect(paths['/v1/profiles/{identifier}/name']?.['put']?.responses).toHaveProperty('409');
  for (const body of [bodyOf('/v1/webhooks/feed', 'post'), bodyOf('/v1/webhooks/feed/{uid}', 'put')])
    expect(body?.schema.properties['walletAddresses']).toEqual({
      type: 'array',
      items: { type: 'string' },
      maxItems: 1000,
      description: 'wallet addresses or ext: ids',
      'x-source': expect.any(String),
    });
});

test('the sandbox accepts from none to 1,000 addresses a request for a webhook', async () => {
  const service = await serveSandbox({ kind: 'empty' });
  const send = (method: string, path: string, count: number) => {
    const walletAddresses = Array.from({ length: count }, (_, index) => `ext:${index}`);
    const body = JSON.stringify({ walletAddresses, destinationUrl: 'http://127.0.0.1:9/hook' });
    return ask(service, method, `/v1/webhooks/feed${path}`, { body });
  };
  const { uid } = (await send('POST', '', 0)).body as { uid: string };
  const answers = await Promise.all([0, 1000, 1001].map((count) => send('PUT', `/${uid}`, count)));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 400]);
});
