import { expect, test } from 'vitest';
import { z } from 'zod';
import { asDocument, defineEndpoint, type Endpoint, inBody, inPath, inQuery, local } from '../../src/api/endpoint.ts';
import { boolean, choice, integer, listOf, nullable, optional, text } from '../../src/api/kind.ts';
import { openApiDocument } from '../../src/api/openapi.ts';

const chain = choice(['base', 'solana']);
const chainSchema = z.enum(['base', 'solana']);
const about = { source: 'spec', answer: async () => z.object({ chain: chainSchema }), examples: [] } as const;
const get = defineEndpoint({
  ...about,
  id: 'thing.get',
  method: 'GET',
  path: '/v1/things/{id}',
  summary: 'shows a thing',
  description: 'More of it.',
  deprecated: 'ask for the list',
  keyless: true,
  params: {
    id: inPath(text({ minLength: 0 }), 'which thing', { wire: 'other' }),
    chains: inQuery(optional(listOf(chain)), 'on which chains', { aliases: ['nets'], serviceDefault: 'all' }),
    limit: inQuery(integer(1, 9), 'how many', { wire: 'count', source: 'assumed', aliases: [] }),
    wide: local(optional(boolean()), 'never sent'),
  },
  examples: [{ argv: 'thing get a', says: 'a thing' }],
});
const add = defineEndpoint({
  ...about,
  id: 'thing.add',
  method: 'POST',
  path: '/v1/things',
  summary: 'adds a thing',
  params: {
    name: inBody(text({ minLength: 0 }), 'its name', { wire: 'title', source: 'public', aliases: ['label'] }),
    until: inBody(optional(nullable(integer(0, 9))), 'its end', {
      source: 'assumed',
      serviceDefault: 'never',
    }),
  },
});
const change = defineEndpoint({
  ...about,
  id: 'thing.change',
  method: 'PUT',
  path: '/v1/things',
  summary: 'changes a thing',
  params: { until: inBody(optional(integer(0, 9)), 'its end') },
});
const replace = defineEndpoint({
  ...about,
  id: 'list.replace',
  method: 'PUT',
  path: '/v1/list',
  summary: 'replaces the list',
  params: { entries: asDocument(listOf(chain), 'the list', { source: 'public', aliases: ['all'] }) },
});

const documentOf = (endpoints: readonly Endpoint[]) =>
  openApiDocument(endpoints, {
    servers: [{ url: 'https://api.example', description: 'the service' }],
    wire: { 'thing.get.limit': 'top', 'thing.get.chains': 'unused', 'thing.add.until': 'end' },
    shared: { Chain: chainSchema },
  });
type Operations = Record<string, Record<string, Record<string, unknown>>>;
const operationOf = async (endpoint: Endpoint, sample: Record<string, unknown> = {}) => {
  const paths = (await documentOf([{ ...endpoint, sample }]))['paths'] as Operations;
  return paths[endpoint.path]?.[endpoint.method.toLowerCase()] ?? {};
};
const bodyOf = async (endpoint: Endpoint, sample: Record<string, unknown> = {}) =>
  (await operationOf(endpoint, sample))['requestBody'];

const chainRef = { $ref: '#/components/schemas/Chain' };
const chainText = { type: 'string', enum: ['base', 'solana'] };
const done = {
  description: 'done',
  content: {
    'application/json': {
      schema: { type: 'object', properties: { chain: chainRef }, required: ['chain'] },
    },
  },
};
const responses = {
  200: done,
  400: { $ref: '#/components/responses/BadRequest' },
  401: { $ref: '#/components/responses/Unauthorized' },
  default: { $ref: '#/components/responses/OtherError' },
};
const withId = { ...responses, 404: { $ref: '#/components/responses/NotFound' } };
const withBody = { ...responses, 413: { $ref: '#/components/responses/TooLarge' } };

test('an operation says all that its endpoint says, and nothing that is not sent', async () => {
  expect(await operationOf(get, { id: 'a', limit: 3 })).toStrictEqual({
    operationId: 'thing.get',
    tags: ['thing'],
    summary: 'shows a thing',
    description: 'More of it.\n\nDeprecated: ask for the list.',
    deprecated: true,
    security: [{}, { bearerAuth: [] }],
    parameters: [
      {
        name: 'id',
        in: 'path',
        required: true,
        description: 'which thing',
        schema: { type: 'string' },
        example: 'a',
        'x-source': 'spec',
      },
      {
        name: 'chains',
        in: 'query',
        description: 'on which chains; default: all (set by the service)',
        schema: { type: 'array', items: chainText },
        style: 'form',
        explode: true,
        'x-source': 'spec',
        'x-aliases': ['nets'],
      },
      {
        name: 'top',
        in: 'query',
        required: true,
        description: 'how many',
        schema: { type: 'integer', minimum: 1, maximum: 9 },
        example: 3,
        'x-source': 'assumed',
      },
    ],
    responses: withId,
    'x-source': 'spec',
    'x-codeSamples': [{ lang: 'Shell', label: 'a thing', source: 'sotra thing get a' }],
  });
});

const fields = {
  type: 'object',
  properties: {
    title: { type: 'string', description: 'its name', 'x-source': 'public', 'x-aliases': ['label'] },
    end: {
      type: ['integer', 'null'],
      minimum: 0,
      maximum: 9,
      description: 'its end; default: never (set by the service)',
      'x-source': 'assumed',
    },
  },
  required: ['title'],
};

test('a body is shown with an example where the samples hold all that it must have', async () => {
  const of = (example: object) => ({ required: true, content: { 'application/json': { schema: fields, example } } });
  expect(await bodyOf(add, { name: 'n' })).toStrictEqual(of({ title: 'n' }));
  expect(await bodyOf(add, { name: 'n', until: 4 })).toStrictEqual(of({ title: 'n', end: 4 }));
  expect(await bodyOf(add, { until: 4 })).toStrictEqual({
    required: true,
    content: { 'application/json': { schema: fields } },
  });
  const properties = { until: { type: 'integer', minimum: 0, maximum: 9, description: 'its end', 'x-source': 'spec' } };
  const optional = { type: 'object', properties };
  expect(await bodyOf(change)).toStrictEqual({
    required: false,
    content: { 'application/json': { schema: optional } },
  });
  expect(await bodyOf(change, { until: 4 })).toStrictEqual({
    required: false,
    content: { 'application/json': { schema: optional, example: { until: 4 } } },
  });
});

test('a body that is one document has its schema and, where there is one, its sample', async () => {
  const schema = { type: 'array', items: chainText };
  const about = { required: true, description: 'the list', 'x-source': 'public', 'x-aliases': ['all'] };
  expect(await bodyOf(replace)).toStrictEqual({ ...about, content: { 'application/json': { schema } } });
  expect(await bodyOf(replace, { entries: ['base'] })).toStrictEqual({
    ...about,
    content: { 'application/json': { schema, example: ['base'] } },
  });
  expect((await operationOf(replace))['responses']).toStrictEqual(withBody);
});
