import { pathToFileURL } from 'node:url';
import fc from 'fast-check';
import { rolldown } from 'rolldown';
import { expect, test } from 'vitest';
import type { z } from 'zod';
import type { Endpoint } from '../../src/contract/endpoint.ts';
import { kindOf } from '../../src/contract/kind-of.ts';
import { endpoints } from '../../src/library/endpoints.ts';
import { temporaryFolder } from '../support/harness.ts';
import { size } from '../support/size.ts';

interface Small {
  endpoints: readonly Endpoint[];
  kindOf: typeof kindOf;
}

/** The endpoints as the built library has them. */
async function builtEndpoints(): Promise<Small> {
  const [input, zod] = ['src/library/endpoints.ts', `${process.cwd()}/src/library/schema.ts`];
  const bundle = await rolldown({
    input: 'virtual',
    resolve: { alias: { zod } },
    plugins: [
      {
        name: 'virtual',
        resolveId: (id) => (id === 'virtual' ? id : null),
        load: (id) =>
          id === 'virtual'
            ? `export { endpoints } from '${process.cwd()}/${input}'; export { kindOf } from '${process.cwd()}/src/contract/kind-of.ts';`
            : null,
      },
    ],
  });
  const file = `${temporaryFolder()}/endpoints.mjs`;
  await bundle.write({ file, format: 'esm' });
  return import(pathToFileURL(file).href);
}

/** The first issue as a user is told of it. */
function issueOf(schema: z.ZodType, value: unknown): unknown {
  const { error } = schema.safeParse(value);
  const issue = error?.issues[0];
  return issue === undefined
    ? 'fits'
    : [issue.code === 'custom', issue.path, issue.code === 'custom' ? issue.message : ''];
}

const wallet = '0xA4E221aa5a7ba51b5d5c7d5c923bfb9bcebcb252';
const values = [
  ...[undefined, null, true, false, 0, 1, 10, 100, 250, 251, 1.5, -1, Number.NaN, 2 ** 53, 1e300],
  ...['', ' ', 'x', 'open', 'closed', '7d', '30d', 'value', 'latest', 'base', 'all', 'ext:1', wallet, '..', 'a/../b'],
  ...[
    '0x12',
    'abc_DEF',
    'ab',
    'https://a.test/x.png',
    'ftp://a',
    '1565125718',
    'x'.repeat(10_000),
    '\u{1F680}'.repeat(9999),
  ],
  ...['3f0c1f5e-6a53-4d0c-9e57-0d4b1c2f7a11', 'So11111111111111111111111111111111111111112'],
];
const lists = [
  [],
  ...values.map((value) => [value]),
  [wallet, 'x'],
  ['base', 'base'],
  Array(11).fill('x'),
  Array(1001).fill('ext:1'),
];
const entries = [{ addressOrUid: 'ext:1', targets: ['ext:2'] }, { addressOrUid: 'ext:1', targets: [] }, {}, 7];
const all: readonly unknown[] = [...values, ...lists, ...entries, ...entries.map((entry) => [entry]), {}];

test('what stands in for zod takes and refuses the same inputs, with the same words', async () => {
  const small = await builtEndpoints();
  for (const endpoint of endpoints)
    for (const [key, { schema }] of Object.entries(endpoint.params)) {
      const other = small.endpoints.find(({ id }) => id === endpoint.id)?.params[key]?.schema as z.ZodType;
      const name = `${endpoint.id}.${key}`;
      expect([name, small.kindOf(other)]).toEqual([name, kindOf(schema)]);
      for (const value of all)
        expect([name, value, issueOf(other, value)]).toEqual([name, value, issueOf(schema, value)]);
    }
});

/** Any JSON, made of the names that answers use. */
const json = (schema: unknown): fc.Arbitrary<unknown> => {
  const { type, shape, element } = schema as { type?: string; shape?: Record<string, unknown>; element?: unknown };
  const odd = fc.constantFrom<unknown>(null, 7, 'text', true, [], {}, undefined);
  if (type === 'object' && shape !== undefined)
    return fc.oneof(
      {
        arbitrary: fc.record(Object.fromEntries(Object.entries(shape).map(([key, held]) => [key, json(held)]))),
        weight: 9,
      },
      { arbitrary: odd, weight: 1 },
    );
  if (type === 'array')
    return fc.oneof({ arbitrary: fc.array(json(element), { maxLength: 2 }), weight: 9 }, { arbitrary: odd, weight: 1 });
  const plain: Record<string, fc.Arbitrary<unknown>> = {
    string: fc.constant('text'),
    number: fc.constant(1.5),
    boolean: fc.boolean(),
  };
  return fc.oneof({ arbitrary: plain[type ?? ''] ?? odd, weight: 9 }, { arbitrary: odd, weight: 1 });
};

test('what stands in for zod says the same of answers', async () => {
  const small = await builtEndpoints();
  for (const { id, answer } of endpoints) {
    const other = small.endpoints.find((one) => one.id === id)?.answer as z.ZodType;
    const told = (schema: z.ZodType, value: unknown) => {
      const issue = schema.safeParse(value).error?.issues[0];
      return issue && [issue.path, issue.message];
    };
    fc.assert(
      fc.property(json(answer), (value) => {
        expect([id, told(other, value)]).toEqual([id, told(answer, value)]);
      }),
      { numRuns: size(20, 500) },
    );
  }
});
