import { Ajv } from 'ajv';
import draft06 from 'ajv/dist/refs/json-schema-draft-06.json' with { type: 'json' };
import addFormats from 'ajv-formats';
import harSchemas from 'har-schema';
import { expect, test } from 'vitest';
import type { ActivityRow } from '../../../src/pages/activity.ts';
import { newUser, run, type Script, stub, temporaryFolder } from '../../support/harness.ts';
import { openPageApi, serveSandbox, startPage } from '../../support/served.ts';

const answers: Script = ({ url }, response) =>
  url.includes('limit=3')
    ? response.writeHead(400).end('{"error":"limit 3: must be 5"}')
    : response.end('{"traders":[]}');

/** A service, the page of it as the browser asks it, and commands of the same machine. */
async function open(more: Record<string, string> = {}) {
  const [service, folder] = [await stub(answers), temporaryFolder()];
  const own = { SOTRA_API_KEY: 'a-secret-key-1234', SOTRA_DATA_DIR: folder, SOTRA_CONFIG_DIR: folder };
  const env = { ...service.env, ...own, ...more };
  const command = (argv: string, other: Record<string, string> = {}) => run(argv, { env: { ...env, ...other } });
  const begin = async () => openPageApi((await startPage('ui', env)).ui);
  return { service, command, begin };
}

const pageLine = expect.stringMatching(/^sotra ui /);

const board = (limit: number) => `call?endpoint=leaderboard.list&input={"limit":${limit}}`;

test('the page of a service lists the requests of local commands, with reasons, and sends one again with changes', async () => {
  const { service, command, begin } = await open();
  await command('leaderboard list --limit 3');
  await command('leaderboard list', { SOTRA_BASE_URL: 'http://127.0.0.1:9', SOTRA_RETRIES: '0' });
  const page = await begin();
  const { rows } = (await page('list')).json;
  const about = expect.stringContaining('limit 3: must be 5');
  expect(rows).toMatchObject([
    { kind: 'request', title: 'GET /v2/leaderboard?limit=3', about, status: '400', failed: true },
  ]);
  const [{ id }] = rows;
  const shown = (await page(`show?id=${id}`)).json;
  const why = JSON.parse((await command(`why ${id.slice(4)} --json`)).out);
  expect(shown.error).toEqual({ message: why.rule, hints: why.next });
  expect(why.rule).toContain('limit 3: must be 5');
  expect(shown.facts[0]).toEqual(['Command', 'sotra leaderboard list --limit 3']);
  expect(shown.command).toBe("sotra request GET '/v2/leaderboard?limit=3'");
  expect(shown.curl).toContain(`curl --silent --show-error --request GET '${service.url}/v2/leaderboard?limit=3'`);
  expect([shown.form.path, shown.form.keys]).toEqual(['/v2/leaderboard', []]);
  expect(atob(shown.response.body)).toBe('{"error":"limit 3: must be 5"}');

  const sent = (await page('send', { id, method: 'GET', target: '/v2/leaderboard?limit=7' })).json;
  expect(sent).toEqual({ id: expect.stringMatching(/^req-c/), text: 'Sent: 200', failed: false });
  const { row } = (await page(`show?id=${sent.id}`)).json;
  expect(row).toMatchObject({ title: 'GET /v2/leaderboard?limit=7', about: pageLine });
  expect(service.requests.at(-1)?.headers.authorization).toBe('Bearer a-secret-key-1234');
  expect((await page('send', { id })).json).toMatchObject({ text: 'Sent: 400', failed: true });
  await page('send', { id, method: 'POST', target: '/v1/x', body: '{"a":1}' });
  expect(service.requests.at(-1)).toMatchObject({ method: 'POST', url: '/v1/x', body: '{"a":1}' });
  expect(shown.chain).toEqual({ before: [], after: [] });
  expect((await page('show?id=req-2')).json).toEqual({
    code: 'not-found',
    error: 'request req-2: is not in the history',
  });
});

test('the chain of a request has the other requests of its command, also those made while the page is open', async () => {
  const service = await stub((_, response, count) => response.writeHead(count <= 2 ? 503 : 200).end('{"traders":[]}'));
  const env = { ...service.env, ...newUser().env };
  const page = await openPageApi((await startPage('ui', env)).ui);
  expect((await page('list')).json.rows).toEqual([]);
  await run('leaderboard list --limit 4', { env });
  const { rows } = (await page('list')).json;
  expect(rows.map((row: ActivityRow) => [row.status, row.failed, row.number])).toEqual([
    ['200', false, 3],
    ['503', true, 2],
    ['503', true, undefined],
  ]);
  const [third, second, first] = rows;
  expect((await page(`show?id=${second.id}`)).json.chain).toEqual({ before: [first], after: [third] });
});

test('requests from a page are in the history and do not change the last board', async () => {
  const { command, begin } = await open();
  const page = await begin();
  for (const limit of [5, 6]) await page(board(limit));
  const calls = JSON.parse((await command('history --json')).out);
  expect(calls).toMatchObject(['6', '5'].map((n) => ({ path: `/v2/leaderboard?limit=${n}`, command: pageLine })));
  expect((await command('profile get #1')).err).toContain('#1');
});

test('no key and no secret reaches the page, and a call whose secret is not kept is not sent', async () => {
  const { service, command, begin } = await open();
  const hook = 'http://127.0.0.1:9/hook?token=of-the-hook';
  await command(`request POST /v1/webhooks/feed --data {"destinationUrl":"${hook}"}`);
  await command('request GET /v2/leaderboard?key=of-a-query');
  const page = await begin();
  const { rows }: { rows: { id: string; title: string }[] } = (await page('list')).json;
  const secret = rows.filter(({ title }) => title.startsWith('POST') || title.includes('?key='));
  for (const path of ['list', ...rows.map(({ id }) => `show?id=${id}`)])
    expect((await page(path)).decoded).not.toMatch(/a-secret-key|of-the-hook|of-a-query/);
  const asked = service.requests.length;
  expect(secret.length).toBe(2);
  const error = expect.stringMatching(/ cannot be sent again: a secret in its (body|path) is not kept$/);
  for (const { id } of secret)
    expect((await page('send', { id, method: 'POST' })).json).toMatchObject({ code: 'config', error });
  expect((await page('send', { id: rows[0]?.id, method: 'GET', target: '@evil.test/' })).json.error).toBe(
    'path @evil.test/: must begin with / and be percent-encoded',
  );
  expect(service.requests.length).toBe(asked);
});

test('the page says that no call is kept with SOTRA_HISTORY=0', async () => {
  const { begin } = await open({ SOTRA_HISTORY: '0' });
  const page = await begin();
  expect((await page('list')).json.facts.empty).toBe('SOTRA_HISTORY=0: calls are not logged.');
});

/** A call of the history as an archive, once the schemas of HAR 1.2 have accepted it. */
async function showHar(call: string, env: Record<string, string>) {
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
  expect(JSON.parse(entries[0].response.content.text)).toEqual(JSON.parse(out));
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
  expect(entry.timings.wait + entry.timings.receive).toBeCloseTo(entry.time);
});
