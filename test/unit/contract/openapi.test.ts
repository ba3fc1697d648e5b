import { readFileSync } from 'node:fs';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { Validator } from '@seriousme/openapi-schema-validator';
import { expect, test } from 'vitest';
import type { Endpoint } from '../../../src/contract/endpoint.ts';
import { endpoints } from '../../../src/resources/index.ts';
import { run } from '../../support/harness.ts';

const all: readonly Endpoint[] = endpoints;

type Node = Record<string, never>;

interface Operation {
  operationId: string;
  parameters?: { name: string; in: string; required?: boolean; 'x-source': string; schema: Node }[];
  requestBody?: { required: boolean; content: { 'application/json': { schema: Node } } };
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

test('a second validator finds no error either, and misses words about tags alone', async () => {
  const config = await createConfig({ extends: ['minimal'] });
  const look = async (source: unknown) =>
    (await lintFromString({ source: JSON.stringify(source), config, absoluteRef: 'openapi.json' })).map(
      ({ ruleId, severity }) => `${severity} ${ruleId}`,
    );
  const printed = await document();
  expect(new Set(await look(printed))).toEqual(new Set(['warn tag-description']));
  expect((await look({ ...printed, paths: { '/x': { get: 7 } } })).join()).toContain('struct');
});

test('a document with a fault does not pass the same validator', async () => {
  const { paths, ...rest } = await document();
  const validator = new Validator();
  expect((await validator.validate({ ...rest, paths: { 'no-slash': paths['/v2/leaderboard'] } })).valid).toBe(false);
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
  expect(JSON.parse(readFileSync('src/contract/openapi.json', 'utf8'))).toEqual(await document());
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
  expect(bodyOf('/v1/addresses/follow/bulk', 'post')?.schema).toMatchObject({ type: 'array' });
  expect(bodyOf('/v1/swap-comment/{id}/copyswap', 'post')?.example).toEqual({
    tokenAddress: '0x940181a94a35a4569e4529a3cdfb74e38fd98631',
    chain: 'base',
    actorAddress: '0xa4e221aa5a7ba51b5d5c7d5c923bfb9bcebcb252',
  });
});
