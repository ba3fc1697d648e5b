import { expect, test } from 'vitest';
import { endpoints } from '../../src/resources/index.ts';
import { run, stub } from '../support/harness.ts';
import { witnesses } from '../support/witness.ts';

test('every endpoint has a row in the hand-typed table, and no row speaks of another', () => {
  expect(Object.keys(witnesses).sort()).toEqual(endpoints.map((endpoint) => endpoint.id as string).sort());
});

for (const [id, rows] of Object.entries(witnesses))
  test(`${id} sends exactly what the interface document says`, async () => {
    // There is no webhook yet: what asks before it makes one goes on.
    const service = await stub(({ url }, response) => response.end(url === '/v1/webhooks/feed' ? '[]' : '{}'));
    let sentAhead = 0;
    for (const { argv, ahead = 0, ...expected } of rows) {
      sentAhead += ahead;
      await run([...(typeof argv === 'string' ? argv.split(' ') : argv), '--json'], { env: service.env });
      const sent = service.requests.at(-1);
      const body = sent?.body === '' ? {} : { body: JSON.parse(sent?.body ?? '') };
      expect({ method: sent?.method, path: sent?.url, ...body }).toEqual(expected);
      expect(sent?.headers).toMatchObject({ authorization: 'Bearer stub-key', accept: 'application/json' });
    }
    expect(service.requests).toHaveLength(rows.length + sentAhead);
  });
