import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import { rolldown } from 'rolldown';
import { expect, test } from 'vitest';
import type { z } from 'zod';
import type { Endpoint } from '../../src/api/endpoint.ts';
import { endpoints } from '../../src/api/endpoints.ts';
import { checkValue, type Kind } from '../../src/api/kind.ts';
import { temporaryFolder } from '../support/harness.ts';

const folder = 'dist/library';
test('minified by whoever bundles it the client is 35 kB at most, the webhook 2.25 kB', async () => {
  const size = async (name: string) => {
    const bundle = await rolldown({ input: `${folder}/${name}`, platform: 'browser' });
    const { output } = await bundle.generate({ format: 'esm', minify: true });
    return output.reduce((sum, file) => sum + (file.type === 'chunk' ? gzipSync(file.code).length : 0), 0);
  };
  expect(await size('index.js')).toBeLessThanOrEqual(35_000);
  expect(await size('webhook.js')).toBeLessThanOrEqual(2304);
});

let built: Promise<readonly Endpoint[]> | undefined;

/** The endpoints as the built library has them; built once. */
function builtEndpoints(): Promise<readonly Endpoint[]> {
  built ??= (async () => {
    const zod = `${process.cwd()}/src/library/schema.ts`;
    const bundle = await rolldown({ input: 'src/api/endpoints.ts', resolve: { alias: { zod } } });
    const file = `${temporaryFolder()}/endpoints.mjs`;
    await bundle.write({ file, format: 'esm' });
    return (await import(pathToFileURL(file).href)).endpoints;
  })();
  return built;
}

/** The first issue as a user is told of it. */
function issueOf(schema: z.ZodType, value: unknown): unknown {
  const issue = schema.safeParse(value).error?.issues[0];
  return issue === undefined ? 'fits' : [issue.path, issue.message];
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

test('the built library takes and refuses the same inputs, with the same words', async () => {
  const small = await builtEndpoints();
  for (const endpoint of endpoints)
    for (const [key, { kind }] of Object.entries(endpoint.params)) {
      const other = small.find(({ id }) => id === endpoint.id)?.params[key]?.kind as Kind;
      const tell = (each: Kind) => [endpoint.id, key, ...all.map((value) => [value, checkValue(each, value)])];
      expect(tell(other)).toEqual(tell(kind));
    }
});

test('of an answer the built library says the same', async () => {
  const small = await builtEndpoints();
  for (const { id, answer } of endpoints) {
    const other = small.find((one) => one.id === id)?.answer as z.ZodType;
    const answers = [...all, { traders: [{ profile: 7 }] }, { items: [{}] }, [{ itemId: 7 }], { webhooks: {} }];
    const tell = (each: z.ZodType) => [id, ...answers.map((value) => [value, issueOf(each, value)])];
    expect(tell(other)).toEqual(tell(answer));
  }
});
