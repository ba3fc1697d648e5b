import { Ajv } from 'ajv';
import draft06 from 'ajv/dist/refs/json-schema-draft-06.json' with { type: 'json' };
import addFormats from 'ajv-formats';
import harSchemas from 'har-schema';
import { expect, test } from 'vitest';
import { run, stub, temporaryFolder } from '../../support/harness.ts';
import { serveSandbox } from '../../support/served.ts';

interface Entry {
  comment?: string;
  time: number;
  timings: { wait: number; receive: number };
  request: { headers: { name: string; value: string }[]; postData?: { text: string } };
  response: { status: number; content: { text?: string; size: number } };
}

/** A call of the history as an archive, once the schemas of HAR 1.2 have accepted it. */
async function showHar(call: string, env: Record<string, string>): Promise<{ text: string; entries: Entry[] }> {
  const ajv = new Ajv({ strict: false });
  addFormats.default(ajv);
  ajv.addMetaSchema(draft06);
  ajv.addSchema(Object.values(harSchemas));
  const { out: text } = await run(`history show ${call} --har`, { env });
  const har = JSON.parse(text);
  const validate = ajv.getSchema('har.json#');
  expect(validate?.(har) === true ? [] : validate?.errors).toEqual([]);
  expect(har.log).toMatchObject({ version: '1.2', creator: { name: 'sotra' } });
  return { text, entries: har.log.entries };
}

test('history show --har prints an archive that the schemas of HAR 1.2 accept', async () => {
  const { envA, url } = await serveSandbox();
  const env = { ...envA, SOTRA_DATA_DIR: temporaryFolder() };
  const { out } = await run('leaderboard list --limit 2 --json', { env });
  const { entries } = await showHar('1', env);
  expect(entries).toMatchObject([
    {
      request: { method: 'GET', url: `${url}/v2/leaderboard?limit=2`, queryString: [{ name: 'limit', value: '2' }] },
      response: { status: 200, statusText: 'OK' },
    },
  ]);
  expect(JSON.parse(entries[0]?.response.content.text ?? '')).toEqual(JSON.parse(out));
});

test('the time is split as it was measured: the first byte and the rest', async () => {
  const service = await stub((_, response) => response.writeHead(299, { 'request-id': 'r-1' }).end('{}'));
  const env = { ...service.env, SOTRA_DATA_DIR: temporaryFolder() };
  await run('request GET /v1/x', { env });
  const [entry] = (await showHar('1', env)).entries;
  expect(entry).toMatchObject({
    time: expect.any(Number),
    timings: { blocked: -1, dns: -1, connect: -1, ssl: -1, send: 0 },
    response: { status: 299, statusText: '' },
    _sotra: { requestId: 'r-1' },
  });
  const { time = 0, timings = { wait: 0, receive: 0 } } = entry ?? {};
  expect(timings.wait + timings.receive).toBeCloseTo(time);
});
