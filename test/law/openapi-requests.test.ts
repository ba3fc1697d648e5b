import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { expect, test } from 'vitest';
import { type Random, randomFrom } from '../../src/sandbox/seeded.ts';
import { seed } from '../support/draw.ts';
import { run } from '../support/harness.ts';
import { oddBodies, oddKeys, oddWords } from '../support/hostile/corpus.ts';
import { ask, type SandboxServer, serveSandbox } from '../support/served.ts';
import { size } from '../support/size.ts';

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
      const values = Object.fromEntries(
        wanted.map(({ name, schema, example }) => [name, draw(random, schema, example)]),
      );
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
