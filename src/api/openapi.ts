import { z } from 'zod';
import {
  actorSchema,
  cardSchema,
  commentSchema,
  imagesSchema,
  pnlSchema,
  positionStatsSchema,
  profileMetadataSchema,
  profileMetricsSchema,
  profileSchema,
  replySchema,
  tradeSchema,
} from './answers.ts';
import { type Endpoint, type Param, type Source, type WireNames, wireName } from './endpoint.ts';
import { checkValue, itemOf, parseText, toJsonSchema } from './kind.ts';

type Json = Record<string, unknown>;

export interface OpenApiOptions {
  servers: readonly { url: string; description?: string }[];
  wire: WireNames;
  /** Schemas that are written once, under `components`. */
  shared: Readonly<Record<string, z.ZodType>>;
}

/** Section "Versioning" of the interface document. */
const interfaceVersion = '1.0.0';

/**
 * The OpenAPI 3.1 document of the endpoints, with commands as samples; `x-source` says where a name is from, `x-aliases` which others a
 * server may accept.
 */
export async function openApiDocument(endpoints: readonly Endpoint[], options: OpenApiOptions): Promise<Json> {
  const shared = sharedSchemas(options.shared);
  const paths: Record<string, Json> = {};
  for (const endpoint of endpoints) {
    const item = paths[endpoint.path] ?? {};
    paths[endpoint.path] = { ...item, [endpoint.method.toLowerCase()]: await operation(endpoint, options, shared) };
  }
  const nouns = [...new Set(endpoints.map(readNoun))].toSorted();
  return {
    openapi: '3.1.0',
    info: {
      title: 'Social Trading Data Service',
      version: interfaceVersion,
      description:
        'Profiles, positions, comments, follows, leaderboards, feeds, copy intents and webhooks. `x-source` says where a name is ' +
        'known from: `spec` the interface document, `public` a public fact about a deployment, `assumed` a choice of this tool ' +
        'that a deployment may make otherwise.',
    },
    servers: options.servers,
    security: [{ bearerAuth: [] }],
    tags: nouns.map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: { bearerAuth: { type: 'http', scheme: 'bearer', description: 'partner API key' } },
      schemas: { Error: errorSchema, ...shared.schemas },
      responses: Object.fromEntries(
        refusals.map(({ name, description, source }) => [
          name,
          { description, 'x-source': source, content: jsonContent({ $ref: '#/components/schemas/Error' }) },
        ]),
      ),
    },
  };
}

const errorSchema = {
  type: 'object',
  properties: { error: { type: 'string', description: 'what is wrong, in words' } },
  required: ['error'],
};

interface Refusal {
  status: string;
  name: string;
  description: string;
  source: Source;
  applies: (endpoint: Endpoint) => boolean;
}

const always = () => true;

/** Section "Errors": 400 and the body are documented; the other statuses are assumed. */
const refusals: readonly Refusal[] = [
  { status: '400', name: 'BadRequest', description: 'bad input; names the field', source: 'spec', applies: always },
  { status: '401', name: 'Unauthorized', description: 'key missing or unknown', source: 'assumed', applies: always },
  {
    status: '404',
    name: 'NotFound',
    description: 'no such id',
    source: 'assumed',
    applies: ({ path }) => path.includes('{'),
  },
  {
    status: '409',
    name: 'Conflict',
    description: 'the name is taken',
    source: 'assumed',
    applies: ({ id }) => id === 'profile.set-name',
  },
  {
    status: '413',
    name: 'TooLarge',
    description: 'body over 5 MB',
    source: 'assumed',
    applies: ({ params }) => Object.values(params).some(inBody),
  },
  { status: 'default', name: 'OtherError', description: 'any other error', source: 'spec', applies: always },
];

function inBody({ location }: Param): boolean {
  return location === 'body' || location === 'document';
}

function readNoun({ id }: Endpoint): string {
  return id.split('.')[0] ?? id;
}

/** Fields that are undefined are not in the JSON. */
async function operation(endpoint: Endpoint, { wire }: OpenApiOptions, shared: SharedSchemas): Promise<Json> {
  const { id, summary, description, deprecated, source, params, examples, keyless, answer } = endpoint;
  const sample: Json = endpoint.sample ?? {};
  const texts = [description, deprecated === undefined ? undefined : `Deprecated: ${deprecated}.`];
  const parameters = Object.entries(params)
    .filter(([, param]) => param.location === 'path' || param.location === 'query')
    .map(([key, param]) => parameter(wireName(endpoint, key, param, wire), key, param, sample[key]));
  return {
    operationId: id,
    tags: [readNoun(endpoint)],
    summary,
    description: texts.filter((part) => part !== undefined).join('\n\n') || undefined,
    deprecated: deprecated === undefined ? undefined : true,
    security: keyless ? [{}, { bearerAuth: [] }] : undefined,
    parameters: parameters.length === 0 ? undefined : parameters,
    requestBody: requestBody(endpoint, wire, sample),
    responses: {
      200: { description: 'done', content: jsonContent(shared.toSchema((await answer()) as z.ZodType)) },
      ...Object.fromEntries(
        refusals
          .filter(({ applies }) => applies(endpoint))
          .map(({ status, name }) => [status, { $ref: `#/components/responses/${name}` }]),
      ),
    },
    'x-source': source,
    'x-codeSamples': examples.map(({ argv, says }) => ({ lang: 'Shell', label: says, source: `sotra ${argv}` })),
  };
}

function parameter(name: string, key: string, param: Param, sample: unknown): Json {
  const isPath = param.location === 'path';
  const { type, optional } = param.kind;
  return {
    name: isPath ? key : name,
    in: param.location,
    required: isPath || !optional ? true : undefined,
    description: writeParamHelp(param),
    schema: paramSchema(param),
    ...(type === 'list' && { style: 'form', explode: true }),
    example: sample,
    ...marks(param),
  };
}

function requestBody(endpoint: Endpoint, wire: WireNames, sample: Json): Json | undefined {
  const entries = Object.entries(endpoint.params);
  const [key, document] = entries.find(([, { location }]) => location === 'document') ?? [];
  if (key !== undefined && document !== undefined) {
    const content = jsonContent(toJsonSchema(document.kind), sample[key]);
    return { required: true, description: writeParamHelp(document), content, ...marks(document) };
  }
  const fields = entries
    .filter(([, { location }]) => location === 'body')
    .map(([field, param]) => ({ name: wireName(endpoint, field, param, wire), param, sample: sample[field] }));
  if (fields.length === 0) return undefined;
  const required = fields.filter(({ param }) => !param.kind.optional).map(({ name }) => name);
  const properties = Object.fromEntries(
    fields.map(({ name, param }) => [
      name,
      { ...paramSchema(param), description: writeParamHelp(param), ...marks(param) },
    ]),
  );
  const given = Object.fromEntries(
    fields.filter((each) => each.sample !== undefined).map((each) => [each.name, each.sample]),
  );
  const isExample = Object.keys(given).length > 0 && required.every((name) => name in given);
  const schema = { type: 'object', properties, required: required.length === 0 ? undefined : required };
  return { required: required.length > 0, content: jsonContent(schema, isExample ? given : undefined) };
}

/** With the service's default, if it is a value of the parameter and not a sentence. */
function paramSchema({ kind, serviceDefault }: Param): Json {
  const schema = toJsonSchema(kind);
  if (serviceDefault === undefined) return schema;
  const value =
    kind.type === 'list'
      ? serviceDefault.split(', ').map((each) => parseText(kind, each))
      : parseText(kind, serviceDefault);
  const isValue = checkValue(kind, value) === undefined && itemOf(kind).type !== 'text';
  return { ...schema, ...(isValue && { default: value }) };
}

function writeParamHelp({ help, serviceDefault }: Param): string {
  return serviceDefault === undefined ? help : `${help}; default: ${serviceDefault} (set by the service)`;
}

function marks({ source, aliases }: Param): Json {
  return { 'x-source': source, 'x-aliases': aliases };
}

function jsonContent(schema: unknown, example?: unknown): Json {
  return { 'application/json': { schema, example } };
}

type SharedSchemas = ReturnType<typeof sharedSchemas>;

/** Schemas as JSON Schema, those with a name as `$ref`. */
function sharedSchemas(named: Readonly<Record<string, z.ZodType>>) {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(named)) registry.add(schema, { id });
  const convert = (schema: z.ZodType): { schema: Json; parts: Json } => {
    const json = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any', metadata: registry });
    const { $schema: _, $defs: parts = {}, ...rest } = pointToComponents(json) as { $schema: string; $defs?: Json };
    return { schema: rest, parts };
  };
  const whole = convert(z.object(named));
  const schemas = Object.entries(whole.parts).map(([id, part]) => {
    const { id: _, ...schema } = part as Json;
    return [id, schema];
  });
  return { schemas: Object.fromEntries(schemas), toSchema: (schema: z.ZodType) => convert(schema).schema };
}

function pointToComponents(json: object): Json {
  return JSON.parse(JSON.stringify(json).replaceAll('#/$defs/', '#/components/schemas/'));
}

/** Shapes of several resources, by the names of the interface document. */
export const namedShapes: Readonly<Record<string, z.ZodType>> = {
  Images: imagesSchema,
  Profile: profileSchema,
  ProfileMetadata: profileMetadataSchema,
  ProfileMetrics: profileMetricsSchema,
  Pnl: pnlSchema,
  Actor: actorSchema,
  Comment: commentSchema,
  Reply: replySchema,
  Trade: tradeSchema,
  PositionStats: positionStatsSchema,
  PositionCard: cardSchema,
};
