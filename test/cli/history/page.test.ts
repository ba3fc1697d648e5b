import { expect, test } from 'vitest';
import { tryParseJson } from '../../../src/api/json.ts';
import { run, type Script, stub, temporaryFolder } from '../../support/harness.ts';
import { sessionOf, startPage } from '../../support/page.ts';

const answers: Script = (seen, response) => {
  const isBad = seen.url.includes('limit=3');
  response.writeHead(isBad ? 400 : 200, { 'content-type': 'application/json' });
  response.end(isBad ? '{"error":"limit 3: must be 5"}' : '{"traders":[]}');
};

/** A service, the page of it as the browser asks it, and commands of the same machine. */
async function open(more: Record<string, string> = {}) {
  const [service, folder] = [await stub(answers), temporaryFolder()];
  const own = { SOTRA_API_KEY: 'a-secret-key-1234', SOTRA_DATA_DIR: folder, SOTRA_CONFIG_DIR: folder };
  const env = { ...service.env, ...own, ...more };
  const command = (argv: string, other: Record<string, string> = {}) => run(argv, { env: { ...env, ...other } });
  const begin = async () => {
    const { ui } = await startPage('ui', env);
    const { origin } = new URL(ui);
    const headers = { ...(await sessionOf(ui)), origin, 'content-type': 'application/json' };
    return async (path: string, body?: unknown) => {
      const sent = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
      const answer = await fetch(`${origin}/api/service/${path}`, { headers, ...sent });
      const text = await answer.text();
      // biome-ignore lint/suspicious/noExplicitAny: what it holds is what is tested
      return { text, json: tryParseJson(text) as any };
    };
  };
  return { service, command, begin };
}

const pageLine = expect.stringMatching(/^sotra ui /);

const board = (limit: number) => `call?endpoint=leaderboard.list&input={"limit":${limit}}`;

test('the page of a service lists what commands of this machine asked it, with why, and sends one again with changes', async () => {
  const { service, command, begin } = await open();
  await command('leaderboard list --limit 3');
  await command('leaderboard list', { SOTRA_BASE_URL: 'http://127.0.0.1:9', SOTRA_RETRIES: '0' });
  const page = await begin();
  const list = (await page('requests')).json;
  expect(list).toEqual([
    {
      number: 1,
      time: expect.stringMatching(/^2\d{3}-\d\d-\d\dT/),
      method: 'GET',
      path: '/v2/leaderboard?limit=3',
      status: 400,
      ms: expect.any(Number),
      by: 'sotra leaderboard list --limit 3',
      ignored: [],
      error: expect.stringContaining('limit 3: must be 5'),
    },
  ]);
  const shown = (await page('request?number=1')).json;
  const calls: { id: string; path: string }[] = JSON.parse((await command('history --json')).out);
  const { id } = calls.find(({ path }) => path.endsWith('limit=3')) ?? {};
  const why = JSON.parse((await command(`why ${id} --json`)).out);
  expect(shown.why).toEqual([['why', why.rule], ...why.next.map((line: string) => ['next', line])]);
  expect(why.rule).toContain('limit 3: must be 5');
  expect(shown.commands.map(({ line }: { line: string }) => line)).toEqual([
    `sotra why ${id}`,
    expect.stringContaining(`curl --silent --show-error --request GET '${service.url}/v2/leaderboard?limit=3'`),
  ]);
  expect([shown.form.path, shown.form.keys, shown.form.asksFirst]).toEqual(['/v2/leaderboard', [], true]);
  expect(atob(shown.answer.body)).toBe('{"error":"limit 3: must be 5"}');

  const sent = await page('request', { number: 1, method: 'GET', target: '/v2/leaderboard?limit=7' });
  expect(sent.json.row).toMatchObject({ path: '/v2/leaderboard?limit=7', status: 200, error: null, by: pageLine });
  expect(service.requests.at(-1)?.headers.authorization).toBe('Bearer a-secret-key-1234');
  const refused = await page('request', { number: 1, method: 'GET' });
  expect(refused.json.row).toMatchObject({ path: '/v2/leaderboard?limit=3', status: 400 });
  await page('request', { number: 1, method: 'POST', target: '/v1/x', body: '{"a":1}' });
  expect(service.requests.at(-1)).toMatchObject({ method: 'POST', url: '/v1/x', body: '{"a":1}' });
  expect((await page('request?number=2')).json).toEqual({
    code: 'not-found',
    error: 'request 2: is not in the history',
  });
});

test('what a page asks is in the history once, and is no board that a rank is taken from', async () => {
  const { command, begin } = await open();
  const page = await begin();
  for (const limit of [5, 5, 6, 5]) await page(board(limit));
  const { out } = await command('history --json');
  expect(JSON.parse(out).map(({ path, command: by }: { path: string; command: string }) => [path, by])).toEqual([
    ['/v2/leaderboard?limit=6', pageLine],
    ['/v2/leaderboard?limit=5', pageLine],
  ]);
  expect((await command('profile get #1')).err).toContain('#1');
});

test('no key and no secret reaches the page, and one that is not kept is not sent', async () => {
  const { service, command, begin } = await open();
  const hook = 'http://127.0.0.1:9/hook?token=of-the-hook';
  await command(`request POST /v1/webhooks/feed --data {"destinationUrl":"${hook}"}`);
  await command('request GET /v2/leaderboard?key=of-a-query');
  const page = await begin();
  const rows: { number: number; method: string; path: string }[] = (await page('requests')).json;
  const numbers = rows.map(({ number }) => number);
  const secret = [rows.find(({ method }) => method === 'POST'), rows.find(({ path }) => path.includes('?key='))];
  for (const path of ['requests', ...numbers.map((number) => `request?number=${number}`)]) {
    const { text } = await page(path);
    const told =
      text +
      [...text.matchAll(/"body":"([^"]*)"/g)].map(([, body = '']) => Buffer.from(body, 'base64').toString()).join();
    expect(['a-secret-key', 'of-the-hook', 'of-a-query'].filter((each) => told.includes(each))).toEqual([]);
  }
  const asked = service.requests.length;
  for (const row of secret)
    expect((await page('request', { number: row?.number, method: 'POST' })).json).toMatchObject({
      code: 'config',
      error: expect.stringMatching(/^call c[0-9a-f]{8} cannot be sent again: a secret in its (body|path) is not kept$/),
    });
  expect((await page('request', { number: numbers[0], method: 'GET', target: '@evil.test/' })).json.error).toBe(
    'path @evil.test/: must begin with / and be percent-encoded',
  );
  expect(service.requests.length).toBe(asked);
});

test('the page says that no call is kept with SOTRA_HISTORY=0', async () => {
  const { begin } = await open({ SOTRA_HISTORY: '0' });
  const page = await begin();
  expect((await page('facts')).json.requests).toEqual({
    empty: 'SOTRA_HISTORY=0: no call is kept.',
    command: 'sotra history',
  });
});
