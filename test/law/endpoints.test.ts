import { expect, test } from 'vitest';
import type { Endpoint, Param } from '../../src/api/endpoint.ts';
import { endpoints } from '../../src/api/endpoints.ts';
import { checkValue, itemOf } from '../../src/api/kind.ts';
import { decodeRequest, encodeRequest } from '../../src/api/request.ts';
import { allRoutes, routesUnder } from '../../src/sandbox/service/routes.ts';
import { run, temporaryFolder } from '../support/harness.ts';
import { views } from '../support/outlines.ts';
import { inTurn, some } from '../support/size.ts';

const all: readonly Endpoint[] = endpoints;

/** Values that a parameter may carry, odd ones among them. */
function samples({ kind }: Param): unknown[] {
  const item = itemOf(kind);
  const one: unknown[] = {
    text: [
      'ext:a/b c?d#e%&+ü"',
      '3f0c1f5e-6a53-4d0c-9e57-0d4b1c2f7a11',
      '0xA4E221aa5a7ba51b5d5c7d5c923bfb9bcebcb252',
      'plain',
      '60',
      '2026-11-20T00:00:00Z',
    ],
    integer: item.type === 'integer' ? [item.min ?? 0, item.max ?? 7] : [],
    number: item.type === 'number' ? [item.min ?? 0.5, item.max ?? 1e6] : [],
    boolean: [true, false],
    choice: item.type === 'choice' ? [...item.choices] : [],
    parsed: [],
    json: [[{ addressOrUid: 'ext:a/b', targets: ['ext:c'], action: 'unfollow' }]],
  }[item.type];
  const shaped = kind.type === 'list' ? [...one.map((item) => [item]), one.slice(0, 2)] : one;
  const typed = kind.nullable ? [null, ...shaped] : shaped;
  return typed.filter((value) => checkValue(kind, value) === undefined);
}

/** Inputs that give each parameter each of its samples, the others their first. */
function inputs(endpoint: Endpoint): Record<string, unknown>[] {
  const entries = Object.entries(endpoint.params).map(([key, param]) => ({ key, values: samples(param), param }));
  const base = Object.fromEntries(
    entries.filter(({ param }) => !param.kind.optional).map(({ key, values }) => [key, values[0]]),
  );
  return [base, ...entries.flatMap(({ key, values }) => values.map((value) => ({ ...base, [key]: value })))];
}

for (const endpoint of all)
  test(`${endpoint.id}: what is encoded decodes to the same input`, () => {
    const tried = inputs(endpoint);
    for (const input of tried) {
      const { path, body } = encodeRequest(endpoint, input);
      const url = new URL(`http://sandbox.test${path}`);
      const pattern = new RegExp(`^${endpoint.path.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`);
      const names = pattern.exec(url.pathname)?.groups ?? {};
      const values = Object.fromEntries(Object.entries(names).map(([key, text]) => [key, decodeURIComponent(text)]));
      const decoded = decodeRequest(endpoint, { path: values, query: url.searchParams, body });
      expect(decoded).toEqual({ ok: true, input, ignored: [] });
    }
    expect(tried.length).toBeGreaterThan(Object.keys(endpoint.params).length === 0 ? 0 : 1);
  });

test('a name that is not from the interface document can be overridden, one that is cannot', () => {
  const list = all.find((endpoint) => endpoint.id === 'leaderboard.list');
  const input = { chains: ['base'], limit: 3, timeframe: '7d' };
  const wire = { '*.limit': 'count', 'leaderboard.list.timeframe': 'window', '*.chains': 'nets' };
  expect(list && encodeRequest(list, input, wire).path).toBe('/v2/leaderboard?chains=base&count=3&window=7d');
});

test('ids and routes are unique, and every endpoint has a summary, a view and a handler', async () => {
  const ids = all.map((endpoint) => endpoint.id);
  expect(new Set(ids).size).toBe(ids.length);
  const paths = all.map(({ method, path }) => `${method} ${path.replaceAll(/\{\w+\}/g, '{}')}`);
  expect(new Set(paths).size).toBe(paths.length);
  expect(all.filter((endpoint) => endpoint.summary === '')).toEqual([]);
  expect(Object.keys(views).sort()).toEqual([...ids].sort());
  expect((await allRoutes()).filter((route) => typeof route.handle !== 'function')).toEqual([]);
});

test('every endpoint is found by the first word of its path', async () => {
  for (const { id, path } of all) {
    const found = await routesUnder(path.split('/')[2] ?? '');
    expect(found.map(({ endpoint }): string => endpoint.id)).toContain(id);
  }
});

test('every name in a path is one path parameter, and the other way round', () => {
  for (const { path, params } of all) {
    const named = [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]);
    const declared = Object.entries(params).flatMap(([key, param]) => (param.place === 'path' ? [key] : []));
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
