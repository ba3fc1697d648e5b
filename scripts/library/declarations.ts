import type { z } from 'zod';
import { chains } from '../../src/api/chain.ts';
import type { Endpoint, Param } from '../../src/api/endpoint.ts';
import { endpoints } from '../../src/api/endpoints.ts';
import { describeKind, type Kind, toJsonSchema } from '../../src/api/kind.ts';
import { namedShapes, type SharedSchemas, sharedSchemas } from '../../src/api/openapi.ts';
import { methodName } from '../../src/library/endpoints.ts';

interface JsonSchema {
  type?: string | readonly string[];
  $ref?: string;
  anyOf?: readonly JsonSchema[];
  enum?: readonly unknown[];
  const?: unknown;
  items?: JsonSchema;
  properties?: Readonly<Record<string, JsonSchema>>;
  required?: readonly string[];
  additionalProperties?: JsonSchema | boolean;
}

/** With the schema of its answers. */
type Answering = Omit<Endpoint, 'answer' | 'brief'> & { answer: z.ZodType };

/** The declarations of the client's methods, written from the endpoints: inputs, answers and shapes without zod. */
export async function methodDeclarations(): Promise<string> {
  const shared = sharedSchemas(namedShapes);
  const shapes = Object.entries(shared.schemas).map(
    ([name, schema]) => `export interface ${name} ${typeOf(schema as JsonSchema, { isInput: false })}`,
  );
  const loaded = await Promise.all(
    endpoints.map(async (endpoint) => ({ ...endpoint, answer: await endpoint.answer() })),
  );
  const types = loaded.flatMap((endpoint) => typesOf(endpoint, shared));
  const nouns = [...new Set(loaded.map((endpoint) => methodName(endpoint)[0]))];
  const members = nouns.map((noun) => {
    const own = loaded.filter((endpoint) => methodName(endpoint)[0] === noun).map(methodOf);
    return `readonly ${noun}: {\n${[...own, ...(noun === 'comment' ? [textMethod] : [])].map(indented).join('\n')}\n};`;
  });
  return [
    "import type { TextFields } from '../api/signed-text.js';",
    callOptions,
    `/** A client of the service. Every call that fails rejects with a SotraError. */\nexport interface Client {\n${members.map(indented).join('\n')}\n}`,
    ...types,
    ...shapes,
    '',
  ].join('\n\n');
}

/** In place of the module of the chains, which also holds their schema. */
export function chainDeclarations(): string {
  return `/** A chain of the service. */\nexport type Chain = ${chains.map((chain) => `'${chain}'`).join(' | ')};\n\n/** Which kind of key signs for a chain. */\nexport type ChainFamily = 'evm' | 'solana';\n`;
}

const callOptions = `/** Beside the input of a call. */
export interface CallOptions {
  /** Ends the call, its waits and its further attempts: it rejects with \`interrupted\`. */
  signal?: AbortSignal | undefined;
}`;

const textMethod = `/** The text that the author of a comment signs, in the layout of this client. */
text: (fields: TextFields) => string;`;

/** Where a command does more than its endpoint. */
const ownSummaries: Readonly<Record<string, string>> = {
  'comment.post': 'Post a signed comment on a swap; `sotra/signing` signs it',
  'webhook.register': 'Register a webhook with its first addresses, at most 1,000',
  'webhook.add-addresses': 'Add addresses to a webhook, at most 1,000 a call',
};

function methodOf(endpoint: Answering): string {
  const { id, method, path, deprecated, paging } = endpoint;
  const base = typeBase(endpoint);
  const isOptional = Object.values(endpoint.params).every(({ kind }) => kind.optional);
  const input =
    Object.keys(endpoint.params).length === 0 ? 'input?: {}' : `input${isOptional ? '?' : ''}: ${base}Input`;
  const takes = `(${input}, options?: CallOptions)`;
  const texts = [`${ownSummaries[id] ?? endpoint.summary}.`, `\`${method} ${path}\``];
  const doc = docOf([...texts, ...(deprecated === undefined ? [] : [`@deprecated ${deprecated}`])]);
  const [, verb] = methodName(endpoint);
  if (paging === undefined) return `${doc}\n${verb}: ${takes} => Promise<${base}Answer>;`;
  const all = `${docOf(['Each item of all pages, once, in the order of the service.'])}\nall: ${takes} => AsyncGenerator<${itemOf(endpoint)}, void, undefined>;`;
  return `${doc}\n${verb}: {\n${indented(`${takes}: Promise<${base}Answer>;\n${all}`)}\n};`;
}

function itemOf(endpoint: Answering): string {
  const answer = jsonOf(endpoint.answer);
  const key = Object.entries(answer.properties ?? {}).find(([, field]) => field.type === 'array')?.[0];
  return `${typeBase(endpoint)}Answer${key === undefined ? '' : `['${key}']`}[number]`;
}

function jsonOf(schema: z.ZodType): JsonSchema {
  return sharedSchemas({}).toSchema(schema) as JsonSchema;
}

/** `LeaderboardList` for `leaderboard.list`. */
function typeBase(endpoint: Pick<Endpoint, 'id'>): string {
  return methodName(endpoint)
    .map((word) => word.slice(0, 1).toUpperCase() + word.slice(1))
    .join('');
}

function typesOf(endpoint: Answering, shared: SharedSchemas): string[] {
  const base = typeBase(endpoint);
  const answer = `export type ${base}Answer = ${typeOf(shared.toSchema(endpoint.answer) as JsonSchema, { isInput: false })};`;
  const fields = Object.entries(endpoint.params).map(([key, param]) => {
    const { optional } = param.kind;
    const type = typeOfKind(param.kind);
    return `${docOf(docOfParam(param))}\n${key}${optional ? '?' : ''}: ${type}${optional ? ' | undefined' : ''};`;
  });
  if (fields.length === 0) return [answer];
  return [`export interface ${base}Input {\n${fields.map(indented).join('\n')}\n}`, answer];
}

/** The type of the values of a parameter. */
function typeOfKind(kind: Kind): string {
  const item = kind.type === 'list' ? kind.item : kind;
  // Beside known texts, so that an editor still offers those.
  const one =
    item.type === 'choice' && item.open !== undefined
      ? [...item.choices.map(literal), '(string & {})'].join(' | ')
      : typeOf(toJsonSchema(item) as JsonSchema, { isInput: true });
  const type = kind.type === 'list' ? listOf(one, { isInput: true }) : one;
  return kind.nullable ? `${type} | null` : type;
}

function docOfParam({ help, serviceDefault, kind }: Param): string[] {
  const isBound = Object.keys(kind).some((key) => /^(min|max)(Length|Items)?$/.test(key));
  const range = isBound ? `: ${describeKind(kind)}` : '';
  const usual = serviceDefault === undefined ? '' : `; default: ${serviceDefault} (set by the service)`;
  return [`${help.slice(0, 1).toUpperCase()}${help.slice(1)}${range}${usual}.`];
}

function docOf(lines: readonly string[]): string {
  const [first = ''] = lines;
  return lines.length === 1 ? `/** ${first} */` : `/**\n${lines.map((line) => ` * ${line}`).join('\n')}\n */`;
}

function typeOf(schema: JsonSchema, side: { isInput: boolean }): string {
  const { $ref, anyOf, type, items } = schema;
  if ($ref !== undefined) return $ref.split('/').at(-1) ?? 'unknown';
  // Beside known texts, so that an editor still offers those.
  const isOpen =
    anyOf?.some((one) => one.enum !== undefined) &&
    anyOf.some((one) => one.type === 'string' && one.enum === undefined);
  if (anyOf !== undefined && isOpen)
    return anyOf.map((one) => (one.enum === undefined ? '(string & {})' : typeOf(one, side))).join(' | ');
  if (anyOf !== undefined) return anyOf.map((one) => typeOf(one, side)).join(' | ');
  if (schema.enum !== undefined) return schema.enum.map(literal).join(' | ');
  if (Object.hasOwn(schema, 'const')) return literal(schema.const);
  if (Array.isArray(type)) return type.map((one) => typeOf({ ...schema, type: one }, side)).join(' | ');
  if (type === 'array') return listOf(typeOf(items ?? {}, side), side);
  if (type === 'object') return objectOf(schema, side);
  if (type === 'integer') return 'number';
  return typeof type === 'string' ? type : 'unknown';
}

function listOf(item: string, { isInput }: { isInput: boolean }): string {
  const list = /^[\w[\]']+$/.test(item) ? `${item}[]` : `(${item})[]`;
  return isInput ? `readonly ${list}` : list;
}

function literal(value: unknown): string {
  return typeof value === 'string' ? `'${value}'` : JSON.stringify(value);
}

function objectOf(
  { properties = {}, required = [], additionalProperties }: JsonSchema,
  side: { isInput: boolean },
): string {
  const fields = Object.entries(properties).map(([key, field]) => {
    const isRequired = required.includes(key);
    return `${key}${isRequired ? '' : '?'}: ${typeOf(field, side)}${isRequired ? '' : ' | undefined'};`;
  });
  const rest = typeof additionalProperties === 'object' ? [restOf(additionalProperties, side)] : [];
  return `{\n${[...fields, ...rest].map(indented).join('\n')}\n}`;
}

function restOf(schema: JsonSchema, side: { isInput: boolean }): string {
  return `[field: string]: ${Object.keys(schema).length === 0 ? 'unknown' : typeOf(schema, side)};`;
}

function indented(text: string): string {
  return text.replaceAll(/^(?=.)/gm, '  ');
}
