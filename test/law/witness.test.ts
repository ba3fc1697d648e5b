import { createClient } from 'sotra';
import { expect, test } from 'vitest';
import type { Endpoint } from '../../src/api/endpoint.ts';
import { endpoints } from '../../src/api/endpoints.ts';
import { methodName } from '../../src/client/create-client.ts';
import { run, stub } from '../support/harness.ts';
import { inputOf, type Witness, witnesses } from '../support/witness.ts';

test('every endpoint has a row in the hand-typed table, and no row speaks of another', () => {
  expect(Object.keys(witnesses).sort()).toEqual(endpoints.map((endpoint) => endpoint.id as string).sort());
});

/**
 * What the sandbox understands and no command sends. The interface document does not show the payload of this PUT; that it may move the
 * destination is inferred, and an upload of many requests must not depend on it.
 */
const withoutFlag = ['webhook.add-addresses.destinationUrl'];

/** The clock of the rows: some of them name a moment ahead of it. */
const now = Date.UTC(2026, 10, 20);

/** Whether a row sends a parameter, by the name that the endpoint has for it. */
function sends({ path, body }: Witness, key: string, { params }: Endpoint): boolean {
  const { place, wire = key } = params[key] as Endpoint['params'][string];
  const { searchParams } = new URL(path, 'http://service.test');
  if (place === 'query') return searchParams.has(wire);
  if (place === 'body') return Object.hasOwn(body ?? {}, wire);
  return place === 'path' || body !== undefined;
}

test('every parameter of every endpoint has a row', () => {
  const absent = endpoints.flatMap((endpoint: Endpoint) =>
    Object.entries(endpoint.params)
      .filter(
        ([key, { place }]) => place !== 'local' && !witnesses[endpoint.id]?.some((row) => sends(row, key, endpoint)),
      )
      .map(([key]) => `${endpoint.id}.${key}`),
  );
  expect(absent).toEqual(withoutFlag);
});

for (const [id, rows] of Object.entries(witnesses))
  test(`${id} sends exactly what the interface document says`, async () => {
    // There is no webhook yet: what asks before it makes one goes on.
    const service = await stub(({ url }, response) => response.end(url === '/v1/webhooks/feed' ? '[]' : '{}'));
    let sentAhead = 0;
    for (const { argv, ahead = 0, ...expected } of rows) {
      sentAhead += ahead;
      await run([...(typeof argv === 'string' ? argv.split(' ') : argv), '--json'], { env: service.env, now });
      const sent = service.requests.at(-1);
      const body = sent?.body === '' ? {} : { body: JSON.parse(sent?.body ?? '') };
      expect({ method: sent?.method, path: sent?.url, ...body }).toEqual(expected);
      expect(sent?.headers).toMatchObject({ authorization: 'Bearer stub-key', accept: 'application/json' });
    }
    expect(service.requests).toHaveLength(rows.length + sentAhead);
  });

type Method = (input: unknown) => Promise<unknown>;

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
