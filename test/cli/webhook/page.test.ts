import { expect, test } from 'vitest';
import type { ActivityRow } from '../../../src/pages/activity.ts';
import { run, stub, temporaryFolder, until } from '../../support/harness.ts';
import { listen } from '../../support/listening.ts';
import { openPageApi, sendRaw, sessionOf, startPage } from '../../support/served.ts';

test('a test event is signed, stored and forwarded like any other, and each try is a row that names those before and after it', async () => {
  const target = await stub((_, response, count) => response.writeHead(count === 1 ? 500 : 200).end());
  const { ui, stop } = await listen(temporaryFolder(), `--ui --forward-to ${target.url}/hook`);
  const page = await openPageApi(ui);
  const list = async (kind: string): Promise<ActivityRow[]> =>
    (await page('list')).json.rows.filter((row: ActivityRow) => row.kind === kind);
  expect((await page('list')).json.facts).toMatchObject({
    canTest: true,
    line: expect.stringMatching(/--secret-file \S+secret$/),
  });
  expect((await page('test', {})).json).toEqual({ id: null, text: 'Accepted.', failed: false });
  await expect.poll(async () => (await list('attempt')).map((row) => row.status)).toEqual(['200', '500']);
  const [second, first] = await list('attempt');
  const [event] = await list('event');
  expect([event?.title, event?.status, second?.number]).toEqual(['new-feed-item', 'forwarded', 2]);
  const shown = (await page(`show?${new URLSearchParams({ id: String(first?.id) })}`)).json;
  expect([shown.chain.before, shown.chain.after]).toEqual([[event], [second]]);
  expect(shown.error.message).toBe(`Not accepted by ${target.url}/hook: HTTP 500.`);
  await stop();
});

test('a page link works once, and the page stores nothing in the browser', async () => {
  const { ui, stop } = await listen(temporaryFolder(), '--ui');
  const { origin } = new URL(ui);
  await expect(sessionOf(`${origin}/#code=${'A'.repeat(32)}`)).rejects.toThrow('This link has already been used');
  await sessionOf(ui);
  await expect(sessionOf(ui)).rejects.toThrow('Press Enter in the terminal where sotra runs: it gives another one.');
  const { status, headers } = await fetch(`${origin}/ui`);
  expect([status, headers.get('set-cookie')]).toEqual([200, null]);
  expect([headers.get('cache-control'), headers.get('x-content-type-options')]).toEqual(['no-store', 'nosniff']);
  const policy = String(headers.get('content-security-policy'));
  expect([policy.includes("frame-ancestors 'none'"), /unsafe|https?:|\*/.test(policy)]).toEqual([true, false]);
  await stop();
});

test('a path or a body that no page of ours sends is answered 404 or 400, and prints nothing', async () => {
  const { ui, shown, stop } = await listen(temporaryFolder(), '--ui');
  const [{ origin }, own] = [new URL(ui), await sessionOf(ui)];
  const { host } = new URL(ui);
  for (const path of ['//', '//[', '//[::1', '/\\\\', '/%', '//a:b:c'])
    expect(await sendRaw(ui, `GET ${path} HTTP/1.1\r\nhost: ${host}\r\n\r\n`)).toMatchObject({ status: 404 });
  const headers = { ...own, origin, 'content-type': 'application/json' };
  const error = '{"error":"the body must be a JSON object of texts and numbers"}';
  for (const body of ['[]', '"e1"', '{', '{"id":{"toString":1}}', '{"id":[{}]}']) {
    const answer = await fetch(`${origin}/api/ui/send`, { method: 'POST', headers, body });
    expect([body, answer.status, await answer.text()]).toEqual([body, 400, error]);
  }
  expect(shown.err).not.toContain('warning');
  await stop();
});

test('Enter on the terminal gives another address, and the one before works no more', async () => {
  const { url } = await startPage('sandbox start --port 0');
  const stopping = new AbortController();
  const shown = { err: '' };
  const ended = run('ui', {
    env: { SOTRA_BASE_URL: url, SOTRA_API_KEY: 'sandbox-key-a' },
    // Stdin is a terminal on which Enter is pressed once.
    answers: [],
    stdin: '\n',
    signal: stopping.signal,
    onErr: (text) => (shown.err += text),
  });
  const addresses = () => shown.err.match(/http:\S+#code=\S+/g) ?? [];
  await until(() => addresses().length === 2);
  expect(shown.err).toContain('Open this link, which works once; press Enter for a new one:\n  http://127.0.0.1:');
  const [before = '', after = ''] = addresses();
  await expect(sessionOf(before)).rejects.toThrow('This link has already been used');
  expect(await sessionOf(after)).toEqual({ 'x-sotra-session': expect.stringMatching(/^[\w-]{32,}$/) });
  stopping.abort();
  await ended;
});
