import { createClient } from 'sotra';
import { expect, test } from 'vitest';
import type { Endpoint } from '../../src/contract/endpoint.ts';
import { decodeRequest } from '../../src/contract/request.ts';
import { methodName } from '../../src/library/endpoints.ts';
import { endpoints } from '../../src/resources/index.ts';
import { type Witness, witnesses } from '../support/witness.ts';

type Method = (input: unknown) => Promise<unknown>;

/** The input of a method for a request that was typed by hand. */
function inputOf(endpoint: Endpoint, { path, body }: Witness): unknown {
  const url = new URL(path, 'http://service.test');
  const names = endpoint.path.split('/');
  const parts = Object.fromEntries(
    url.pathname
      .split('/')
      .flatMap((part, at) => (names[at]?.startsWith('{') ? [[names[at].slice(1, -1), decodeURIComponent(part)]] : [])),
  );
  const decoded = decodeRequest(endpoint, { path: parts, query: url.searchParams, body });
  if (!decoded.ok) throw new Error(decoded.problem);
  return decoded.input;
}

test('each method sends what the hand-typed table says', async () => {
  const sent: unknown[] = [];
  const client = createClient({
    baseUrl: 'https://service.test',
    apiKey: 'stub-key',
    fetch: async (url, { method, body, headers }) => {
      const { authorization } = headers as Record<string, string>;
      sent.push({ method, path: url.slice('https://service.test'.length), body, authorization });
      return new Response('{}');
    },
  });
  const wanted: unknown[] = [];
  for (const endpoint of endpoints as readonly Endpoint[]) {
    const [noun, verb] = methodName(endpoint);
    const call = (client as unknown as Record<string, Record<string, Method>>)[noun]?.[verb] as Method;
    for (const row of witnesses[endpoint.id] ?? []) {
      await call(inputOf(endpoint, row));
      const body = row.body === undefined ? undefined : JSON.stringify(row.body);
      wanted.push({ method: row.method, path: row.path, body, authorization: 'Bearer stub-key' });
    }
  }
  expect(sent).toHaveLength(Object.values(witnesses).flat().length);
  expect(sent).toEqual(wanted);
});
